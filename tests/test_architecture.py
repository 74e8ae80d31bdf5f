"""The floors hold: imports point down, never up, never sideways, never in a circle.

Every import counts: at the top of a file, inside a function, under TYPE_CHECKING, by name through importlib.
"""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.syntax import SOURCE as ROOT
from tests.syntax import trees, walked

# The only table: from the ground up. A part may import what stands on a lower line, and nothing else.
# `__init__` stands for the public names of the package itself.
FLOORS: tuple[tuple[str, frozenset[str]], ...] = (
    ("words", frozenset({"_version", "lazily"})),
    ("words", frozenset({"errors"})),
    ("words", frozenset({"model"})),
    ("words", frozenset({"config", "pressure"})),
    ("words", frozenset({"ports"})),
    ("words", frozenset({"plugins"})),  # what other packages add
    ("rules", frozenset({"text"})),
    ("rules", frozenset({"rules"})),
    (
        "tools and flows",
        frozenset({"store", "index", "embed", "llm", "crew", "keys"})
        | frozenset({"capture", "recall", "maintain", "context", "session", "workspace"}),
    ),
    ("engine", frozenset({"opening"})),  # how the parts are opened
    ("engine", frozenset({"api"})),  # what hangs on the facade
    ("engine", frozenset({"folder"})),  # a memory over many files
    ("engine", frozenset({"engine"})),
    ("engine", frozenset({"aio"})),
    ("operations", frozenset({"operations"})),  # what the doors are made of
    ("operations", frozenset({"remote"})),  # a memory behind a door, from the other side
    ("operations", frozenset({"recall_worker"})),  # answers as a door does
    ("operations", frozenset({"__init__"})),
    ("doors", frozenset({"testing", "server", "adapters"})),
    ("doors", frozenset({"bench"})),  # it measures with the clock and the embedder of the tests
    ("doors", frozenset({"cli"})),  # the command line opens the other doors
    ("doors", frozenset({"__main__"})),
)

# Packages from outside that only these parts may touch, so that they can be swapped in one place.
OWNERS = {
    "apsw": {"store"},
    "sqlite3": {"store"},
    "httpx": {"embed", "llm", "server", "adapters", "cli", "remote"},
    "onnxruntime": {"embed"},
    "tokenizers": {"embed"},
    "cryptography": {"rules", "store"},
    "keyring": {"keys"},
    "click": {"cli"},
    "msgspec": {"operations", "remote", "server", "session"},
    "rich": {"cli"},
}


NAMED = ("engram.ports", ("engram.store.", "engram.index.", "engram.embed", "engram.keys", "engram.crew"))
"""`ports` names classes that stand above it, for the type checker alone."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import: which file, which line, which module it reaches."""

    module: str
    line: int
    target: str


def test_imports_point_down() -> None:
    assert list(wrong_imports(ROOT)) == []


def test_no_imports_go_in_a_circle() -> None:
    assert circle(ROOT) is None


def test_every_part_has_a_floor() -> None:
    assert homeless(ROOT) == []


def test_outside_packages_are_touched_by_their_owners_only() -> None:
    trespasses = [
        f"{found.module}:{found.line} imports {found.target}"
        for found in imports(ROOT)
        if part(found.module) not in OWNERS.get(found.target.split(".")[0], {part(found.module)})
    ]
    assert trespasses == []


def wrong_imports(root: Path) -> Iterator[str]:
    """Every import that points up or sideways, as a sentence."""
    height = {name: level for level, (_, names) in enumerate(FLOORS) for name in names}
    for found in imports(root):
        source, target = part(found.module), part(found.target)
        if not found.target.startswith("engram") or source == target or {source, target} - set(height):
            continue
        if height[target] >= height[source]:
            way = "sideways" if height[target] == height[source] else "up"
            yield f"{found.module}:{found.line} imports {way}: {found.target}"


def homeless(root: Path) -> list[str]:
    """The packages and modules that stand on no floor."""
    known = frozenset[str]().union(*(names for _, names in FLOORS))
    return sorted({part(name) for name in modules(root)} - known)


def circle(root: Path) -> list[str] | None:
    """A circle of packages, or of modules, that import each other; None when there is none."""
    parts: dict[str, set[str]] = {}
    files: dict[str, set[str]] = {}
    for found in imports(root):
        if not found.target.startswith("engram"):
            continue
        source, target = part(found.module), part(found.target)
        if source != target:
            parts.setdefault(source, set()).add(target)
        if found.module != found.target:
            files.setdefault(found.module, set()).add(found.target)
    for graph in (parts, files):
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as error:
            return [str(name) for name in error.args[1]]
    return None


def part(module: str) -> str:
    """The package that a module belongs to: `engram.store.sqlite.rows` is part of `store`.

    >>> part("engram.store.sqlite.rows"), part("engram")
    ('store', '__init__')
    """
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


@functools.cache
def imports(root: Path) -> tuple[Import, ...]:
    """Every import in the tree, resolved to the module it reaches."""
    return tuple(_imports(modules(root), trees(root), root))


def _imports(known: dict[str, Path], code: dict[str, ast.Module], root: Path) -> Iterator[Import]:
    for module, path in known.items():
        tree = code[path.relative_to(root).as_posix()]
        unrun = only_for_types(tree) if module == NAMED[0] else frozenset()
        for node in walked(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
                continue
            for full, home in reached(node, module, is_package=path.name == "__init__.py"):
                if not (node in unrun and full.startswith(NAMED[1])):
                    yield Import(module, getattr(node, "lineno", 0), full if full in known else home)


def only_for_types(tree: ast.Module) -> frozenset[ast.AST]:
    """What stands under TYPE_CHECKING."""
    blocks = (node for node in tree.body if isinstance(node, ast.If))
    named = (node for node in blocks if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    return frozenset(inner for block in named for child in block.body for inner in ast.walk(child))


def modules(root: Path) -> dict[str, Path]:
    """Each module's dotted name and its file."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        names = ["engram", *path.relative_to(root).with_suffix("").parts]
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def reached(node: ast.AST, module: str, *, is_package: bool) -> Iterator[tuple[str, str]]:
    """The full names that one piece of code imports, each with the module it is in if it is none."""
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, alias.name) for alias in names)
        case ast.ImportFrom(module=name, names=names, level=level):
            start = name or ""
            if level:
                names_above = module.split(".")
                above = names_above[: len(names_above) + is_package - level]
                start = ".".join([*above, name] if name else above)
            yield from ((f"{start}.{alias.name}", start) for alias in names)
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name, name


def grow(root: Path, files: dict[str, str]) -> Path:
    """A small made-up tree."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("model/memory.py", "from engram.store import rows", "imports up: engram.store"),
        ("recall/plan.py", "import engram.capture", "engram.recall.plan:1 imports sideways: engram.capture"),
        ("embed/static.py", "from engram import store", "imports sideways: engram.store"),
        ("recall/spread.py", "from ..capture import decay", "imports sideways: engram.capture"),
        ("errors.py", "def late():\n    import engram.config", "engram.errors:2 imports up: engram.config"),
        ("text/words.py", "if TYPE_CHECKING:\n    from engram import rules", "imports up"),
        ("engine.py", "import importlib\nimportlib.import_module('engram.cli')", "imports up: engram.cli"),
        ("ports.py", "from engram import Engram", "engram.ports:1 imports up: engram"),
        ("ports.py", "from engram.store import rows", "engram.ports:1 imports up: engram.store"),
    ],
)
def test_the_check_sees_an_import_that_does_not_point_down(
    tmp_path: Path, file: str, code: str, said: str
) -> None:
    packages = ("", "store/", "capture/", "rules/", "cli/")
    tree = grow(tmp_path, {f"{name}__init__.py": "" for name in packages} | {"config.py": "", file: code})

    assert [said in found for found in wrong_imports(tree)] == [True]


def test_the_check_lets_imports_that_point_down_pass(tmp_path: Path) -> None:
    tree = grow(
        tmp_path,
        {
            "__init__.py": "from engram.engine import Engram",
            "errors.py": "",
            "model/__init__.py": "from .axes import Layer",
            "model/memory.py": "from engram.errors import EngramError\nfrom .. import errors",
            "engine.py": "from engram import model, errors\nimport json",
            "cli/__init__.py": "from engram import Engram",
        },
    )

    assert list(wrong_imports(tree)) == []
    assert circle(tree) is None
    assert homeless(tree) == []


def test_the_check_sees_a_circle_inside_a_package(tmp_path: Path) -> None:
    tree = grow(
        tmp_path,
        {"text/a.py": "from . import b", "text/b.py": "def late():\n    from engram.text.a import x"},
    )

    assert set(circle(tree) or ()) == {"engram.text.a", "engram.text.b"}


def test_the_check_sees_a_circle_between_packages(tmp_path: Path) -> None:
    tree = grow(
        tmp_path,
        {
            "store/one.py": "import engram.index.two",
            "store/four.py": "",
            "index/two.py": "",
            "index/three.py": "import engram.store.four",
        },
    )

    assert set(circle(tree) or ()) == {"store", "index"}


def test_the_check_sees_a_part_without_a_floor(tmp_path: Path) -> None:
    tree = grow(tmp_path, {"__init__.py": "", "helpers.py": "", "errors.py": "", "misc/deep/__init__.py": ""})

    assert homeless(tree) == ["helpers", "misc"]
