"""Python, parsed: the docstrings and signatures of what is public. Nothing is ever imported or run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from engram.capture.sources.symbols import Outline, Symbol

_FIRST = re.compile(r"^(.+?[.!?。])(?=\s|$)", re.DOTALL)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline_python(text: str) -> Outline | None:
    """The outline of a module; None when it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # somebody else's odd escapes are not ours to warn about
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Outline("Python", paragraph(ast.get_docstring(tree)), tuple(_imports(tree)), tuple(_symbols(tree)))


def paragraph(doc: str | None) -> str:
    r"""The first paragraph of a docstring on one line.

    >>> paragraph("Sums up.\n\n    Slowly."), paragraph(None)
    ('Sums up.', '')
    """
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def _imports(tree: ast.Module) -> Iterator[str]:
    found: dict[str, None] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found["." * node.level + (node.module or "")] = None
    yield from found


def _symbols(tree: ast.Module) -> Iterator[Symbol]:
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            members = tuple(_members(node)) if isinstance(node, ast.ClassDef) else ()
            doc = paragraph(ast.get_docstring(node))
            yield Symbol(node.name, _signature(node), node.lineno, doc, members)


def _members(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, Function) and not inner.name.startswith("_"):
            said = _FIRST.match(paragraph(ast.get_docstring(inner)))
            yield _short(inner) + (f": {said[1]}" if said else "")


def _signature(node: Function | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){gives}"


def _short(node: Function) -> str:
    """A method's name and the names of its arguments: enough to see what it takes."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [one.arg for one in given if one.arg not in ("self", "cls")]
    return f"{node.name}({', '.join(names)})"
