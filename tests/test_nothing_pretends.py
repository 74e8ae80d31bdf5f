"""Nothing that pretends: a setting that nothing reads, or a name that nothing uses, is found here."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields

from engram.config import Config, _collect
from tests.syntax import SOURCE, trees, walked

USED_BY_OTHERS = (
    "testing/",  # what ships for the tests of those who use Engram
    "plugins.py:SourceFormat",  # what an extension is made of
)
"""Places whose names are there for whoever imports the package."""
LONGEST_NAMED = 200
"""A longer text is prose, and names nothing by a word in it."""


def unread(settings: Iterable[tuple[str, str, str]], modules: dict[str, ast.Module]) -> list[str]:
    """Settings (group, its class, name) read nowhere: neither beside their group nor of `settings`."""
    known: dict[str, set[str]] = {}
    of_settings: set[str] = set()
    for name, tree in modules.items():
        if name == "config.py":
            continue
        for word in named_in(tree):
            known.setdefault(word, set()).add(name)
        for node in walked(tree):
            match node:
                case ast.Attribute(attr=key, value=ast.Name(id=base) | ast.Attribute(attr=base)):
                    if base.endswith("settings"):
                        of_settings.add(key)
                case _:
                    continue
    return [
        f"{group}.{key}" if group else key
        for group, kind, key in settings
        if key not in of_settings
        and not known.get(key, set()) & (known.get(group, set()) | known.get(kind, set()))
    ]


def _words(node: ast.AST) -> Iterator[str]:
    """The names that a node refers to; a text may be a name that is looked up, also one of `module.name`."""
    match node:
        case ast.Attribute(attr=word) | ast.Name(id=word, ctx=ast.Load()) | ast.keyword(arg=str(word)):
            yield word
        case ast.ImportFrom(names=names):
            yield from (one.name for one in names)
        case ast.Constant(value=str(text)) if text.replace(".", "").isidentifier():
            yield text.rpartition(".")[2]
        case _:
            return


def unused(modules: dict[str, ast.Module], others: Iterable[ast.Module] = ()) -> list[str]:
    """Public functions, classes and constants of modules that nothing in the program names a second time."""
    named = Counter[str]()
    for tree in (*modules.values(), *others):
        named.update(named_in(tree))
    return [
        f"{place}:{name}"
        for place, tree in modules.items()
        for node, name in _public(tree)
        if named[name] <= named_in(tree)[name] <= _times(name, node) and not _is_registered(node)
    ]


@functools.cache
def named_in(tree: ast.AST) -> Counter[str]:
    return Counter(word for node in walked(tree) for word in _words(node))


def _times(name: str, node: ast.AST) -> int:
    return sum(word == name for inner in ast.walk(node) for word in _words(inner))


def _public(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node, name
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if not name.startswith("_"):
                    yield ast.Expr(value), name
            case _:
                continue


def _is_registered(node: ast.stmt) -> bool:
    """A decorator hands it over: a command, a route, an operation. What is private is ruff's to find."""
    name = getattr(node, "name", "")
    return (
        bool(getattr(node, "decorator_list", ())) and not isinstance(node, ast.ClassDef)
    ) or name.startswith("_")


def unused_members(modules: dict[str, ast.Module]) -> list[str]:
    """Methods and fields of classes that nothing in the program names, unless a library may ask for them."""
    classes = [
        (place, node)
        for place, tree in modules.items()
        for node in walked(tree)
        if isinstance(node, ast.ClassDef)
    ]
    ours, named = {node.name for _, node in classes}, Counter[str]()
    for tree in modules.values():
        named.update(word for node in walked(tree) for word in _words(node))
        named.update(
            word
            for node in walked(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            for word in re.findall(r"\w+", node.value if len(node.value) < LONGEST_NAMED else "")
        )
    return [
        f"{place}:{node.name}.{name}"
        for place, node in classes
        if all(isinstance(base, ast.Name) and base.id in ours | {"Protocol"} for base in node.bases)
        for inner in node.body
        if (name := _member(inner)) and not name.startswith("__") and named[name] <= _times(name, inner)
    ]


def _member(node: ast.stmt) -> str:
    match node:
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.AnnAssign(target=ast.Name(id=name))
        ):
            return name
        case _:
            return ""


def groups() -> Iterator[tuple[str, str, str]]:
    kinds = {one.name: str(one.type) for one in fields(Config)}
    for setting in _collect():
        group, _, key = setting.name.rpartition(".")
        yield group, kinds.get(group, "Config"), key


def test_every_setting_is_read() -> None:
    assert unread(groups(), trees(SOURCE)) == []


def test_a_setting_that_nothing_reads_is_found() -> None:
    modules = {"a.py": ast.parse("def f(config): return config.recall.limit")}
    settings = [("recall", "RecallConfig", "limit"), ("recall", "RecallConfig", "shape")]
    assert unread(settings, modules) == ["recall.shape"]
    assert (
        unread(settings, {"a.py": ast.parse("def f(settings): return settings.shape, settings.limit")}) == []
    )


def test_every_public_name_is_used() -> None:
    found = [one for one in unused(trees(SOURCE)) if not re.match("|".join(USED_BY_OTHERS), one)]
    assert found == []


def test_a_name_that_nothing_uses_is_found() -> None:
    alone = {"a.py": ast.parse("LIMIT = 3\ndef recency(): return recency() if LIMIT else 0\nUNREAD = 4")}
    assert unused(alone) == ["a.py:recency", "a.py:UNREAD"]


def test_every_member_is_used() -> None:
    found = unused_members(trees(SOURCE))
    assert [one for one in found if not re.match("|".join(USED_BY_OTHERS), one)] == []


def test_a_member_that_nothing_uses_is_found() -> None:
    text = (
        "class A:\n  size: int\n  def ask(self): return self.size\n  def rarity(self): return self.rarity()"
    )
    assert unused_members({"a.py": ast.parse(text)}) == ["a.py:A.ask", "a.py:A.rarity"]
    assert unused_members({"a.py": ast.parse("class A(Formatter):\n  def convert_field(self): ...")}) == []


def raised(modules: dict[str, ast.Module]) -> set[str]:
    """The names of errors that docstrings say are raised."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    texts = (
        ast.get_docstring(node)
        for tree in modules.values()
        for node in walked(tree)
        if isinstance(node, kinds)
    )
    sentences = (
        said for text in texts if text for said in re.findall(r"Raises ((?:[A-Z]\w+(?:,? and |, )?)+)", text)
    )
    return {name for said in sentences for name in re.findall(r"[A-Z]\w+", said)}


def test_every_error_that_a_docstring_promises_is_one() -> None:
    ours = {
        node.name
        for tree in trees(SOURCE).values()
        for node in walked(tree)
        if isinstance(node, ast.ClassDef)
    }
    assert sorted(raised(trees(SOURCE)) - ours - {*vars(builtins)}) == []
    assert "Nobody" in raised({"a.py": ast.parse('"""Raises NotFound, Nobody."""')})
