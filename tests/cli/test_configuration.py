from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engram.config import SETTINGS
from tests.cli.shell import Shell
from tests.tables import every

if TYPE_CHECKING:
    import pytest


def test_every_setting_is_listed_with_value_and_meaning(shell: Shell) -> None:
    listed = shell.json("config", "list")["settings"]

    assert [one["name"] for one in listed] == [one.name for one in SETTINGS]
    assert all({"value", "default", "range", "meaning", "origin", "variable"} <= set(one) for one in listed)
    assert shell.says("config") == shell.says("config", "list")


def test_one_setting_tells_how_to_set_it(shell: Shell) -> None:
    said = shell.says("config", "get", "recall.limit")

    assert said.startswith("recall.limit = 10")
    assert "ENGRAM_RECALL__LIMIT" in said
    assert shell.says("config", "get", "recall.limit", "-q").strip() == "10"


def test_later_sources_win(shell: Shell, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def limit(*words: str) -> str:
        return shell.says("config", "get", "recall.limit", "-q", *words).strip()

    other = tmp_path / "other.toml"
    other.write_text("[recall]\nlimit = 12\n", encoding="utf-8")
    assert limit("--config", str(other)) == "12"
    monkeypatch.setenv("ENGRAM_CONFIG", str(other))
    assert limit() == "12"
    monkeypatch.setenv("ENGRAM_RECALL__LIMIT", "13")
    assert limit() == "13"
    assert limit("--set", "recall.limit=14") == "14"
    assert limit("--set", "recall.limit=14", "--set", "recall.limit=15") == "15"
    changed = shell.json("config", "list", "--changed")["settings"]
    assert [one["name"] for one in changed] == ["recall.limit"]


def test_the_users_own_file_is_found(shell: Shell) -> None:
    default = Path(shell.json("config", "path")["default_config"])
    default.parent.mkdir(parents=True)
    default.write_text('preset = "ledger"\n', encoding="utf-8")

    found = shell.json("config", "path")
    assert (found["file"], found["config"]) == (str(shell.file), str(default))
    assert shell.json("config", "get", "store.synchronous")["value"] == "FULL"


def test_a_preset_can_be_chosen_on_the_command_line(shell: Shell) -> None:
    assert shell.json("config", "get", "store.synchronous", "--set", "preset=ledger")["value"] == "FULL"
    assert shell.json("config", "get", "store.synchronous", "--preset", "ledger")["value"] == "FULL"
    assert "ledger" in shell.json("config", "presets")["presets"]
    assert "ledger" in shell.says("config", "presets")


@every(
    "words",
    [
        ("config", "get", "recall.colour"),
        ("list", "--set", "recall.limit=0"),
        ("list", "--set", "recall.limit"),
        ("list", "--set", "no.such=1"),
        ("list", "--set", "preset=nonsense"),
        ("list", "--config", "no-such-file.toml"),
    ],
)
def test_a_bad_setting_has_its_own_exit_code(shell: Shell, words: tuple[str, ...]) -> None:
    result = shell(*words)

    assert (result.exit_code, result.stderr[:12]) == (5, "error E5001:")
    assert shell.json(*words, code=5)["error"]["code"] == "E5001"


def test_a_key_is_never_printed(shell: Shell) -> None:
    for words in (("list",), ("get", "embed.api_key")):
        for form in ((), ("--json",), ("--quiet",)):
            assert "hunter2" not in shell.says("config", *words, "--set", "embed.api_key=hunter2", *form)


@every("name", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: Shell, name: str) -> None:
    assert "_ENGRAM_COMPLETE" in shell.says("completion", name)
    assert shell.json("completion", name)["shell"] == name


def test_an_unknown_shell_is_refused(shell: Shell) -> None:
    assert shell("completion", "abacus").exit_code == 2


def test_a_setting_that_no_command_could_start_with_is_not_written(shell: Shell, home: Path) -> None:
    for name, value in (("timezone", "Mars/Base"), ("llm.models", "nonsense=big")):
        assert shell("config", "set", name, value).exit_code == 5
    assert shell("config", "get", "timezone").exit_code == 0
