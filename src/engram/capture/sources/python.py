"""Python, parsed: the docstrings and signatures of what is public. Nothing is ever imported or run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from engram.capture.sources.symbols import Outline, Symbol

_FIRST = re.compile(r"^(.+?[.!?。])(?=\s|$)", re.DOTALL)
PURPOSE_LENGTH = 800
"""Characters of a module's docstring that are kept."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline_python(text: str) -> Outline | None:
    """The outline of a module; None when it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # somebody else's odd escapes are not ours to warn about
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Outline("Python", _purpose(tree), tuple(_imports(tree)), tuple(_symbols(tree)))


def _purpose(tree: ast.Module) -> str:
    """The module's docstring as far as it is short: further down it often tells how and why."""
    whole = " ".join((ast.get_docstring(tree) or "").split())
    if len(whole) <= PURPOSE_LENGTH:
        return whole
    end = whole.rfind(". ", 0, PURPOSE_LENGTH)
    return whole[: end + 1] if end > 0 else whole[:PURPOSE_LENGTH]


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
    """Public classes and functions; of several with one name (overloads) the last, which does the work."""
    public = (one for one in tree.body if isinstance(one, Function | ast.ClassDef))
    by_name = {one.name: one for one in public if not one.name.startswith("_")}
    for node in by_name.values():
        members = tuple(_members(node)) if isinstance(node, ast.ClassDef) else ()
        yield Symbol(node.name, _signature(node), node.lineno, paragraph(ast.get_docstring(node)), members)


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
