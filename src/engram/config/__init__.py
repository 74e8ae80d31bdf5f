"""Every number and choice that anyone may want to turn, with its range, its meaning and where it comes from.

Values come, later ones winning, from: the defaults here, a preset, a TOML file, the environment
(`ENGRAM_RECALL__LIMIT=20`), and arguments (`{"recall.limit": 20}`). A bad value names itself and its range.

Where a number comes from: `measured` by a benchmark of this project, `design` set with the architecture, or
the name of the system whose experience it carries (`layers`, `cortex`, `files`, `retention`, `ledger`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from engram.config.briefing_groups import PackConfig, ResumeConfig
from engram.config.context_groups import ContextConfig
from engram.config.door_groups import ProxyConfig
from engram.config.doubt_groups import DoubtConfig
from engram.config.elsewhere import from_elsewhere
from engram.config.groups import (
    RERANKS,
    CaptureConfig,
    Config,
    EdgesConfig,
    EmbedConfig,
    IndexConfig,
    LimitsConfig,
    LlmConfig,
    PlanConfig,
    RecallConfig,
    RememberConfig,
    RerankConfig,
    ServerConfig,
    StoreConfig,
    TextConfig,
    TrustConfig,
)
from engram.config.knowledge_groups import KnowledgeConfig
from engram.config.lifecycle_groups import (
    CURVES,
    ForgettingConfig,
    ImportanceConfig,
    LifecycleConfig,
    PromotionConfig,
    RetentionConfig,
)
from engram.config.maintain_groups import MaintainConfig
from engram.config.presets import PRESETS
from engram.config.review_groups import ReviewConfig
from engram.config.session_groups import SessionConfig
from engram.errors import ConfigError
from engram.model.clock import zone_of

__all__ = [
    "CURVES",
    "ENVIRONMENT_PREFIX",
    "PRESETS",
    "RERANKS",
    "SETTINGS",
    "CaptureConfig",
    "Config",
    "ContextConfig",
    "DoubtConfig",
    "EdgesConfig",
    "EmbedConfig",
    "ForgettingConfig",
    "ImportanceConfig",
    "IndexConfig",
    "KnowledgeConfig",
    "LifecycleConfig",
    "LimitsConfig",
    "LlmConfig",
    "MaintainConfig",
    "PackConfig",
    "PlanConfig",
    "PromotionConfig",
    "ProxyConfig",
    "RecallConfig",
    "RememberConfig",
    "RerankConfig",
    "ResumeConfig",
    "RetentionConfig",
    "ReviewConfig",
    "ServerConfig",
    "SessionConfig",
    "Setting",
    "StoreConfig",
    "TextConfig",
    "TrustConfig",
    "load",
    "overlay",
    "settings",
    "values",
]

ENVIRONMENT_PREFIX = "ENGRAM_"
PRESET, PRESET_VARIABLE = "preset", "ENGRAM_PRESET"
"""What a preset is chosen by: among arguments and in the file, and in the environment."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as a person reads it."""

    name: str
    default: Any
    meaning: str
    origin: str
    low: float | None = None
    high: float | None = None
    known: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """What values it takes, in words."""
        if self.known:
            return ", ".join(self.known)
        if isinstance(self.default, bool):
            return "true, false"
        return f"{self.low:,} to {self.high:,}" if self.low is not None else "text"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return ENVIRONMENT_PREFIX + self.name.upper().replace(".", "__")


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    preset: str = "",
) -> Config:
    """The configuration from all its sources. Raises ConfigError, naming the setting and its range.

    Arguments are named in full (`{"recall.limit": 20}`) or, as in the file, by group (`{"recall": {…}}`).
    A preset is named by `preset`, among the arguments, in the environment or in the file; the first counts.

    >>> load(environment={}, arguments={"preset": "layers", "recall": {"limit": 3}}).recall.limit
    3
    """
    variables = os.environ if environment is None else environment
    from_file = dict(_read(file)) if file is not None else {}
    given = dict(_named_in_full(arguments or {}))
    named = (given.pop(PRESET, ""), preset, variables.get(PRESET_VARIABLE), from_file.pop(PRESET, ""))
    chosen = str(next((name for name in named if name), "default"))
    if chosen not in PRESETS:
        message = f"There is no preset {chosen!r}; known are: {', '.join(PRESETS)}."
        raise ConfigError(message)
    config = Config()
    own = dict(_from_environment(variables))
    for source in (PRESETS[chosen], from_file, from_elsewhere(variables), own, given):
        config = _overlaid(config, source)
    return _fitting(config)


def overlay(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with some settings changed, each checked.

    >>> overlay(Config(), {"recall.limit": "20"}).recall.limit
    20
    """
    return _fitting(_overlaid(config, dict(_named_in_full(values))))


def _overlaid(config: Config, values: Mapping[str, Any]) -> Config:
    for name, value in values.items():
        group, _, key = name.partition(".")
        checked = _checked(name, value)
        changed = replace(getattr(config, group), **{key: checked}) if key else checked
        config = replace(config, **{group: changed})
    return config


def _fitting(config: Config) -> Config:
    """The configuration, if settings that belong together agree."""
    for group, weights in (
        ("importance", config.importance.weights),
        ("promotion", config.promotion.weights),
    ):
        whole = sum(weights.values())
        if abs(whole - 1.0) > SLACK:
            message = f"The weights of {group} ({', '.join(weights)}) sum to {whole:.3f}, they must sum to 1."
            raise ConfigError(message)
    try:
        zone_of(config.timezone)
    except ValueError as error:
        raise ConfigError(f"timezone: {error}.") from error
    table = values(config)
    for low, high in ORDERED:
        if table[low] > table[high]:
            message = f"{low} is {table[low]}, it must not be above {high}, which is {table[high]}."
            raise ConfigError(message)
    return config


SLACK = 1e-6
ORDERED = (
    ("promotion.gate_reject", "promotion.gate_approve"),
    ("promotion.triage_keep", "promotion.triage_promote"),
    ("lifecycle.warm_retention", "lifecycle.hot_retention"),
    ("lifecycle.cold_value", "lifecycle.hot_value"),
)
"""Settings of which the first is the lower bound of the second."""


def settings() -> tuple[Setting, ...]:
    """Every setting, in the order of this file."""
    return SETTINGS


def values(config: Config) -> dict[str, Any]:
    """The configuration as a flat table of names and values."""
    return {setting.name: attrgetter(setting.name)(config) for setting in SETTINGS}


def _collect() -> Iterator[Setting]:
    for group in fields(Config):
        if group.metadata:  # a setting that belongs to no group
            yield Setting(name=group.name, default=group.default, **group.metadata)
            continue
        for item in fields(type(getattr(Config(), group.name))):
            yield Setting(name=f"{group.name}.{item.name}", default=item.default, **item.metadata)


SETTINGS: tuple[Setting, ...] = tuple(_collect())
_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def _checked(name: str, value: Any) -> Any:
    setting = _BY_NAME.get(name)
    if setting is None:
        message = f"There is no setting {name!r}; `engram config` lists them all."
        raise ConfigError(message)
    try:
        typed = _typed(setting.default, value)
    except (TypeError, ValueError):
        typed = None
    if typed is None or not _fits(setting, typed):
        message = f"{name} is {value!r}, it takes: {setting.range}."
        raise ConfigError(message)
    return typed


def _typed(default: Any, value: Any) -> Any:
    if isinstance(default, bool):
        return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}.get(
            str(value).lower()
        )
    if isinstance(value, bool):
        return None
    if isinstance(default, int):
        return int(value) if not isinstance(value, float) or value.is_integer() else None
    return type(default)(value)


def _fits(setting: Setting, value: Any) -> bool:
    if setting.known:
        return value in setting.known
    # A NaN compares false with everything, and so falls out here as well.
    return setting.low is None or setting.high is None or setting.low <= value <= setting.high


def _read(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        tree = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"The configuration {file} cannot be read: {error.strerror}."
        raise ConfigError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"The configuration {file} is not valid TOML: {error}."
        raise ConfigError(message) from error
    yield from _named_in_full(tree)


def _named_in_full(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings under their whole names; those of a group may stand together under the group's."""
    for group, content in tree.items():
        if isinstance(content, Mapping):
            yield from ((f"{group}.{key}", value) for key, value in content.items())
        else:
            yield group, content


def _from_environment(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings by name; ENGRAM_FILE and the like, without a group in their name, belong to the doors."""
    for variable, value in variables.items():
        if variable == ENVIRONMENT_PREFIX + "TIMEZONE":
            yield "timezone", value
        elif variable.startswith(ENVIRONMENT_PREFIX) and "__" in variable:
            group, _, key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
            yield f"{group}.{key}", value
