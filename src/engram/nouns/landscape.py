"""A landscape: a directory comes in; its files, the identifiers in them and the versions it names come out.

What `.gitignore` leaves out is not read, links are not followed, and there are limits on how much is read.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from engram.capture.sources.tree import walk
from engram.config import DoubtConfig
from engram.model.drift import Landscape

IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,99}")
WORDS: Final = 2_000_000
"""Identifiers that are kept at most."""
BINARY: Final = b"\0"
EXACT = re.compile(r"^[\^~=v ]*(\d+(?:\.\d+){0,3})$")
PINNED = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*==\s*(\d[\w.]*)", re.MULTILINE)


def landscape(directory: str | Path, settings: DoubtConfig) -> Landscape | None:
    """What is in a directory; None when it cannot be looked at."""
    root = Path(directory).expanduser()
    try:
        root = root.resolve(strict=True)
        if not root.is_dir():
            return None
        files = list(islice(walk(root, None), settings.files + 1))
    except OSError:
        return None
    complete, files = len(files) <= settings.files, files[: settings.files]
    words: set[str] = set()
    for path in files:
        words.update(_words(path, settings.file_bytes))
        if len(words) > WORDS:
            complete = False
            break
    return Landscape(
        root=root.as_posix(),
        paths=frozenset(path.relative_to(root).as_posix() for path in files),
        words=frozenset(words),
        versions=_versions(files),
        complete=complete,
        there=lambda path: _is_there(root, path),
    ).seen()


def _words(path: Path, most: int) -> set[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(most)
    except OSError:
        return set()
    return set() if BINARY in raw else set(IDENTIFIER.findall(raw.decode("utf-8", errors="ignore")))


def _is_there(root: Path, path: str) -> bool:
    """Whether it exists below the root, not by way of a link that leads out."""
    try:
        return (root / path).resolve(strict=True).is_relative_to(root)
    except (OSError, ValueError):
        return False


# ---------------------------------------------------------------- versions


def _versions(files: list[Path]) -> dict[str, frozenset[str]]:
    """What manifests say is built here, and what it needs in one certain version."""
    found: dict[str, set[str]] = {}
    for path in files:
        with suppress(OSError, ValueError):  # what cannot be read or is no manifest says nothing
            for name, version in _manifest(path):
                if match := EXACT.match(version.strip()):
                    found.setdefault(name.lower(), set()).add(match[1])
    return {name: frozenset(versions) for name, versions in found.items()}


def _manifest(path: Path) -> Iterator[tuple[str, str]]:
    if path.name == "pyproject.toml":
        yield from _python(tomllib.loads(path.read_text(encoding="utf-8")))
    elif path.name == "Cargo.toml":
        yield from _rust(tomllib.loads(path.read_text(encoding="utf-8")))
    elif path.name == "package.json":
        yield from _node(json.loads(path.read_text(encoding="utf-8")))
    elif path.name.startswith("requirements") and path.suffix in {".txt", ".lock"}:
        yield from PINNED.findall(path.read_text(encoding="utf-8"))


def _python(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    project = _table(tree, "project")
    yield from _named(project)
    needs = project.get("dependencies")
    for line in needs if isinstance(needs, list) else ():
        yield from PINNED.findall(str(line))


def _rust(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _named(_table(tree, "package"))
    for name, wanted in _table(tree, "dependencies").items():
        version = wanted.get("version") if isinstance(wanted, dict) else wanted
        yield name, str(version)


def _node(tree: Any) -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict):
        yield from _named(tree)
        for group in ("dependencies", "devDependencies"):
            yield from ((name, str(version)) for name, version in _table(tree, group).items())


def _named(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if table.get("name") and table.get("version"):
        yield str(table["name"]), str(table["version"])


def _table(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tree.get(name)
    return found if isinstance(found, dict) else {}
