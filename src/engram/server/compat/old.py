"""An old route: one line of the tables of compatibility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from engram.server.compat.ask import Ask

LARGE_BODIES: Mapping[str, int] = MappingProxyType({"/import": 32_000_000})
"""Addresses that take more than the settings say, as their clients are used to."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer with a status of its own. A text goes out as it is, everything else as JSON."""

    value: Any
    status: int = HTTPStatus.OK


@dataclass(frozen=True, slots=True)
class Old:
    """What another system served where, and what answers it here."""

    method: str
    path: str
    call: Callable[[Ask], Any]
    """Gives plain data, or `Told` where the status differs from case to case."""
    status: int = HTTPStatus.OK
    in_default: bool = False
    """Whether no namespace means the default one, also for reading; else it means all of them."""
    owner_only: bool = False
    waits: bool | None = None
    """Whether it may wait for something outside; None: if it is no GET."""
    limit_s: float | None = None

    @property
    def is_quick(self) -> bool:
        """Whether it computes more than it waits."""
        return self.method == "GET" if self.waits is None else not self.waits
