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

    @classmethod
    def parse(cls, key: str) -> Space:
        """The space that gave this key.

        >>> Space.parse("tiny/8/1") == Space("tiny", 8, "1")
        True
        """
        model, dims, version = key.rsplit("/", 2)
        return cls(model, int(dims), version)
