"""How the engine is set up for a run: settings from the command line come in, a configured engine comes out.

Only the defaults and what the command line says count. A person's own settings stay out, so that runs
compare.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from engram.config import Config, load, values
from engram.embed import open_embedder
from engram.engine import Engram
from engram.errors import ConfigError
from engram.ports import Embedder

SECRET = "embed.api_key"  # noqa: S105 - the name of the setting that is never written down


@dataclass(frozen=True, slots=True)
class Setup:
    """One configuration and one loaded model for all the engines of a run."""

    config: Config
    embedder: Embedder

    def open(self, path: Path, now: datetime | None = None) -> Engram:
        """An engine on a file; with `now`, it believes to have been opened at that moment."""
        clock = AskedAt(now) if now is not None else None
        return Engram.open(path, config=self.config, embedder=self.embedder, clock=clock)

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from the defaults."""
        usual = values(Config())
        return {
            name: value
            for name, value in values(self.config).items()
            if value != usual[name] and name != SECRET
        }


class AskedAt:
    """A clock that started at a given moment when it was made and runs on from there."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment
        self._started = time.monotonic()

    def now(self) -> datetime:
        """The given moment and what has gone by since."""
        return self._moment + timedelta(seconds=time.monotonic() - self._started)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()


def set_up(assignments: Iterable[str] = (), model: str | None = None) -> Setup:
    """Defaults, changed by `name=value` assignments and a model's name. Raises ConfigError."""
    arguments = dict(map(assignment, assignments))
    if model is not None:
        arguments["embed.name"] = model
    return configured(arguments)


def configured(arguments: Mapping[str, Any]) -> Setup:
    """Defaults, changed by a table of settings."""
    config = load(environment={}, arguments=arguments)
    return Setup(config, open_embedder(config.embed))


def assignment(text: str) -> tuple[str, str]:
    """`name=value` as a pair.

    >>> assignment("recall.limit=20")
    ('recall.limit', '20')
    """
    name, sign, value = text.partition("=")
    if not sign:
        raise ConfigError(f"{text!r} sets nothing: write name=value.")
    return name.strip(), value.strip()
