"""Drift: references and what is in a directory come in; what is dead and what that means comes out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from posixpath import normpath
from typing import Final
from urllib.parse import urlsplit

from engram.config import Config
from engram.lifecycle.traits import is_confirmed, kept_by_itself
from engram.model.axes import Kind, Status, Type
from engram.model.drift import Landscape, Reference, RefKind, RefState
from engram.model.memory import Memory
from engram.model.upkeep import Judgement
from engram.model.verdict import Verdict, no, yes

USUAL = Config()
CHALLENGE, INVALIDATE, REVIVE = "challenge", "invalidate", "revive"
DEAD: Final = "dead"
_LABEL = re.compile(r"(?!-)[A-Za-z0-9\u00a1-\uffff_-]{1,63}(?<!-)")
_LOCAL: Final = frozenset({"localhost"})


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the references of one memory found."""

    alive: int = 0
    dead: tuple[tuple[Reference, str], ...] = ()
    """With what is there instead, where that is known."""

    @property
    def checked(self) -> int:
        """How many references could be checked."""
        return self.alive + len(self.dead)

    @property
    def told(self) -> str:
        """The numbers in words."""
        kinds = [reference.kind.value for reference, _ in self.dead]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        return f"{len(self.dead)} of {self.checked} references dead" + (f" ({counts})" if counts else "")


def is_claim(memory: Memory) -> bool:
    """Whether it says how things are: what happened once stays true whatever became of the files."""
    return not memory.speaker and (memory.kind is not Kind.EPISODIC or memory.type is not Type.NARRATIVE)


def looked(references: Iterable[Reference], place: Landscape) -> Look:
    """Which of the references are alive and which are dead, in this directory."""
    alive, dead = 0, []
    for one in references:
        state, instead = state_of(one, place)
        alive += state is RefState.ALIVE
        if state is RefState.DEAD:
            dead.append((one, instead))
    return Look(alive, tuple(dead))


def drift_verdict(
    memory: Memory, found: Look, before: Judgement | None, now: datetime, config: Config = USUAL
) -> Verdict:
    """What becomes of a memory: the rule is challenge, invalidate or revive.

    `before` is what an earlier run judged about it. What a person has made active again stays so.
    """
    was_dead = before is not None and before.verdict.startswith(DEAD)
    if not found.dead:
        back = was_dead and found.alive and memory.status in {Status.CHALLENGED, Status.INVALIDATED}
        return yes(REVIVE, f"all {found.alive} references alive again") if back else no(found.told)
    if memory.status is Status.ACTIVE:
        return no("a person made it active again") if was_dead else yes(CHALLENGE, found.told)
    if not was_dead or before is None or memory.status is not Status.CHALLENGED or found.alive:
        return no(found.told)
    if kept_by_itself(memory) == "pinned" or is_confirmed(memory):
        return no("a person vouches for it")
    wait = timedelta(days=config.doubt.drift_days)
    if before.at >= now or now - before.at < wait:
        return no(f"{found.told}, for less than {config.doubt.drift_days:g} days")
    return yes(INVALIDATE, f"{found.told}, for {(now - before.at).total_seconds() / 86_400:.1f} days")


# ---------------------------------------------------------------- one reference


def state_of(reference: Reference, place: Landscape) -> tuple[RefState, str]:
    """Whether what is named is there, and what is there instead where that is known.

    >>> place = Landscape(
    ...     "/x", frozenset({"src/parse.py"}), frozenset({"parse"}), {"react": frozenset({"19.0"})}
    ... ).seen()
    >>> [
    ...     state_of(one, place)[0].value
    ...     for one in (
    ...         Reference(RefKind.FILE, "src/parse.py"),
    ...         Reference(RefKind.FILE, "src/gone.py"),
    ...         Reference(RefKind.FILE, "elsewhere/gone.py"),
    ...         Reference(RefKind.SYMBOL, "parse"),
    ...         Reference(RefKind.VERSION, "react", "18.2"),
    ...         Reference(RefKind.VERSION, "vue", "3.1"),
    ...     )
    ... ]
    ['alive', 'dead', 'unknown', 'alive', 'dead', 'unknown']
    """
    match reference.kind:
        case RefKind.FILE:
            return _file(reference.name, place), ""
        case RefKind.SYMBOL:
            return _symbol(reference.name, place), ""
        case RefKind.VERSION:
            return _version(reference, place)
        case RefKind.URL:
            well = is_well_formed(reference.name)
            return (RefState.ALIVE, "") if well else (RefState.DEAD, "no address")


def is_well_formed(url: str) -> bool:
    """Whether an address could lead anywhere, by its form.

    >>> [
    ...     is_well_formed(url)
    ...     for url in ("https://example.org/a", "http://localhost:80", "http://a..b", "https://x:99999")
    ... ]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if ":" in host:  # an address in numbers, checked by the parser
        return True
    labels = host.rstrip(".").split(".")
    return host in _LOCAL or (len(labels) > 1 and all(_LABEL.fullmatch(label) for label in labels))


def _file(name: str, place: Landscape) -> RefState:
    path = _inside(name, place)
    if path is None:
        return RefState.UNKNOWN
    if path in place.tails or place.there(path):
        return RefState.ALIVE
    if not place.complete or not place.paths:
        return RefState.UNKNOWN
    first, slash, _ = path.partition("/")
    if slash:  # another project has other folders
        return RefState.DEAD if first in place.folders else RefState.UNKNOWN
    _, dot, ending = path.rpartition(".")
    return RefState.DEAD if not dot or ending in place.endings else RefState.UNKNOWN


def _inside(name: str, place: Landscape) -> str | None:
    """The path from the root; None when it cannot lie below it."""
    plain = name.replace("\\", "/")
    if plain.startswith("~") or re.match(r"[A-Za-z]:", plain):
        return None
    if plain.startswith("/"):
        root = place.root.rstrip("/") + "/"
        if not plain.startswith(root):
            return None
        plain = plain[len(root) :]
    path = normpath(plain)
    return None if path.startswith("..") or path == "." else path


def _symbol(name: str, place: Landscape) -> RefState:
    if name in place.words:
        return RefState.ALIVE
    return RefState.DEAD if place.complete and place.words else RefState.UNKNOWN


def _version(reference: Reference, place: Landscape) -> tuple[RefState, str]:
    known = place.versions.get(reference.name)
    if not known:
        return RefState.UNKNOWN, ""
    if any(_agree(reference.version, one) for one in known):
        return RefState.ALIVE, ""
    return RefState.DEAD, f"is {', '.join(sorted(known))}"


def _agree(one: str, other: str) -> bool:
    """Whether one version is the other, told more or less exactly.

    >>> _agree("18.2", "18.2.4"), _agree("18.2", "18.20.0")
    (True, False)
    """
    mine, theirs = one.split("."), other.split(".")
    shared = min(len(mine), len(theirs))
    return mine[:shared] == theirs[:shared]
