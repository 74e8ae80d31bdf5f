from __future__ import annotations

import pytest

from tests.cli.shell import Shell


@pytest.fixture
def filled(shell: Shell) -> Shell:
    for said in ("My sister is Anna", "Anna works at Siemens", "My editor is vim", "My editor is Helix now"):
        shell.remember(said)
    return shell


def test_a_question_is_printed_as_a_tree_of_smaller_ones(filled: Shell) -> None:
    said = filled.says("reason", "What is my editor and where does my sister work?")

    assert said.startswith("? What is my editor and where does my sister work?")
    assert "? where does my sister work" in said
    assert "Anna works at Siemens" in said
    assert said.rstrip().endswith("0 calls to a model")


def test_a_program_gets_the_whole_tree(filled: Shell) -> None:
    found = filled.json("reason", "Where does Anna work and what is my editor", "--depth", "1")

    assert found["tree"]["branches"]
    assert found["depth"] == 1
    assert found["answer"] == []


def test_what_is_missing_is_named_and_nothing_at_all_is_an_exit_code(filled: Shell) -> None:
    said = filled.says("reason", "Who is my sister and which submarine does the Belgian admiral command?")
    assert "missing which submarine does the Belgian admiral command" in said

    assert filled("reason", "quantum chromodynamics lattice").exit_code == 1
    assert filled("reason", "sister", "--depth", "9").exit_code == 2


def test_a_timeline_is_a_table_of_steps(filled: Shell) -> None:
    header, first, second, foot = filled.says("timeline", "my", "editor").splitlines()

    assert header.split() == ["when", "step", "id", "what"]
    assert "first mention" in first
    assert second.endswith("vim → helix")
    assert foot.endswith("by fact")
    assert filled.says("timeline", "my editor", "-q").splitlines() == ["user editor vim", "user editor helix"]
    assert [one["kind"] for one in filled.json("timeline", "my editor")["steps"]] == [
        "first mention",
        "correction",
    ]


def test_what_nobody_knows_has_no_timeline(filled: Shell) -> None:
    result = filled("timeline", "quantum chromodynamics lattice")

    assert result.exit_code == 1
    assert "nothing is known" in result.stdout
    assert filled.json("timeline", "my editor", "--since", "2999-01-01", code=1)["steps"] == []


def test_the_xray_shows_a_step_it_has_never_heard_of(filled: Shell) -> None:
    from dataclasses import replace

    from engram import Engram
    from engram.cli.options import CommandRun
    from engram.cli.output import console
    from engram.cli.recall import xray
    from engram.model.recall import Evidence

    with Engram.open(filled.file) as memory:
        found = memory.recall("which editor do I use?", explain=True)
    extra = (Evidence("tides", "moon", 2.0, "a note"), Evidence("tides", "sun", 0.5, "factor"))
    hit = replace(found[0], evidence=(*found[0].evidence, *extra))
    screen = console(CommandRun())
    with screen.capture() as seen:
        for part in xray(replace(found, hits=(hit,)), found.at or memory._tools.clock.now()):  # noqa: SLF001
            screen.print(part)

    shown = seen.get()
    assert "tides" in shown
    assert "██████████   2.000  a note" in shown
    assert "▼ lowers   × 0.500" in shown
