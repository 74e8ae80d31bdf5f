"""Maintenance from the command line: what it prints, a dry run, reports, taking a run back, exit codes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from engram.engine import Engram
from engram.store.sqlite import StoreSettings
from engram.store.sqlite.connection import Opener
from engram.store.sqlite.readers import lease
from engram.testing import FakeClock
from tests.cli.shell import Shell

LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def fill(shell: Shell) -> str:
    """Something that was heard long ago and never asked for."""
    with Engram.open(shell.file, clock=FakeClock(LONG_AGO)) as memory:
        words, category = "The bus to the lake was green on that morning", "moment"
        return memory.remember(words, source="session", category=category, importance=0.2).memory.id


def test_a_dry_run_tells_what_the_run_then_does_and_undo_takes_it_back(shell: Shell) -> None:
    gone = fill(shell)
    dry = shell.json("consolidate", "--dry-run")
    assert dry["dry"] is True
    assert gone in {line["memory"] for line in dry["decided"]}
    assert shell.json("show", gone)["memory"]["status"] == "active"

    done = shell.json("consolidate")
    assert [line["rule"] for line in done["decided"]] == [line["rule"] for line in dry["decided"]]
    run = done["run"]["id"]
    assert shell.json("show", gone)["memory"]["status"] == "archived"
    assert run in shell.says("runs")
    assert gone[:8] in shell.says("runs", run)

    assert "taken back" in shell.says("undo", run)
    assert shell.json("show", gone)["memory"]["status"] == "active"
    assert shell("undo", run).exit_code == 2


def test_reports_are_written_as_a_page_and_as_data(shell: Shell, tmp_path: Path) -> None:
    fill(shell)
    page, data = tmp_path / "report.md", tmp_path / "report.json"
    said = shell.says("consolidate", "--report", str(page))
    assert "takes it back" in said
    assert page.read_text().startswith("# Consolidate RUN-")
    refused = shell("consolidate", "--dry-run", "--report", str(page))
    assert (refused.exit_code, "E1010" in refused.stderr) == (3, True), "a report writes over nothing"
    shell.says("consolidate", "--dry-run", "--report", str(page), "--force")
    shell.says("dream", "--report", str(data))
    assert json.loads(data.read_text())["run"]["kind"] == "dream"


def test_while_another_process_is_at_it_the_exit_code_says_try_later(shell: Shell) -> None:
    fill(shell)
    with lease(Opener(str(shell.file), StoreSettings(), FakeClock()), "upkeep"):
        busy = shell("consolidate")
    assert busy.exit_code == 75
    assert shell("consolidate", "--stage", "nonsense").exit_code == 2
    assert shell("undo", "RUN-20200101-001").exit_code == 1


def test_before_the_first_run_the_list_says_how_to_make_one(shell: Shell) -> None:
    assert "engram consolidate" in shell.says("runs")


def test_what_was_said_is_read_again(shell: Shell) -> None:
    shell.says("observe", "I live in Oslo.", "--session", "s")
    assert shell.json("reread", "--dry-run", "--rules")["dry"] is True

    done = shell.json("reread", "--session", "s")
    assert (done["run"]["kind"], done["decided"]) == ("reread", [])
    assert "taken back" in shell.says("undo", done["run"]["id"])
