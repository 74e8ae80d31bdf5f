"""Gaps and drift from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell


def test_a_gap_is_listed_asked_answered_and_dismissed(shell: Shell) -> None:
    assert "nothing to ask" in shell.says("gaps")
    for words in ("I'll call the plumber", "I'll water the plants"):
        shell.says("commitments", "open", words)
    shell.says("consolidate", "--stage", "doubt")
    first, second = shell.json("gaps")["gaps"]
    assert first["question"] in shell.says("gaps", "list")
    assert len(shell.json("gaps", "ask", "--session", "s1")["gaps"]) == 2
    assert shell.json("gaps", "ask", "--session", "s1")["gaps"] == []
    assert "remembered" in shell.says("gaps", "answer", first["key"], "by", "Friday")
    assert "dismissed" in shell.says("gaps", "dismiss", second["key"])
    assert shell.json("gaps")["gaps"] == []
    assert shell("gaps", "dismiss", second["key"]).exit_code == 2


def test_dead_references_are_told_and_doubted_when_asked(shell: Shell, tmp_path: Path) -> None:
    project = tmp_path / "app"
    (project / "src").mkdir(parents=True)
    (project / "src" / "auth.py").write_text("def login(): ...", encoding="utf-8")
    shell.says("remember", "Sessions are kept in src/session.py")
    assert "src/session.py" in shell.says("drift", str(project))
    assert shell("drift", str(tmp_path / "nowhere")).exit_code == 2
    found = shell.json("drift", str(project), "--apply")
    assert found["run"]["tallies"][0]["rule"] == "drift.challenge"
    memory = found["dead"][0]["memory"]
    assert shell.json("show", memory)["memory"]["status"] == "challenged"
    shell.says("undo", found["run"]["run"]["id"])
    assert shell.json("show", memory)["memory"]["status"] == "active"
