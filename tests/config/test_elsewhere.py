"""Variables of older systems are understood, and ours win."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.config import SETTINGS, VARIABLES, load, values
from engram.errors import ConfigError
from engram.opening import place
from tests.tables import every


def test_each_variable_stands_for_a_setting_there_is() -> None:
    known = {setting.name for setting in SETTINGS}

    assert {setting for setting, _ in VARIABLES.values()} <= known


@every(
    ("variables", "told"),
    [
        ({"ENGRAM_PORT": "4000"}, {"server.port": 4000}),
        ({"ENGRAM_PORT": "4000", "REMNIC_PORT": "4318"}, {"server.port": 4318}),
        ({"REMNIC_HOST": "localhost"}, {"server.host": "localhost"}),
        ({"ENGRAM_API_KEY": "abc"}, {"server.api_key": "abc"}),
        ({"REMNIC_AUTH_TOKEN": "abc"}, {"server.api_key": "abc"}),
        ({"ENGRAM_CONSOLIDATE_MINS": "30"}, {"maintain.every_hours": 0.5}),
        ({"ENGRAM_CONSOLIDATE_MINS": "0"}, {"maintain.every_hours": 0.0}),
        ({"ENGRAM_BUFFER_CAP": "50"}, {"forgetting.buffer_cap": 50}),
        ({"ENGRAM_LLM_LEVEL": "full"}, {"llm.level": "full"}),
        (
            {"ENGRAM_LLM_URL": "http://127.0.0.1:1/v1/chat/completions", "ENGRAM_LLM_KEY": "k"},
            {"llm.base_url": "http://127.0.0.1:1/v1", "llm.api_key": "k", "llm.model": "gpt-4o-mini"},
        ),
        (
            {"ENGRAM_EMBED_URL": "http://127.0.0.1:1/v1/embeddings"},
            {
                "embed.base_url": "http://127.0.0.1:1/v1",
                "embed.name": "openai",
                "embed.model": "text-embedding-3-small",
            },
        ),
        ({"ENGRAM_PROXY_UPSTREAM": "https://api.example/v1"}, {"proxy.base_url": "https://api.example/v1"}),
        ({"ENGRAM_PORT": "4000", "ENGRAM_SERVER__PORT": "5000"}, {"server.port": 5000}),
        ({"ENGRAM_AUTO_MERGE": "1", "ENGRAM_PORT": ""}, {}),
    ],
)
def test_variables_become_settings(variables: dict[str, str], told: dict[str, object]) -> None:
    found, usual = values(load(environment=variables)), values(load(environment={}))

    assert {name: value for name, value in found.items() if value != usual[name]} == told


def test_a_bad_value_is_refused_by_the_name_of_its_setting() -> None:
    with pytest.raises(ConfigError, match=r"server\.port"):
        load(environment={"ENGRAM_PORT": "many"})
    with pytest.raises(ConfigError, match=r"maintain\.every_hours"):
        load(environment={"ENGRAM_CONSOLIDATE_MINS": "often"})


def test_the_file_is_named_in_either_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENGRAM_FILE", raising=False)
    monkeypatch.setenv("ENGRAM_DB", str(tmp_path / "old.db"))
    assert place(None) == str(tmp_path / "old.db")
    monkeypatch.setenv("ENGRAM_FILE", str(tmp_path / "own.db"))
    assert place(None) == str(tmp_path / "own.db")
    assert place(tmp_path / "given.db") == str(tmp_path / "given.db")
