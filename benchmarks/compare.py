"""Two saved results of `engram bench` side by side.

python -m benchmarks.compare one.json other.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def main() -> None:
    """Print every setting and figure in which the two differ."""
    one, other = (dict(leaves(json.loads(Path(name).read_text(encoding="utf-8")))) for name in sys.argv[1:3])
    for name in {**one, **other}:
        first, second = one.get(name), other.get(name)
        if first == second:
            continue
        both = isinstance(first, int | float) and isinstance(second, int | float)
        print(f"{name:45} {first!s:>12} {second!s:>12} {f'{second - first:+.4g}' if both else ''}")


def leaves(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """What stands at the ends of a tree, under dotted names."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{above}{key}.")
        elif key not in {"date", "sha256"}:
            yield f"{above}{key}", value


if __name__ == "__main__":
    main()
