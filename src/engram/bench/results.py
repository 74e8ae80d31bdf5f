"""Results to keep and compare: figures and circumstances come in, JSON files and differences come out."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engram._version import __version__
from engram.bench.cases import read_json
from engram.bench.setup import Setup
from engram.errors import InvalidInput
from engram.model.clock import SystemClock


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure in two results; None where a result does not have it."""

    name: str
    first: float | None
    second: float | None

    @property
    def change(self) -> float | None:
        """How much the second is above the first."""
        if self.first is None or self.second is None:
            return None
        return self.second - self.first


def result(
    benchmark: str, figures: Mapping[str, Any], setup: Setup, data: Path | None = None
) -> dict[str, Any]:
    """Figures with all that is needed to know what they mean later."""
    circumstances = {
        "benchmark": benchmark,
        "version": __version__,
        "date": SystemClock().now().isoformat(timespec="seconds"),
        "embedder": setup.embedder.space.key,
        "settings": setup.changed,
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cpus": os.cpu_count(),
        },
    }
    if data is not None:
        circumstances["data"] = {"file": data.name, "sha256": hashlib.sha256(data.read_bytes()).hexdigest()}
    return {**figures, **circumstances}


def save(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result where `read` and people find it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """A saved result. Raises InvalidInput."""
    content = read_json(path)
    if not isinstance(content, dict) or "benchmark" not in content:
        raise InvalidInput(f"{path.name} is not a saved benchmark result.")
    return content


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Every figure of two results side by side, in the order of the first.

    >>> [(d.name, d.change) for d in compare({"mrr": 0.5, "by": {"a": 1}}, {"mrr": 0.75, "by": {}})]
    [('mrr', 0.25), ('by.a', None)]
    """
    left, right = dict(_numbers(first)), dict(_numbers(second))
    return [Difference(name, left.get(name), right.get(name)) for name in {**left, **right}]


def compare_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The settings and models that the two results do not share; None stands for the default."""
    one, other = (
        {"embedder": r.get("embedder"), "version": r.get("version"), **r.get("settings", {})}
        for r in (first, second)
    )
    return {
        name: (one.get(name), other.get(name))
        for name in {**one, **other}
        if one.get(name) != other.get(name)
    }


def _numbers(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    for key, value in tree.items():
        name = f"{above}{key}"
        if name in {"settings", "machine", "data"}:
            continue
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value
