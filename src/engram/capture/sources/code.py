"""Code: a folder comes in; for each file what it is for, and for each public symbol what it does, come out.

A function without a word about itself is told of with its file only: its name is all there is to find it by.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engram.capture.sources import files, tree
from engram.capture.sources.grammars import LANGUAGES
from engram.capture.sources.outline import outline
from engram.capture.sources.shapes import refused
from engram.capture.sources.symbols import Outline, Symbol
from engram.errors import InvalidInput
from engram.model.ingest import Found, Item, ItemKind
from engram.model.memory import CONTENT_LIMIT

FORMAT = "code"
LISTED = 40
"""Symbols or imports that are named in one memory at most."""


def origin_of(folder: Path) -> str:
    """The key that everything below a folder begins with."""
    return f"{FORMAT}:{folder.resolve().as_posix().rstrip('/')}/"


def read(folder: Path) -> Iterator[Found]:
    """Every file of a source tree and its public symbols."""
    root = folder.resolve()
    above = tree.repository(root)
    for path in tree.walk(root, frozenset(LANGUAGES)):
        origin = f"{FORMAT}:{path.as_posix()}"
        try:
            text = files.read_text(path)
        except InvalidInput as error:
            yield refused(origin, error)
            continue
        if "\0" not in text and text.strip():
            yield from _file(path.relative_to(above).as_posix(), origin, outline(text, path.suffix.lower()))


def _file(path: str, origin: str, short: Outline) -> Iterator[Item]:
    told = () if is_test(path) else tuple(one for one in short.symbols if one.doc or one.members)
    yield _item(origin, path, _about_file(path, short, told), short)
    for symbol in told:
        yield _item(f"{origin}#{symbol.name}", path, _about_symbol(path, symbol), short, symbol)


def _item(origin: str, path: str, text: str, short: Outline, symbol: Symbol | None = None) -> Item:
    details = {"path": path, "language": short.language}
    if symbol is not None:
        details |= {"symbol": symbol.name, "signature": symbol.signature}
    return Item(
        origin,
        text[:CONTENT_LIMIT],
        ItemKind.CODE,
        tags=(short.language.lower(),),
        details=details,
        source="codebase",
    )


def _about_file(path: str, short: Outline, told: tuple[Symbol, ...]) -> str:
    purpose = short.purpose or f"a {short.language} file."
    lines = [f"{path}: {purpose}"]
    if told:
        lines.append(f"Defines {_listed([one.name for one in told])}.")
    bare = [one.signature for one in short.symbols if one not in told]
    if bare and not is_test(path):
        lines.append(f"Also defines {_listed(bare)}.")
    if short.imports:
        lines.append(f"Uses {_listed(list(short.imports))}.")
    return "\n".join(lines)


def _about_symbol(path: str, symbol: Symbol) -> str:
    said = f": {symbol.doc}" if symbol.doc else ""
    lines = [f"{symbol.name} in {path}{said}", symbol.signature]
    return "\n".join([*lines, *(f"- {member}" for member in symbol.members)])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def is_test(path: str) -> bool:
    """Whether a file tests other files: it is remembered, but not function by function.

    >>> is_test("tests/cli/shell.py"), is_test("src/app.spec.ts"), is_test("src/contest.py")
    (True, True, False)
    """
    *folders, name = path.lower().split("/")
    stem = name.split(".")[0]
    marked = any(f".{word}." in name for word in ("test", "spec"))
    inside = bool({"tests", "test", "__tests__", "spec"} & set(folders))
    return inside or marked or stem.startswith("test_") or stem.endswith("_test")
