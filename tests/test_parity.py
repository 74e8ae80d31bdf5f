"""Every door leads to every verb: what the library can do, the other doors can do, and a guide tells it.

A verb that a door does not offer stands in `NOT_OFFERED` with its reason. A verb that is offered after all,
or is gone, has no business there: the test fails both ways, so that the list only shrinks.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engram.aio import AsyncEngram
from engram.engine import Engram
from scripts import aio

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "engram"

# Where a door says which verbs it calls.
DOORS = {
    "REST": ("server/routes/*.py", "server/*.py"),
    "MCP": ("server/mcp/*.py",),
    "CLI": ("cli/*.py",),
}

OPENS = "every door opens and closes the memory by itself"
WHO = "who asks is said by the token or the user, never by the call"
OWNERS = "for the owner, who has the command line and REST"
GUARD = "the guard asks it when somebody comes in"
WORKER = "the server's worker asks it to know when to run"
SAME = "another verb that is offered does the same"
HELD = "a program holds it in a block; `sessions.start`, `turn` and `reply` do it call by call"
DOOR = "a door keeps its answers there; nobody else has any"

NOT_OFFERED: dict[str, dict[str, str]] = {
    "REST": {
        "open": OPENS,
        "close": OPENS,
        "settle": OPENS,
        "seen_by": WHO,
        "path": "where the file lies is no business of a caller",
        "sources.code": "a folder is no thing to send",
        "session": HELD,
        "sessions.open": HELD,
        "sessions.close": OPENS,
        "sessions.sweep": "every beginning of a session does it",
        "upkeep.settings": WORKER,
        "upkeep.clock": WORKER,
        "upkeep.last": WORKER,
        **dict.fromkeys(
            ("upkeep.consolidate", "upkeep.dream", "upkeep.audit", "upkeep.drift", "upkeep.undo"), SAME
        ),
    },
    "MCP": {
        "open": OPENS,
        "settle": OPENS,
        "seen_by": WHO,
        "path": "where the file lies is no business of an agent",
        "config": "settings are the owner's",
        "writes_waiting": "the server's own figure",
        "model_trouble": "memory_capture and memory_doctor tell it",
        "tokens.bearer": GUARD,
        "tokens.any_valid": GUARD,
        "tokens.is_valid": GUARD,
        **dict.fromkeys(("tokens.create", "tokens.list", "tokens.revoke"), "an agent makes itself no rights"),
        "export": "a whole memory is no answer for an agent; `engram export` writes it",
        "adopt": OWNERS,
        "vacuum": OWNERS,
        "forget_spending": OWNERS,
        "remember_many": "one statement a call; documents go through memory_ingest_text",
        "sources.file": "an agent reads files itself and hands over their text",
        "sources.code": "an agent reads files itself and hands over their text",
        "facts.of": "memory_get shows a memory with what it states",
        "facts.history": SAME,
        "facts.conflicts": SAME,
        "conflicts.review": OWNERS,
        "conflicts.ask": OWNERS,
        "entities.merge": SAME,
        "entities.timeline": SAME,
        "trash.restore": SAME,
        "commitments.get": SAME,
        "gaps.get": SAME,
        "triggers.get": SAME,
        "answers.find": DOOR,
        "answers.keep": DOOR,
        "session": HELD,
        "sessions.open": HELD,
        "sessions.close": OPENS,
        "sessions.sweep": "every beginning of a session does it",
        "upkeep.settings": WORKER,
        "upkeep.clock": WORKER,
        "upkeep.last": WORKER,
        **dict.fromkeys(
            ("upkeep.consolidate", "upkeep.dream", "upkeep.audit", "upkeep.drift", "upkeep.undo"), SAME
        ),
    },
    "CLI": {
        "close": OPENS,
        "settle": OPENS,
        "seen_by": WHO,
        "access": WHO,
        "writes_waiting": "a command waits for its own writes",
        "model_trouble": "`engram observe` and `engram doctor` tell it",
        "tokens.bearer": GUARD,
        "tokens.any_valid": GUARD,
        "tokens.is_valid": GUARD,
        "news": "a command ends; `engram history` looks back, the server's feed goes on",
        "touch": "for programs that show memories they did not recall",
        "dream": SAME,
        "audit": SAME,
        "facts.of": "`engram show` tells what a memory states",
        "gaps.get": SAME,
        "triggers.get": SAME,
        "trash.restore": SAME,
        "conflicts.ask": "`engram conflicts review` asks about all",
        "answers.find": DOOR,
        "answers.keep": DOOR,
        "sessions.open": SAME,
        "sessions.close": OPENS,
        "sessions.get": SAME,
        "sessions.abort": "a command's own turn ends with it",
        "sessions.sweep": "every beginning of a session does it",
        "upkeep.settings": WORKER,
        "upkeep.clock": WORKER,
        "upkeep.last": WORKER,
        "upkeep.consolidate": SAME,
        "upkeep.drift": SAME,
        "upkeep.undo": SAME,
    },
}

# What no guide needs to tell: the insides that the server and the doors lean on.
UNTOLD = {
    "answers.find": DOOR,
    "tokens.bearer": GUARD,
    "tokens.any_valid": GUARD,
    "tokens.is_valid": GUARD,
    "upkeep.settings": WORKER,
    "upkeep.clock": WORKER,
    "upkeep.last": WORKER,
    "writes_waiting": "the server's own figure",
    "model_trouble": "the health of the server tells it",
}


@pytest.mark.parametrize("door", DOORS)
def test_every_verb_is_offered_or_stands_on_the_list(door: str) -> None:
    assert {verb for verb in verbs() if verb not in called(door)} == {*NOT_OFFERED[door]}


def test_every_verb_is_told_in_a_guide() -> None:
    assert {verb for verb in verbs() if not is_told(verb)} == {*UNTOLD}


def test_the_library_has_every_verb_twice() -> None:
    assert [verb.name for verb in aio.verbs_of(Engram) if not hasattr(AsyncEngram, verb.name)] == []


@functools.cache
def nouns() -> Mapping[str, type]:
    """What hangs on the facade, by name."""
    given = {verb.name: verb.gives for verb in aio.verbs_of(Engram) if verb.is_property}
    return {name: kind for name, kind in given.items() if kind is not None}


@functools.cache
def verbs() -> tuple[str, ...]:
    """Every public verb: `recall`, `facts.add` …"""
    found: list[str] = []
    for verb in aio.verbs_of(Engram):
        inner = nouns().get(verb.name)
        found += [f"{verb.name}.{one.name}" for one in aio.verbs_of(inner)] if inner else [verb.name]
    return tuple(found)


@functools.cache
def called(door: str) -> frozenset[str]:
    """The verbs that a door calls."""
    paths = [path for glob in DOORS[door] for path in SOURCE.glob(glob)]
    return frozenset(verb for path in paths for verb in calls(ast.parse(path.read_text(encoding="utf-8"))))


def calls(tree: ast.Module) -> Iterator[str]:
    """The verbs of one module: on the memory, on a noun of it by any name, or by the class that has them."""
    names: dict[str, set[str]] = {}
    for name, noun in held(tree):
        names.setdefault(name, set()).add(noun)
    classes = {"Engram": "", **{kind.__name__: name for name, kind in nouns().items()}}
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    said = [one for one in constants if isinstance(one, str)]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=verb):
                yield from (f"{noun}.{verb}" for noun in names.get(name, {name}))
                if name == "memory":
                    yield verb
                if name in classes:
                    yield f"{classes[name]}.{verb}".lstrip(".")
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=name), *_]):
                yield from (f"{noun}.{verb}" for noun in names.get(name, ()) for verb in said)


def held(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Variables that hold a noun: `loops = memory.commitments`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr=noun)) if noun in nouns():
                yield name, noun
            case ast.Assign(targets=[ast.Tuple(elts=left)], value=ast.Tuple(elts=right)):
                for one, other in zip(left, right, strict=False):
                    if (
                        isinstance(one, ast.Name)
                        and isinstance(other, ast.Attribute)
                        and other.attr in nouns()
                    ):
                        yield one.id, other.attr


@functools.cache
def told() -> str:
    """Everything that the guides say; the reference is written from the code and tells nothing by itself."""
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def is_told(verb: str) -> bool:
    """Whether a guide names it: `verb(…)`, `verb`, or a call of it."""
    name = re.escape(verb.rpartition(".")[2])
    return re.search(rf"`(?:\w+\.)*{name}[`(]|\.{name}\b", told()) is not None
