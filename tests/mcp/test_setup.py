"""`engram setup` puts its entry into a client's configuration and leaves everything else as it was."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from engram.cli.setup import CLIENTS
from tests.cli.shell import Shell
from tests.tables import every

JSON_CLIENTS = [name for name, client in CLIENTS.items() if not client.toml]


@every("client", CLIENTS)
def test_it_shows_the_entry_and_writes_nothing(shell: Shell, home: Path, client: str) -> None:
    shown = shell.says("setup", client)

    assert str(CLIENTS[client].file()) in shown
    assert '"mcp"' in shown
    assert not home.exists() or not any(path.is_file() for path in home.rglob("*"))


@pytest.mark.parametrize("client", JSON_CLIENTS)
def test_other_entries_stay(shell: Shell, tmp_path: Path, client: str) -> None:
    key = CLIENTS[client].key
    before = {"theme": "dark", key: {"other": {"command": "x"}, "engram": {"env": {"A": "b"}}}}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(before), encoding="utf-8")

    assert "written" in shell.says("setup", client, "--write", "--to", str(file))
    written = json.loads(file.read_text(encoding="utf-8"))

    ours = written[key]["engram"]
    memory_file = ours["args"][ours["args"].index("--file") + 1]
    assert memory_file == str(shell.file), "where to write is not where the memory lies"
    assert (written["theme"], written[key]["other"], ours["env"]) == ("dark", {"command": "x"}, {"A": "b"})
    assert ours["args"][-1] == "mcp"
    assert json.loads((tmp_path / "config.json.before-engram").read_text(encoding="utf-8")) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_doing_it_twice_changes_nothing_more(shell: Shell, tmp_path: Path, client: str) -> None:
    file = tmp_path / "deep" / "config"
    first = shell.says("setup", client, "--write", "--to", str(file))
    written = file.read_bytes()

    again = shell.says("setup", client, "--write", "--to", str(file))

    assert "written" in first
    assert "already so" in again
    assert file.read_bytes() == written
    assert [path.name for path in file.parent.iterdir()] == ["config"]


TOML = """# mine
model = "o5"

[mcp_servers.other]
command = "x"  # stays

[mcp_servers.engram]
command = "old"
startup_timeout_sec = 20
args = ["gone"]

[mcp_servers.engram.env]
A = "b"
"""


@every("before", ["", "# only a comment\n", TOML, TOML.replace("[mcp_servers.engram]", "[z]")])
def test_toml_keeps_its_comments_and_its_other_tables(shell: Shell, tmp_path: Path, before: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(before, encoding="utf-8")

    shell.says("setup", "codex", "--write", "--to", str(file))
    after = file.read_text(encoding="utf-8")

    old, new = tomllib.loads(before), tomllib.loads(after)
    ours = new["mcp_servers"].pop("engram")
    theirs = old.get("mcp_servers", {}).pop("engram", {})
    assert ours.pop("args")[-1] == "mcp"
    assert ours.pop("command") != "old"
    assert ours == {name: value for name, value in theirs.items() if name not in ("command", "args")}
    assert {**new, "mcp_servers": new["mcp_servers"] or None} == {
        **old,
        "mcp_servers": old.get("mcp_servers") or None,
    }
    assert all(line in after for line in before.splitlines() if "#" in line)


@every("broken", ["// a comment\n{}", "[1]", '{"mcpServers": []}', '"text"'])
def test_what_cannot_be_merged_is_left_alone(shell: Shell, tmp_path: Path, broken: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(broken, encoding="utf-8")

    done = shell("setup", "cursor", "--write", "--to", str(file))

    assert done.exit_code == 5
    assert "by hand" in done.output
    assert file.read_text(encoding="utf-8") == broken
    assert [path.name for path in tmp_path.iterdir() if "config" in path.name] == ["config.json"]


def test_an_older_copy_is_never_written_over(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"first": 1}', encoding="utf-8")
    shell.says("setup", "cursor", "--write", "--to", str(file))
    shell.says("setup", "cursor", "--write", "--to", str(file), "--tools", "full")

    assert json.loads((tmp_path / "config.json.before-engram").read_text(encoding="utf-8")) == {"first": 1}
    assert (tmp_path / "config.json.before-engram.1").is_file()


def test_hooks_stand_beside_those_of_others(shell: Shell, home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    other = {"hooks": [{"type": "command", "command": "say done"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [other]}}), encoding="utf-8")

    for _ in range(2):
        shell.says("setup", "claude-code", "--write", "--hooks", "--project", "apollo")

    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    assert {*hooks} == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact"}
    assert hooks["Stop"][0] == other
    assert len(hooks["Stop"]) == 2
    assert hooks["Stop"][1]["hooks"][0]["command"].endswith("--project apollo hook stop")


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_put_in_is_taken_out(shell: Shell, home: Path, client: str) -> None:
    file, settings = CLIENTS[client].file(), home / ".claude" / "settings.json"
    for path in (file, settings):
        path.parent.mkdir(parents=True, exist_ok=True)
    other = {"command": "x"}
    before = (
        f'[{CLIENTS[client].key}.other]\ncommand = "x"\n'
        if CLIENTS[client].toml
        else json.dumps({"theme": "dark", CLIENTS[client].key: {"other": other}})
    )
    file.write_text(before, encoding="utf-8")
    stop = {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    settings.write_text(json.dumps({"hooks": stop}), encoding="utf-8")
    shell.says("setup", client, "--write", *(["--hooks"] if client == "claude-code" else []))

    assert "taken out" in shell.says("setup", client, "--remove")

    read = tomllib.loads if CLIENTS[client].toml else json.loads
    assert read(file.read_text(encoding="utf-8")) == read(before)
    assert json.loads(settings.read_text(encoding="utf-8")) == {"hooks": stop}
    assert "nothing of ours" in shell.says("setup", client, "--remove")


def test_taking_out_of_nothing_makes_no_file(shell: Shell, home: Path) -> None:
    assert "nothing of ours" in shell.says("setup", "cursor", "--remove")
    assert not CLIENTS["cursor"].file().exists()


def test_hooks_are_for_claude_code_alone(shell: Shell) -> None:
    assert shell("setup", "cursor", "--hooks").exit_code == 2


def test_file_and_place_are_handed_on(shell: Shell, tmp_path: Path) -> None:
    shown = shell.says("--file", "mine.engram", "setup", "cursor", "--project", "apollo", "--tools", "full")
    entry = json.loads(shown.partition("\n")[2])["mcpServers"]["engram"]

    words = entry["args"]
    assert Path(words[words.index("--file") + 1]).is_absolute()
    assert words[words.index("--project") + 1] == "apollo"
    assert words[-3:] == ["mcp", "--tools", "full"]
