"""`engram workspace` as a person types it."""

from __future__ import annotations

from pathlib import Path

from engram.api import moving
from engram.cli.transfer import SYSTEMS
from tests.cli.shell import Shell
from tests.workspace.conftest import HOMES


def test_a_folder_is_made_edited_and_brought_in_step(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    shell.says("remember", "The tap in the kitchen leaks")
    assert "written" in shell.says("workspace", "init", str(folder), "--layout", "both")
    assert (folder / "memory/ledger.jsonl").exists()
    assert "nothing changed" in shell.says("workspace", "init", str(folder), "--layout", "files")
    assert len(shell.json("list")["memories"]) == 1, "who keeps one layout less forgets nothing"
    (path,) = folder.glob("facts/*/*.md")
    path.write_text(path.read_text().replace("leaks", "was repaired"))
    assert "edited in the folder: 1" in shell.says("workspace", "status", str(folder))
    assert len(shell.json("workspace", "sync", str(folder))["updated"]) == 1
    assert "was repaired" in shell.says("list")
    assert shell.json("workspace")["folders"] == [str(folder)]


def test_what_could_not_be_read_is_an_error_of_the_exit_code(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "facts").mkdir(parents=True)
    (folder / "facts/long.md").write_text("long " * 5_000)
    done = shell("workspace", "init", str(folder), "--layout", "files")
    assert done.exit_code == 2
    assert "long.md" in done.stderr


def test_the_home_of_another_system_is_moved_in_and_taken_back(shell: Shell) -> None:
    assert set(SYSTEMS) == set(moving.SYSTEMS) - {moving.AUTO}
    tried = shell.json("import", str(HOMES / "ledger"), "--dry-run")
    assert (tried["system"], tried["stored"] > 20) == ("ledger", True)
    said = shell.says("import", str(HOMES / "ledger"))
    assert "moved in from ledger" in said
    run = next(word for word in said.replace("`", " ").split() if word.startswith("RUN-"))
    shell.says("undo", run)
    assert shell.json("stats")["by_status"].get("active", 0) == 0


def test_refused_rows_are_an_error_of_the_exit_code(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_text("note,when\nBuy milk,2026-01-02\n,2026-01-03\n")
    done = shell(
        "import",
        str(tmp_path / "old.csv"),
        "--map",
        "content=note",
        "--map",
        "created_at=when",
    )
    assert done.exit_code == 2
    assert "E2014" in done.stderr
    assert "Buy milk" in shell.says("list")
