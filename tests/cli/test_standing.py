from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Shell


def test_a_memory_is_moved_up_and_down(shell: Shell) -> None:
    memory = shell.remember("My editor is Helix", "--layer", "buffer")

    assert shell.says("promote", memory, "--because", "it matters").startswith("promoted to working")
    assert shell.json("demote", memory)["layer"] == "buffer"
    assert "E2024" in shell("demote", memory).stderr


def test_the_trash_is_shown_and_emptied(shell: Shell) -> None:
    memory = shell.remember("My editor is Helix")
    assert "empty" in shell.says("trash")
    shell.says("forget", memory)

    assert "1 memory in the trash" in shell.says("trash")
    assert shell.json("trash")["total"] == 1
    refused = shell("trash", "--empty")
    assert (refused.exit_code, "--yes" in refused.stderr) == (2, True), "nobody was asked"
    assert shell.json("trash")["total"] == 1
    assert shell.says("trash", "--empty", "--yes").startswith("1 memory gone")
    assert shell.json("trash", "--empty") == {"purged": 0}


def test_what_fits_is_counted(shell: Shell) -> None:
    shell.remember("My editor is Helix", "--tag", "tools")
    shell.remember("My editor is Helix", "--apart")

    assert shell.says("list", "--count").strip() == "2"
    assert shell.json("list", "--count", "--tag", "tools") == {"count": 1}


def test_freed_space_and_old_costs_go(shell: Shell) -> None:
    shell.remember("My editor is Helix")

    assert shell.json("vacuum")["freed_bytes"] >= 0
    assert shell.says("vacuum", "--quick").startswith("freed")
    assert shell.json("stats", "--forget-models") == {"forgotten": 0}
    assert shell.json("stats", "--models", "--daily") == {"spending": []}
    assert shell.json("doctor", "--repair")["ok"] is True


def test_an_export_comes_in_as_it_was(shell: Shell, tmp_path: Path) -> None:
    memory = shell.remember("My editor is Helix", "--tag", "tools")
    file = tmp_path / "all.jsonl"
    file.write_text(shell.says("export"), encoding="utf-8")
    shell.says("erase", memory, "--yes")

    assert shell.json("import", "--as-it-was", str(file))["adopted"] == 1
    assert shell.json("show", memory)["memory"]["tags"] == ["tools"]
    assert "1 known" in shell.says("import", "--as-it-was", str(file))
    file.write_text('{"content": ""}\n', encoding="utf-8")
    assert shell.json("import", "--as-it-was", str(file), code=2)["refused"][0]["line"] == 1


def test_a_purge_must_be_told_of_whom(shell: Shell) -> None:
    shell.remember("Bob lives in Oslo")

    for words in (("--yes",), ("Bob",)):  # of nobody; and where nobody can be asked
        refused = shell("vault", "purge", *words)
        assert (refused.exit_code, refused.stdout) == (2, "")
    assert shell.json("list")["memories"]
    assert shell("vault", "purge", "Bob", "--yes").exit_code == 0
    assert not shell.json("list")["memories"]
