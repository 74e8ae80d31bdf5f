from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.shell import Shell
from tests.tables import every

if TYPE_CHECKING:
    import pytest


def test_the_newest_comes_first(shell: Shell) -> None:
    for content in ("The first planet is Mercury", "Bread needs flour and water", "Trains leave at noon"):
        shell.remember(content)

    contents = [one["content"] for one in shell.json("list")["memories"]]
    assert contents[0] == "Trains leave at noon"
    assert contents[-1] == "The first planet is Mercury"
    lines = shell.says("list").splitlines()
    assert lines[0].split() == ["id", "age", "category", "memory"]
    assert lines[1].endswith("Trains leave at noon")
    assert lines[-1] == "3 memories"


def test_an_empty_memory_says_how_to_begin(shell: Shell) -> None:
    assert "engram remember" in shell.says("list")


def test_a_narrowed_list_that_is_empty_does_not_say_that_all_is(shell: Shell) -> None:
    shell.remember("My editor is Helix")

    assert "nothing here yet" not in shell.says("list", "--tag", "music")


def test_pages_follow_each_other_by_cursor(shell: Shell) -> None:
    ids = {shell.remember(f"Number {n} is a {word}") for n, word in enumerate(("lion", "harbour", "violin"))}

    first = shell.json("list", "-n", "2")
    second = shell.json("list", "-n", "2", "--cursor", first["cursor"])
    assert {one["id"] for page in (first, second) for one in page["memories"]} == ids
    assert second["cursor"] is None
    assert f"--cursor {first['cursor']}" in shell.says("list", "-n", "2")
    assert shell.json("list", "--cursor", "nonsense", code=2)["error"]["code"] == "E2009"


def test_all_means_every_status_as_lines(shell: Shell) -> None:
    gone = shell.remember("The meeting is on Monday")
    shell.remember("Bread needs flour and water")
    shell.says("forget", gone)

    lines = [json.loads(one) for one in shell.says("list", "--all", "--json").splitlines()]
    assert {one["status"] for one in lines} == {"active", "archived"}
    assert "archived The meeting is on Monday" in shell.says("list", "--all")
    assert len(shell.json("list")["memories"]) == 1
    assert [one["id"] for one in shell.json("list", "--status", "archived")["memories"]] == [gone]


def test_quiet_lists_only_ids(shell: Shell) -> None:
    memory_id = shell.remember("Trains leave at noon")

    assert shell.says("list", "-q").split() == [memory_id]


def test_a_memory_shows_all_its_sides(shell: Shell) -> None:
    memory_id = shell.remember("Maya takes the night train to Vienna", "--tag", "travel", "--speaker", "Maya")

    said = shell.says("show", memory_id[:8])

    groups = ("what it is", "where it belongs", "how it stands", "how much it weighs", "when", "last events")
    for word in (*groups, memory_id, "Maya takes the night train to Vienna", "travel", "active · unverified"):
        assert word in said
    assert shell.json("show", memory_id)["memory"]["id"] == memory_id


def test_relations_are_shown_from_both_ends(shell: Shell) -> None:
    cause, effect = shell.remember("The valve was left open"), shell.remember("Water flooded the cellar")
    shell.says("relate", effect, cause, "--type", "caused_by")

    assert re.search(rf"caused_by → +{cause[:8]} valve left open", shell.says("show", effect))
    assert re.search(rf"← caused_by +{effect[:8]} Water flooded", shell.says("show", cause))


@every("command", [("show",), ("forget",), ("confirm",), ("pin",), ("edit", "--content=x"), ("restore",)])
def test_an_id_that_fits_nothing_is_not_found(shell: Shell, command: tuple[str, ...]) -> None:
    result = shell(*command, "ffffffff")

    assert result.exit_code == 1
    assert result.stderr.startswith("error E2011:")


def test_history_tells_before_and_after(shell: Shell) -> None:
    memory_id = shell.remember("The party is on Friday")
    shell.says("edit", memory_id, "--content", "The party is on Saturday", "--because", "it was moved")

    said = shell.says("history", memory_id)

    assert said.index("stored") < said.index("updated")
    assert "it was moved" in said
    assert "The party is on Friday → The party is on Saturday" in said
    assert [one["verb"] for one in shell.json("history", memory_id)["events"]] == ["updated", "stored"]


def test_history_tells_which_part_of_a_field_changed(shell: Shell) -> None:
    memory_id = shell.remember("My editor is Helix")
    shell.remember("My editor is Helix")

    said = shell.says("history", memory_id)
    assert "usage repeated: 0 → 1" in said
    assert "usage accessed" not in said


def test_history_without_an_id_is_the_whole_ledger(shell: Shell) -> None:
    one, two = shell.remember("Bread needs flour and water"), shell.remember("Trains leave at noon")

    said = shell.says("history")

    assert one[:8] in said
    assert two[:8] in said
    assert len(shell.json("history", "-n", "1")["events"]) == 1


def test_the_history_of_nothing_is_empty(shell: Shell) -> None:
    assert shell("history", "ffffffff").exit_code == 1


def test_what_a_memory_holds_cannot_draw_on_the_screen(shell: Shell) -> None:
    memory_id = shell.remember("danger \x1b[2J\x1b]0;owned\x07 \u202e ahead [bold]x[/bold]")

    for words in (
        ("list",),
        ("show", memory_id),
        ("recall", "danger ahead"),
        ("recall", "danger ahead", "--explain"),
    ):
        said = shell.says(*words)
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
        assert "[bold]x[/bold]" in said


def test_a_narrow_terminal_cuts_the_content(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = shell.remember("It was a dark and stormy night " * 20)
    monkeypatch.setenv("COLUMNS", "80")

    for words in (("list",), ("recall", "stormy night")):
        lines = shell.says(*words).splitlines()
        assert max(map(len, lines)) <= 80
        assert memory_id[:8] in lines[1], "only the content gives way"
        assert lines[1].endswith("…")


def test_a_pipe_cuts_nothing(shell: Shell) -> None:
    shell.remember("It was a dark and stormy night " * 20 + "until dawn")

    assert "until dawn" in shell.says("list")


READING = [
    ("recall", "tea"), ("list",), ("stats",), ("doctor",), ("history",), ("timeline", "tea"), ("resume",),
    ("pack",), ("context", "tea"), ("reason", "tea"), ("turns", "monday"), ("facts",), ("entities",),
    ("conflicts",), ("gaps",), ("commitments",), ("triggers",), ("trash",), ("export",), ("runs",),
    ("consolidate",), ("dream",), ("vacuum",), ("reembed",), ("forget", "abcd"), ("token",), ("bus",),
    ("session",), ("knowledge",),
]  # fmt: skip


@every("words", READING)
def test_a_mistyped_file_is_an_error_and_makes_nothing(
    shell: Shell, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "mistyped" / "memory.db"

    refused = shell("--file", str(file), *words)

    assert refused.exit_code == 3, refused.output
    assert refused.stderr.startswith(f"error E1009: There is no memory at {file}")
    assert not file.parent.exists()


def test_what_brings_something_in_makes_the_file_that_is_named(shell: Shell, tmp_path: Path) -> None:
    for number, words in enumerate(
        [("remember", "Tea at four"), ("observe", "I like tea."), ("ingest", "text", "Tea")]
    ):
        file = tmp_path / f"{number}" / "memory.db"
        shell.says("--file", str(file), *words)
        assert file.is_file()
