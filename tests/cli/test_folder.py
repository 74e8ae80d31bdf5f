"""The command line over a folder of files: whose file by --namespace, and what is about all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram.opening import file_of_namespace, namespaces_in
from tests.cli.shell import Shell

pytestmark = [pytest.mark.files, pytest.mark.slow]
DAMAGED_FROM, DAMAGED_TO = 8 * 4096, 40 * 4096


def test_a_folder_is_used_and_kept_like_a_file(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tenants"
    monkeypatch.setenv("ENGRAM_FILE", f"{folder}/")
    shell.remember("My editor is vim")
    shell.remember("Our editor is emacs", "--namespace", "acme")
    shell.remember("We deploy on Fridays", "--namespace", "Globex")

    assert "emacs" in shell.says("recall", "which editor?", "--namespace", "acme")
    assert "emacs" not in shell.says("recall", "which editor?")
    assert shell.json("stats")["by_namespace"] == {"default": 1, "acme": 1, "Globex": 1}
    shell.says("token", "create", "bot", "--namespace", "acme", "--role", "agent")
    assert [
        one["scope"]["namespace"] for one in shell.json("token", "list", "--namespace", "acme")["tokens"]
    ] == ["acme"]
    mistyped = shell("recall", "which editor?", "--namespace", "amce")
    assert "E1009" in mistyped.output
    assert namespaces_in(folder) == ["Globex", "acme", "default"], "asking makes no file"
    shell.says("export", str(tmp_path / "all.jsonl"))
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 3
    shell.says("backup", "--to", str(tmp_path / "copy"))
    assert namespaces_in(tmp_path / "copy") == ["Globex", "acme", "default"]
    shell.says("backup", "archive", str(tmp_path / "packed"))
    shell.says("backup", "unpack", str(tmp_path / "packed" / "acme.engram"), "--namespace", "acme-again")
    shell.says("backup")
    assert len(shell.json("backup", "list")["backups"]) == 4
    shell.says("consolidate")
    hook = {"prompt": "which editor do we use here, again?"}
    told = shell("hook", "prompt-submit", "--namespace", "acme", stdin=json.dumps(hook)).stdout
    assert "emacs" in told


def test_a_damaged_file_is_found_and_mended_and_the_others_are_left_alone(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tenants"
    monkeypatch.setenv("ENGRAM_FILE", f"{folder}/")
    shell.remember("My editor is vim")
    shell.remember("Our editor is emacs", "--namespace", "acme")
    shell.says("backup")
    file = file_of_namespace(folder, "acme")
    whole = bytearray(file.read_bytes())
    whole[DAMAGED_FROM:DAMAGED_TO] = b"\xa5" * (DAMAGED_TO - DAMAGED_FROM)
    file.write_bytes(whole)

    found = shell.json("doctor", code=1)["findings"]
    assert all("acme" in one["detail"] for one in found if not one["ok"])
    broken = shell("backup")
    assert broken.exit_code != 0
    assert len(list(folder.glob("default.db.backups/*.db"))) == 2, "it kept no other from being copied"
    shell.says("doctor", "--repair")
    assert shell.json("doctor", "--deep")["ok"]
    assert "emacs" in shell.says("recall", "which editor?", "--namespace", "acme")
    refused = shell("backup", "salvage")
    assert "--namespace" in refused.output
