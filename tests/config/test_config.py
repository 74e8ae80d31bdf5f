"""Settings: where they come from, and what a bad one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.config import PRESETS, RENAMED, SETTINGS, Config, load, overlay, values
from engram.errors import ConfigError
from tests.tables import every


def test_later_sources_win(tmp_path: Path) -> None:
    file = tmp_path / "engram.toml"
    file.write_text('preset = "layers"\n[recall]\nlimit = 7\nrelevance_floor = 0.5\n')

    config = load(file, environment={"ENGRAM_RECALL__LIMIT": "8"}, arguments={"recall.relevance_floor": 0.6})

    assert (config.recall.limit, config.recall.relevance_floor, config.recall.profile) == (8, 0.6, "layered")


@every(
    ("name", "value", "told"),
    [
        ("recall.limit", 0, "1 to 500"),
        ("recall.limit", "many", "1 to 500"),
        ("recall.limit", 2.5, "1 to 500"),
        ("recall.limit", True, "1 to 500"),
        ("recall.relevance_floor", float("nan"), "0 to 1"),
        ("recall.profile", "mine", "default, trust, layered"),
        ("recall.nothing", 1, "no setting"),
        ("nothing.at_all", 1, "no setting"),
    ],
)
def test_a_bad_value_names_itself_and_its_range(name: str, value: object, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        overlay(Config(), {name: value})

    assert name in refused.value.message
    assert told in refused.value.message


def test_a_file_that_is_missing_or_no_toml_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path / "missing.toml", environment={})
    bad = tmp_path / "bad.toml"
    bad.write_text("this is = = not toml")
    with pytest.raises(ConfigError):
        load(bad, environment={})


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ConfigError) as refused:
        load(environment={}, preset="imaginary")

    assert all(name in refused.value.message for name in PRESETS)


def test_every_preset_loads() -> None:
    for name in PRESETS:
        load(environment={}, preset=name)


def test_every_default_lies_in_its_own_range() -> None:
    for setting in SETTINGS:
        assert overlay(Config(), {setting.name: setting.default}) == Config(), setting.name


def test_the_table_of_values_is_complete() -> None:
    assert values(Config()) == {setting.name: setting.default for setting in SETTINGS}


def test_variables_of_the_doors_are_no_settings() -> None:
    assert load(environment={"ENGRAM_FILE": "x.db", "ENGRAM_CONFIG": "y"}) == Config()


def test_settings_may_stand_by_group_as_in_the_file() -> None:
    nested = load(environment={}, arguments={"recall": {"limit": 7}, "embed": {"name": "static"}})

    assert (nested.recall.limit, nested.embed.name) == (7, "static")
    assert overlay(Config(), {"recall": {"limit": 7}}).recall.limit == 7
    with pytest.raises(ConfigError, match=r"no setting 'recall\.limits'"):
        load(environment={}, arguments={"recall": {"limits": 7}})


def test_a_preset_is_named_by_argument_variable_or_file_and_lies_below_all_else(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('preset = "files"', encoding="utf-8")
    layers = load(environment={}, preset="layers")
    assert layers != Config()

    assert load(environment={}, arguments={"preset": "layers"}) == layers
    assert load(environment={"ENGRAM_PRESET": "layers"}) == layers
    assert load(file, environment={"ENGRAM_PRESET": "layers"}) == layers
    assert load(file, environment={"ENGRAM_PRESET": "files"}, arguments={"preset": "layers"}) == layers
    assert load(file, environment={}) == load(environment={}, preset="files")
    capped = load(environment={"ENGRAM_BUFFER_CAP": "7"}, arguments={"preset": "layers"})
    assert capped.forgetting.buffer_cap == 7
    with pytest.raises(ConfigError, match="no preset 'imaginary'"):
        load(environment={"ENGRAM_PRESET": "imaginary"})


def test_a_setting_goes_by_its_former_name_too() -> None:
    config = load(environment={"ENGRAM_EDGES__DRAW": "off"}, arguments={"resume": {"most": 20_000}})

    assert (config.capture.links, config.context.resume_most) == ("off", 20_000)
    assert set(RENAMED.values()) <= set(values(Config()))
    assert not set(RENAMED) & set(values(Config()))


def test_a_memory_is_opened_with_a_preset_and_nested_settings() -> None:
    with Engram.open(":memory:", config={"preset": "layers", "embed": {"batch": 7}}) as memory:
        assert memory.config.embed.batch == 7
        assert memory.config.recall.profile == load(environment={}, preset="layers").recall.profile
