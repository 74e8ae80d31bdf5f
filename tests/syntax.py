"""The project's own code as trees: each file is parsed and walked once for all checks of it."""

from __future__ import annotations

import ast
import functools
import gc
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "engram"


@functools.cache
def trees(folder: Path) -> dict[str, ast.Module]:
    """Every module below a folder, by its path."""
    gc.disable()  # a million nodes that stay: looking through them again and again takes as long as parsing
    try:
        found = {
            path.relative_to(folder).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(folder.rglob("*.py"))
        }
        for tree in found.values():
            walked(tree)
    finally:
        gc.freeze()
        gc.enable()
    return found


@functools.cache
def walked(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Every node of a tree."""
    return tuple(ast.walk(tree))
