"""Every verb of the library is an operation, from which the doors are made, and a guide tells it.

A verb that is none stands in `NOT_OFFERED` with its reason. A verb that is offered after all,
or is gone, has no business there: the test fails both ways, so that the list only shrinks.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from engram.aio import AsyncEngram
from engram.api.verbs import VerbsBefore
from engram.engine import Engram
from engram.errors import EngramError
from engram.operations import OPERATIONS
from engram.operations.values import options
from scripts import aio

ROOT = Path(__file__).parents[1]
OPENS = "every door opens and closes the memory by itself"
WHO = "who asks is said by the token or the user, never by the call"
GUARD = "the guard asks it when somebody comes in"
HELD = "a program holds it in a block; `sessions.start`, `turn` and `reply` do it call by call"
DOOR = "a door keeps its answers there; nobody else has any"
WITHIN = "an operation of another name does it"

ON_DISK = (
    "init",
    "sync",
    "status",
    "watch",
    "points",
    "rollback",
    "folders",
    "leave",
    "before_run",
    "after_run",
)

NOT_OFFERED = {
    **dict.fromkeys(("open", "close", "settle", "sessions.close"), OPENS),
    **dict.fromkeys(("seen_by", "access"), WHO),
    **dict.fromkeys(("tokens.bearer", "tokens.any_valid", "tokens.is_valid", "vault.refused"), GUARD),
    **dict.fromkeys(("session", "sessions.open"), HELD),
    **dict.fromkeys(("answers.find", "answers.keep"), DOOR),
    **dict.fromkeys(
        ("config", "sources.file", "remember_many", "facts.mentioned", "hand_over_recall"), WITHIN
    ),
    **dict.fromkeys(("backups.make_if_due", "backups.start_if_due", "backups.finish"), OPENS),
    "backups.finding": "the doctor tells it",
    "backups.archive": "a file of this machine is no thing to name from outside",
    "vault.verify": "a certificate is checked where the key is, by a program",
    "history.unread": "a route of an older system tells it",
    **dict.fromkeys(("maintenance.consolidate", "maintenance.last", "maintenance.clock"), "the worker's own"),
    "path": "where the file lies is no business of a caller",
    "sources.code": "a folder is no thing to send",
    "sources.move_in": "a folder is no thing to send",
    **dict.fromkeys(
        (f"workspace.{verb}" for verb in ON_DISK), "a folder of this machine is no thing to send"
    ),
    "sessions.sweep": "every beginning of a session does it",
    "writes_waiting": "the health of the server tells it",
    **dict.fromkeys(("model_trouble", "pressure", "stats_of_open"), "the health of the server tells it"),
}

# What no guide needs to tell: the insides that the server and the doors lean on.
UNTOLD = {
    "hand_over_recall": WITHIN,
    "answers.find": DOOR,
    "tokens.bearer": GUARD,
    "tokens.any_valid": GUARD,
    "tokens.is_valid": GUARD,
    "workspace.before_run": WITHIN,
    "workspace.after_run": WITHIN,
    "facts.mentioned": WITHIN,
    **dict.fromkeys(("backups.make_if_due", "backups.start_if_due"), OPENS),
    "backups.finding": "the doctor tells it",
    "maintenance.last": "the worker's own",
    "maintenance.clock": "the worker's own",
    "writes_waiting": "the server's own figure",
    "model_trouble": "the health of the server tells it",
}


def test_every_verb_is_an_operation_or_stands_on_the_list() -> None:
    offered = {one.name for one in OPERATIONS.values()} | {one.calls for one in OPERATIONS.values()}

    assert {verb for verb in verbs() if verb not in offered} == {*NOT_OFFERED}


def test_every_operation_can_be_called_and_every_parameter_says_what_it_means() -> None:
    for one in OPERATIONS.values():
        assert callable(one.call)
        assert one.sentence.endswith("."), one.name
        assert [made.name for made in one.parameters if not made.says.sentence] == [], one.name


def test_every_verb_that_is_given_an_id_says_what_it_raises() -> None:
    silent = [
        f"{kind.__name__}.{verb.name}"
        for kind in (Engram, *nouns().values())
        for verb in aio.verbs_of(kind)
        if "Raises" not in verb.words
        and verb.name != "is_valid"
        and any(one.arg.endswith("_id") for one in (*verb.tree.args.args, *verb.tree.args.kwonlyargs))
    ]

    assert silent == []


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
        if verb.name in vars(VerbsBefore):  # old names
            continue
        inner = nouns().get(verb.name)
        found += [f"{verb.name}.{one.name}" for one in aio.verbs_of(inner)] if inner else [verb.name]
    return tuple(found)


@functools.cache
def told() -> str:
    """Everything that the guides say; the reference is written from the code and tells nothing by itself."""
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def is_told(verb: str) -> bool:
    """Whether a guide names it: `verb(…)`, `verb`, or a call of it."""
    name = re.escape(verb.rpartition(".")[2])
    return re.search(rf"`(?:\w+\.)*{name}[`(]|\.{name}\b", told()) is not None


def test_no_number_is_so_large_that_it_is_a_bug() -> None:
    memory = Engram.open(":memory:")
    memory.remember("Anna lives in Bremen")
    for operation in OPERATIONS.values():
        needed = {one.name: operation.example_of(one) for one in operation.parameters if one.is_needed}
        for one in (one for one in operation.parameters if int in options(one.hint)):
            for number in (2**90, -(2**90)):
                with suppress(EngramError):  # it may be taken or refused, but not fail
                    operation.run(memory, {**needed, one.name: number})
