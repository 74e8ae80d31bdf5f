from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell
from tests.tables import every


def test_a_receipt_is_one_line_with_outcome_id_category_and_kind(shell: Shell) -> None:
    first = shell.says("remember", "I prefer dark roast coffee").splitlines()[0]

    memory = shell.json("list")["memories"][0]
    assert first == f"stored {memory['id'][:8]} · {memory['category']} · {memory['kind']}"


def test_words_need_no_quotation_marks(shell: Shell) -> None:
    shell.says("remember", "My", "editor", "is", "vim")

    assert [one["content"] for one in shell.json("list")["memories"]] == ["My editor is vim"]


def test_every_field_of_a_memory_can_be_given(shell: Shell) -> None:
    options = {
        "category": "technical", "kind": "semantic", "type": "fact", "tag": "ops,network",
        "detail": "ticket=OPS-7", "importance": "0.9", "confidence": "0.8", "priority": "P1",
        "policy": "protected", "tier": "sensitive",
        "layer": "core", "session": "monday", "speaker": "Ada", "source": "agent", "project": "apollo",
        "at": "2026-01-02T03:04:05+00:00", "valid-from": "2026-01-01", "valid-to": "2027-01-01",
        "expires": "2028-01-01",
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in options.items()]

    memory = shell.json("remember", "Heron listens on port 8443", "--pin", "--tag", "staging", *words)[
        "memory"
    ]

    wanted = {
        "category": "technical", "kind": "semantic", "type": "fact", "details": {"ticket": "OPS-7"},
        "confidence": 0.8, "priority": "P1", "policy": "protected", "tier": "sensitive", "layer": "core",
        "pinned": True, "session": "monday", "speaker": "Ada", "source": "agent",
        "event_time": "2026-01-02T03:04:05+00:00",
    }  # fmt: skip
    assert {name: memory[name] for name in wanted} == wanted
    assert set(memory["tags"]) == {"ops", "network", "staging"}
    assert memory["scope"]["project"] == "apollo"
    assert memory["importance"] >= 0.9
    assert memory["valid_to"].startswith(("2027-01-01", "2026-12-31"))


def test_a_correction_says_what_it_replaced(shell: Shell) -> None:
    old = shell.remember("My editor is vim")

    said = shell.says("remember", "Actually, my editor is Helix now")

    assert said.startswith("stored ")
    assert f"in place of {old[:8]}" in said


def test_the_same_again_is_reinforced(shell: Shell) -> None:
    shell.remember("My editor is vim")

    assert shell.json("remember", "My editor is vim")["outcome"] == "reinforced"


@every("words", [("remember", "-"), ("remember",)])
def test_content_is_read_from_a_pipe(shell: Shell, words: tuple[str, ...]) -> None:
    receipt = shell.json(*words, stdin="from the pipe\nover two lines\n")

    assert receipt["memory"]["content"] == "from the pipe\nover two lines"


def test_each_line_of_a_pipe_can_be_a_memory(shell: Shell) -> None:
    report = shell.json(
        "remember", "--lines", "-t", "list", stdin="buy milk\n\ncall Ines\n" + "x" * 8_193 + "\n", code=2
    )

    assert report["stored"] == 2
    assert [(one["line"], one["code"]) for one in report["refused"]] == [(4, "E2002")]
    assert [receipt["memory"]["tags"] for receipt in report["receipts"]] == [["list"], ["list"]]


def test_lines_tell_a_person_which_were_refused(shell: Shell) -> None:
    result = shell("remember", "--lines", stdin="buy milk\n" + "x" * 8_193)

    assert result.exit_code == 2, "a program must not take it for done"
    assert result.stdout.startswith("stored ")
    assert result.stderr.startswith("line 2: error E2002:")


def test_when_every_line_is_refused_the_exit_code_is_2(shell: Shell) -> None:
    assert shell("remember", "--lines", stdin="x" * 8_193).exit_code == 2


def test_lines_and_content_together_make_no_sense(shell: Shell) -> None:
    result = shell("remember", "--lines", "hello", stdin="there")

    assert result.exit_code == 2
    assert result.stderr.startswith("error E2000:")


@every(
    ("words", "stdin", "code"),
    [
        (("remember", ""), None, "E2001"),
        (("remember",), "", "E2001"),
        (("remember", "-"), b"\xff\xfe\xfa", "E2006"),
        (("remember", "-"), "nul \0 byte", "E2006"),
        (("remember", "x" * 8_193), None, "E2002"),
        (("remember", "-"), "y" * 1_000_000, "E2002"),
        (("remember", "x", *(f"--tag=t{n}" for n in range(21))), None, "E2003"),
        (("remember", "x", "--tag", "t" * 33), None, "E2004"),
        (("remember", "x", "--importance", "7"), None, "E2008"),
        (("remember", "x", "--importance", "nan"), None, "E2008"),
        (("remember", "x", "--kind", "mood"), None, "E2000"),
        (("remember", "x", "--at", "soon"), None, "E2000"),
        (("remember", "x", "--detail", "nothing"), None, "E2000"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing_behind(
    shell: Shell, words: tuple[str, ...], stdin: str | bytes | None, code: str
) -> None:
    result = shell(*words, stdin=stdin)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error {code}: ")
    assert "Traceback" not in result.stderr
    assert shell.json(*words, stdin=stdin, code=2)["error"]["code"] == code
    assert shell.json("list")["memories"] == []


def test_quiet_says_only_the_id(shell: Shell) -> None:
    said = shell.says("remember", "hello there", "-q").strip()

    assert shell.json("show", said)["memory"]["content"] == "hello there"


@pytest.mark.parametrize(
    "words", [("--json", "remember", "hi"), ("remember", "--json", "hi"), ("remember", "hi", "--json")]
)
def test_json_may_stand_anywhere(shell: Shell, words: tuple[str, ...]) -> None:
    assert json.loads(shell.says(*words))["outcome"] == "stored"


def test_behind_two_dashes_everything_is_text(shell: Shell) -> None:
    shell.says("remember", "--", "--json is an option")

    assert shell.json("list")["memories"][0]["content"] == "--json is an option"


@every("option", ["--file", "--namespace", "--project", "--config"])
def test_bytes_that_are_no_text_are_refused_in_words(shell: Shell, option: str) -> None:
    result = shell(option, "caf\udce9", "list")

    assert result.exit_code == 2
    assert result.stderr.startswith("error E2006:")
