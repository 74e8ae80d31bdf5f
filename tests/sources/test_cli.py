"""`engram ingest` as a person and a program use it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.sources.conftest import written
from tests.tables import every

NOTES = "# Bread\nBread needs flour and water.\n\nThanks a lot!\n"


def test_a_person_sees_what_became_of_each_item(shell: Shell, tmp_path: Path) -> None:
    notes = written(tmp_path / "notes.md", NOTES)

    first, second = shell.says("ingest", "file", str(notes)), shell.says("ingest", "file", str(notes))

    assert "Bread needs flour and water." in first
    assert first.splitlines()[-1] == "taken in: 1 stored · 1 dropped"
    assert second.strip() == "taken in: 1 unchanged · 1 dropped"
    assert "Thanks a lot!" in shell.says("ingest", "file", str(notes), "--all")


def test_a_program_reads_the_report(shell: Shell, tmp_path: Path) -> None:
    notes = written(tmp_path / "notes.md", NOTES)

    report = shell.json("ingest", "file", str(notes))

    assert (report["dry_run"], report["format"]) == (False, "markdown")
    assert report["counts"] == {"stored": 1, "dropped": 1}
    kept, dropped = report["items"]
    assert kept["origin"].endswith("notes.md#Bread/1")
    assert shell.json("show", kept["memories"][0])["memory"]["source"] == "document:notes.md"
    assert dropped["reason"]


def test_a_dry_run_changes_nothing(shell: Shell, tmp_path: Path) -> None:
    notes = written(tmp_path / "notes.md", NOTES)

    report = shell.json("ingest", "file", str(notes), "--dry-run")

    assert report["counts"] == {"stored": 1, "dropped": 1}
    assert shell.json("list")["memories"] == []
    assert "nothing was changed" in shell.says("ingest", "file", str(notes), "--dry-run")


def test_code_goes_in_and_is_found(shell: Shell, tmp_path: Path) -> None:
    written(tmp_path / "src" / "a.py", '"""Writes in groups: one commit for many callers."""\n')

    assert "1 stored" in shell.says("ingest", "code", str(tmp_path / "src"), "--tag", "mine")
    assert "a.py" in shell.says("recall", "where are commits grouped?")
    assert shell.json("list")["memories"][0]["tags"] == ["mine", "python"]


def test_texts_and_results_come_from_arguments_or_stdin(shell: Shell) -> None:
    shell.says("ingest", "text", "Trains leave at noon.", "--title", "trains")
    shell.says("ingest", "summary", "--session", "s1", stdin="- We decided to use Postgres.\n")
    shell.says("ingest", "task", "build", "2 tests failed", "--outcome", "failure", "--detail", "run=7")
    shell.says("ingest", "flow", "release", "--step", "test", "--step", "tag")
    shell.says(
        "ingest",
        "research",
        "--query",
        "flour",
        "--url",
        "https://a.example",
        stdin="Rye is dark.\n\nOats are pale.\n",
    )

    assert {one["content"] for one in shell.json("list")["memories"]} == {
        "Trains leave at noon.",
        "We decided to use Postgres.",
        "Task build failed: 2 tests failed",
        "Flow release succeeded: 1. test\n2. tag",
        "Rye is dark.",
        "Oats are pale.",
    }


def test_ids_alone_are_said_when_asked_to_be_quiet(shell: Shell, tmp_path: Path) -> None:
    notes = written(tmp_path / "notes.md", NOTES)

    assert len(shell.says("ingest", "file", str(notes), "-q").split()) == 1


def test_a_place_can_be_named(shell: Shell, tmp_path: Path) -> None:
    notes = written(tmp_path / "notes.md", NOTES)
    shell.says("ingest", "file", str(notes), "--project", "kitchen")

    assert shell.json("list", "--project", "kitchen")["memories"][0]["scope"]["project"] == "kitchen"


@every(
    ("name", "content", "code"),
    [
        ("what.bin", "some words", "E2016"),
        ("broken.json", "[{", "E2018"),
        ("latin.md", b"caf\xe9", "E2006"),
    ],
)
def test_what_cannot_be_read_ends_with_code_2_and_says_why(
    shell: Shell, tmp_path: Path, name: str, content: str | bytes, code: str
) -> None:
    file = written(tmp_path / name, content)

    assert shell.json("ingest", "file", str(file), code=2)["error"]["code"] == code
    assert shell("ingest", "file", str(tmp_path / "none.md")).exit_code == 2


def test_one_file_of_several_that_cannot_be_read_stops_nothing(shell: Shell, tmp_path: Path) -> None:
    bad, good = written(tmp_path / "a.md", b"caf\xe9"), written(tmp_path / "b.md", NOTES)

    report = shell.json("ingest", "file", str(bad), str(good), code=2)

    assert report["counts"] == {"stored": 1, "dropped": 1, "refused": 1}


def test_when_every_item_is_refused_the_exit_code_is_2(shell: Shell, tmp_path: Path) -> None:
    file = written(tmp_path / "m.jsonl", json.dumps({"content": "x" * 9_000}))

    assert [one["code"] for one in shell.json("ingest", "file", str(file), code=2)["items"]] == ["E2002"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_need_not_end_is_not_read(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    written(folder / "good.md", NOTES)
    os.mkfifo(folder / "pipe.md")

    for endless in (folder / "pipe.md", Path("/dev/zero")):
        refused = shell("ingest", "file", str(endless))
        assert (refused.exit_code, "need not end" in refused.stderr) == (2, True), refused.output
    assert shell.json("ingest", "file", str(folder))["counts"]["stored"] == 1
