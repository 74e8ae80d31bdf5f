from __future__ import annotations

from pathlib import Path

from engram.engine import Engram
from engram.testing import HashEmbedder
from tests.cli.shell import Shell


def test_stats_count_what_is_kept(shell: Shell) -> None:
    gone = shell.remember("The meeting is on Monday")
    shell.remember("Bread needs flour and water", "--namespace", "kitchen")
    shell.says("forget", gone)

    counts = shell.json("stats")
    assert counts["memories"] == 2
    assert counts["by_status"] == {"active": 1, "archived": 1}
    assert counts["file"] == str(shell.file)
    said = shell.says("stats")
    assert said.startswith("2 memories")
    assert "archived" in said
    assert shell.json("stats", "--namespace", "kitchen")["memories"] == 1


def test_a_healthy_file_pleases_the_doctor(shell: Shell) -> None:
    shell.remember("Bread needs flour and water")

    assert shell.says("doctor").splitlines()[-1] == "all is well"
    report = shell.json("doctor")
    assert report["ok"] is True
    assert report["findings"]
    assert shell.says("doctor", "--quiet") == ""


def test_after_a_change_of_model_the_doctor_says_what_to_do_and_reembed_does_it(shell: Shell) -> None:
    with Engram.open(shell.file, embedder=HashEmbedder()) as memory:
        memory.remember("Bread needs flour and water")

    complaint = shell("doctor")
    assert complaint.exit_code == 1
    assert "✗ vectors" in complaint.stdout
    assert "→ run `engram reembed`" in complaint.stdout
    assert "1 memory waits for a vector" in shell.says("stats")
    assert shell.json("doctor", code=1)["ok"] is False

    assert shell.json("reembed") == {"embedded": 1, "pending": 0}
    assert shell.says("doctor").splitlines()[-1] == "all is well"


def test_an_embedder_that_cannot_be_reached_has_its_own_exit_code(shell: Shell) -> None:
    shell.remember("Bread needs flour and water")

    result = shell("reembed", "--set", "embed.name=ollama", "--set", "embed.base_url=http://127.0.0.1:9")

    assert (result.exit_code, result.stderr[:12]) == (6, "error E3001:")


def test_reembed_fills_what_is_missing_and_is_done_at_once_when_nothing_is(shell: Shell) -> None:
    shell.remember("Bread needs flour and water")

    assert shell.json("reembed") == {"embedded": 0, "pending": 0}
    assert shell.says("reembed").strip() == "embedded 0 memories"


def test_a_file_that_is_no_database_is_a_store_error(shell: Shell) -> None:
    shell.file.write_bytes(b"this is no database, but it is long enough to look at" * 100)

    result = shell("list")

    assert result.exit_code == 3
    assert result.stderr.startswith("error E1")
    assert shell.json("list", code=3)["error"]["code"].startswith("E1")


def test_a_folder_that_cannot_hold_a_file_is_a_store_error(shell: Shell, tmp_path: Path) -> None:
    blocker = tmp_path / "not-a-folder"
    blocker.write_text("a file", encoding="utf-8")

    result = shell("list", "--file", str(blocker / "memory.engram"))

    assert result.exit_code == 3
    assert "Traceback" not in result.stderr
