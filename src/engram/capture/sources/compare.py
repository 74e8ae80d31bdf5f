"""What changed in a source since the last time: its items and what is known of it come in, a plan comes out.

An item is the same when its digest is, wherever it stands now: a paragraph put in at the top changes nothing
below it. It has changed when another one stood in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engram.model.ingest import Item

_NTH = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class Known:
    """An item as it was taken in the last time: its place, its digest, and the memories made of it."""

    origin: str
    digest: str
    memories: Mapping[str, str]
    """By origin: an item that holds several statements has several."""


@dataclass(slots=True)
class Plan:
    """What is to be done about each item."""

    same: list[tuple[Item, Known]] = field(default_factory=list)
    moved: list[tuple[Item, Known]] = field(default_factory=list)
    """The same, in another place."""
    changed: list[tuple[Item, Known]] = field(default_factory=list)
    new: list[Item] = field(default_factory=list)
    twice: list[Item] = field(default_factory=list)
    """Their place is taken by an item before them."""
    gone: list[Known] = field(default_factory=list)


def nth(origin: str, number: int) -> str:
    """The origin of an item's first, second, third … statement.

    >>> nth("file:a.md#1", 0), nth("file:a.md#1", 1)
    ('file:a.md#1', 'file:a.md#1~2')
    """
    return f"{origin}~{number + 1}" if number else origin


def grouped(known: Mapping[str, tuple[str, str]]) -> dict[str, Known]:
    """What a store knows, item by item."""
    found: dict[str, dict[str, str]] = {}
    digests: dict[str, str] = {}
    for origin, (memory_id, digest) in known.items():
        whole = _NTH.sub("", origin)
        found.setdefault(whole, {})[origin] = memory_id
        digests[whole] = digest
    return {origin: Known(origin, digests[origin], memories) for origin, memories in found.items()}


def compare(items: Iterable[Item], known: Mapping[str, Known]) -> Plan:
    """Every item and every known one is in exactly one part of the plan."""
    plan = Plan()
    rest, pending = dict(known), list[Item]()
    for item in _once(items, plan):
        here = rest.get(item.origin)
        if here is not None and here.digest == item.digest:
            plan.same.append((item, rest.pop(item.origin)))
        else:
            pending.append(item)
    by_digest = {one.digest: one for one in reversed(rest.values())}
    pending = [item for item in pending if not _moved(item, by_digest, rest, plan)]
    for item in pending:
        if item.origin in rest:
            plan.changed.append((item, rest.pop(item.origin)))
        else:
            plan.new.append(item)
    plan.gone.extend(rest.values())
    return plan


def _once(items: Iterable[Item], plan: Plan) -> Iterable[Item]:
    seen: set[str] = set()
    for item in items:
        if item.origin in seen:
            plan.twice.append(item)
        else:
            seen.add(item.origin)
            yield item


def _moved(item: Item, by_digest: dict[str, Known], rest: dict[str, Known], plan: Plan) -> bool:
    there = by_digest.pop(item.digest, None)
    if there is None:
        return False
    plan.moved.append((item, rest.pop(there.origin)))
    return True
