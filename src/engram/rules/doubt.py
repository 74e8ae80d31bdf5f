"""Doubt: claims about a directory, what is not known, and beliefs that are due to be probed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b
from posixpath import normpath
from typing import Final
from urllib.parse import urlsplit

from engram.lazily import dataclass
from engram.model.facts import Entity, Fact
from engram.model.maintenance import Judgement, Landscape, Reference, RefKind, RefState, Verdict, no, yes
from engram.model.memory import Kind, Memory, Status, Type, Verification
from engram.model.scope import Scope
from engram.model.session import Gap
from engram.rules.retention import DAY_S
from engram.rules.sameness import Merge, Neighbour, NewStatement, Reinforce, SamenessLimits, decide, opposing
from engram.rules.traits import is_confirmed, kept_by_itself
from engram.text import re
from engram.text import subquestions as wording
from engram.text.forms import summary
from engram.text.statement import USER

STALE_USES = 5  # uses that make a belief worth asking about, when only its age is known
PROBE_DAYS = 90.0  # days without use or confirmation after which a belief is probed (cortex)
DRIFT_DAYS = 1  # days for which references stay dead before their memory is invalidated

# ---------------------------------------------------------------- drift
# Drift: references and what is in a directory come in; what is dead and what that means comes out.


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


def drift_verdict(memory: Memory, found: Look, before: Judgement | None, now: datetime) -> Verdict:
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
    wait = timedelta(days=DRIFT_DAYS)
    if before.at >= now or now - before.at < wait:
        return no(f"{found.told}, for less than {DRIFT_DAYS} day")
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


# ---------------------------------------------------------------- gaps
# Gaps: what is known of something comes in; the questions worth asking about it come out. Pure rules.


UNKNOWN, MISSING, CONFLICT, DUE, STALE, ASKED = "unknown", "missing", "conflict", "due", "stale", "asked"
GAP = "gap"
"""The kind of sketch that a gap is kept as, and of the judgement that one is closed."""
IN_VAIN = "asked"
"""The kind of sketch that counts questions about a name that found nothing."""
WEIGHTS = {CONFLICT: 0.9, ASKED: 0.7, STALE: 0.6, DUE: 0.5, UNKNOWN: 0.4, MISSING: 0.3}
"""How much it matters to know, before it is counted how often something is spoken of."""
QUOTED = 160
"""Characters of a statement that a question quotes."""


def about_entity(entity: Entity, mentions: int, facts: Sequence[Fact], scope: Scope) -> Iterator[Gap]:
    """What is missing about somebody or something spoken of so often: everything, or what one expects.

    >>> [gap.question for gap in about_entity(Entity("Carla", type="person"), 5, [], Scope())]
    ['Who is Carla?']
    >>> works = Fact("carla", "like", "tea")
    >>> [gap.expects for gap in about_entity(Entity("Carla", type="person"), 5, [works], Scope())]
    ['relation']
    """
    if USER in {entity.name.casefold(), *entity.aliases}:
        return
    if not facts:
        if question := wording.who(entity.name, entity.type):
            yield _named(UNKNOWN, question, entity.name, mentions, scope)
        return
    known = {fact.predicate for fact in facts}
    for one in wording.expected(entity.type):
        if known.isdisjoint(one.predicates):
            question = one.question.format(name=entity.name)
            yield _named(MISSING, question, entity.name, mentions, scope, one.what)


def asked_about(name: str, times: int, scope: Scope) -> Gap:
    """What was asked about in vain."""
    return _named(ASKED, wording.worded(ASKED, name=name), name, times, scope)


def of_conflict(one: Memory, two: Memory) -> Gap:
    """Two memories that cannot both be true; the earlier is told first."""
    first, second = sorted((one, two), key=lambda each: (each.happened_at, each.id))
    question = wording.worded(CONFLICT, one=_told(first), two=_told(second))
    return _about(CONFLICT, question, first, second)


def of_memory(kind: str, memory: Memory) -> Gap:
    """A question about one memory: by when (due), or whether it is still so (stale)."""
    return _about(kind, wording.worded(kind, one=_told(memory)), memory)


def _named(kind: str, question: str, name: str, count: int, scope: Scope, expects: str = "") -> Gap:
    key = key_of(kind, scope, f"{name.casefold()}\n{expects}")
    return Gap(key, question, name, weight(kind, count), kind, expects, scope=scope)


def _about(kind: str, question: str, *memories: Memory) -> Gap:
    ids, scope = tuple(memory.id for memory in memories), memories[0].scope
    name = next((name for memory in memories for name in memory.entities), "")
    count = max(memory.usage.accessed for memory in memories) if kind == STALE else 0
    times = memories[0].usage.confirmed if kind == STALE else ""  # asked anew after it was vouched for
    key = key_of(kind, scope, "\n".join((*ids, str(times))))
    return Gap(key, question, name, weight(kind, count), kind, "", ids, scope)


def key_of(kind: str, scope: Scope, ident: str) -> str:
    """What a gap is known by: it holds no word of what it is about."""
    told = "\n".join((kind, *scope.parts, ident)).encode()
    return f"gap-{blake2b(told, digest_size=8).hexdigest()}"


def weight(kind: str, count: int) -> float:
    """How much it matters to know, 0 to 1: by its kind, and a little more for what is spoken of often.

    >>> weight("conflict", 0), weight("unknown", 7), weight("unknown", 100_000)
    (0.9, 0.49, 0.6)
    """
    return round(min(1.0, WEIGHTS[kind] + min(0.2, 0.03 * math.log2(1 + count))), 2)


def _told(memory: Memory) -> str:
    words = memory.content if len(memory.content) <= QUOTED else summary(memory.content)
    return words[:QUOTED]


# ---------------------------------------------------------------- probing
# Probing: a belief and what was said since come in; whether that bears it out comes out. Pure rules.


class Speaks(StrEnum):
    """What one statement says about another."""

    FOR = "for"
    AGAINST = "against"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class ProbeEvidence:
    """A later memory, and what it says about a belief; the reason holds no words of theirs."""

    memory: Memory
    speaks: Speaks
    why: str


def is_belief(memory: Memory) -> bool:
    """Whether it says how things are, not what happened or what somebody said at the time."""
    return not memory.speaker and (memory.kind is Kind.SEMANTIC or memory.type is Type.FACT)


def probe_due(memory: Memory, now: datetime) -> Verdict:
    """Whether a belief is to be looked at again: nobody vouched for it or used it for long.

    One that is used all the time is due as well, once nobody has vouched for it for that long: what many
    rest on is worth a look.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> belief = Memory("1", "The API uses JWT", "h", day, day, kind=Kind.SEMANTIC)
    >>> [bool(probe_due(belief, day + timedelta(days=days))) for days in (89, 90)]
    [False, True]
    """
    vouched = memory.verified_at or memory.created_at
    seen = max(vouched, memory.last_accessed or vouched)
    unvouched, unseen = ((now - one).total_seconds() / DAY_S for one in (vouched, seen))
    if unseen >= PROBE_DAYS:
        return yes("unseen", f"{unseen:.0f} days without use or confirmation")
    if unvouched >= PROBE_DAYS and memory.usage.accessed >= STALE_USES:
        return yes("used", f"used {memory.usage.accessed} times, {unvouched:.0f} days without confirmation")
    return no(f"looked at {unseen:.0f} days ago")


def may_be_challenged(memory: Memory) -> bool:
    """Whether a rule may doubt it by itself; of what a person vouches for the contradiction is only shown."""
    return kept_by_itself(memory) != "pinned" and memory.verification is not Verification.USER_CONFIRMED


def is_since(other: Memory, belief: Memory) -> bool:
    """Whether it was said later, by somebody, elsewhere: a belief does not bear itself out."""
    later = other.happened_at > belief.happened_at and other.id != belief.id
    elsewhere = not belief.session or other.session != belief.session
    return later and elsewhere and other.source != "engine"


def weighed(belief: Memory, other: Memory, cosine: float | None, limits: SamenessLimits) -> ProbeEvidence:
    """What a later memory says about a belief."""
    old, new = NewStatement(belief), NewStatement(other)
    neighbour = Neighbour(belief, old, cosine)
    if because := opposing(new, neighbour, limits):
        return ProbeEvidence(other, Speaks.AGAINST, because)
    mine, theirs = ({(f.subject, f.predicate, f.object) for f in one.facts} for one in (old, new))
    if mine and mine <= theirs:
        return ProbeEvidence(other, Speaks.FOR, "states the same facts")
    if isinstance(decide(new, [neighbour], limits), Reinforce | Merge):
        return ProbeEvidence(other, Speaks.FOR, "says the same")
    return ProbeEvidence(other, Speaks.NEITHER, "says neither")


def outcome(found: Sequence[ProbeEvidence]) -> ProbeEvidence | None:
    """What decides: the latest that speaks for or against; None when nothing does."""
    telling = [one for one in found if one.speaks is not Speaks.NEITHER]
    return max(telling, key=lambda one: (one.memory.happened_at, one.memory.id), default=None)
