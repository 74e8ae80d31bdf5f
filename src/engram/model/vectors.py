"""An embedding space: vectors are only ever compared inside one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Space:
    """Which model made a vector, how long it is, and which version of the model's files."""

    model: str
    dims: int
    version: str = "1"

    @property
    def key(self) -> str:
        """The space as one word, as the store keeps it."""
        return f"{self.model}/{self.dims}/{self.version}"
