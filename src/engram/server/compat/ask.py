"""An ask: what a request of an older client says, taken leniently.

Unknown names are passed over, numbers are brought into their range; what cannot be understood is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engram.errors import InvalidInput, WrongType
from engram.server.binding import NO, YES

if TYPE_CHECKING:
    from engram.engine import Engram

LARGEST = 2**53
"""Numbers beyond this are none that a client meant."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: who is asked, and what was said. The body's names win over those of the address."""

    memory: Engram
    given: Mapping[str, Any] = field(default_factory=dict)
    placed: Mapping[str, str] = field(default_factory=dict)
    """What stands in the path."""
    items: Sequence[Any] | None = None
    """The body, when it is a list."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether it was said; null is the same as nothing."""
        return self.given.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text. Without a default it must be there, and must not be empty."""
        value = self.given.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            raise InvalidInput(f"{name} is required")
        if not isinstance(value, str):
            raise WrongType(name, value, "text")
        if default is None and not value.strip():
            raise InvalidInput(f"{name} must not be empty")
        return value

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number, brought into its range."""
        found = self.number(name)
        return default if found is None else int(min(max(found, low), high))

    def number(self, name: str) -> float | None:
        """A number, or None when there is none."""
        value = self.given.get(name)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError as error:
                raise WrongType(name, value, "a number") from error
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise WrongType(name, value, "a number")
        return min(max(value, -LARGEST), LARGEST)

    def share(self, name: str) -> float | None:
        """A number between 0 and 1, brought into that range."""
        found = self.number(name)
        return None if found is None else min(max(found, 0.0), 1.0)

    def truth(self, name: str, *, default: bool = False) -> bool:
        """Yes or no."""
        value = self.given.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        word = str(value).lower()
        if word not in YES | NO:
            raise WrongType(name, value, "true or false")
        return word in YES

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts; one with commas is taken apart."""
        value = self.given.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise WrongType(name, value, "a list of words")
        return tuple(dict.fromkeys(word for word in (one.strip() for one in value) if word))

    def objects(self, name: str) -> list[Mapping[str, Any]]:
        """A list of objects; the body itself, when it is a list."""
        value = self.items if self.items is not None else self.given.get(name)
        if not isinstance(value, list | tuple) or not all(isinstance(one, Mapping) for one in value):
            raise WrongType(name, value, "a list of objects")
        return list(value)

    def of(self, given: Mapping[str, Any]) -> Ask:
        """The same asker, saying something else: one item of a list."""
        return Ask(self.memory, given, self.placed, None, self.headers)
