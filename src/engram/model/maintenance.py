"""A verdict: what a rule says about a memory, and why; it becomes the rule and the reason of an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, Final, NamedTuple

from engram.lazily import dataclass
from engram.model.scope import Scope

# ---------------------------------------------------------------- upkeep
# Upkeep: what time and the engine make of memories. Runs, what each decided, judgements, sketches.


LISTED: Final = 1_000
"""Decisions a report lists unless the caller says."""
Progress = Callable[[int, int], None]
"""Hears how many steps of how many are done."""


class RunKind(StrEnum):
    """What a run of upkeep is about."""

    CONSOLIDATE = "consolidate"
    DREAM = "dream"
    AUDIT = "audit"
    DRIFT = "drift"
    REREAD = "reread"
    IMPORT = "import"
    """Memories of elsewhere, brought in together."""


class RunState(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    DONE = "done"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of upkeep. All its rules look at the clock of its beginning, also when it goes on later."""

    id: str
    """`RUN-YYYYMMDD-NNN`, counted within the day."""
    kind: RunKind
    started_at: datetime
    actor: str = "engine"
    state: RunState = RunState.RUNNING
    finished_at: datetime | None = None
    step: str = ""
    """The step that is under way; a run that was cut off goes on there."""
    cursor: str = ""
    """How far that step has come, in its own words."""


class Carried(StrEnum):
    """What became of a decision."""

    DONE = "done"
    LEFT = "left"
    """The memory had changed meanwhile, or a person has taken such a change back before."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of a run as its report tells it. It never holds a memory's words."""

    number: int
    step: str
    rule: str
    why: str
    memory: str = ""
    related: str = ""
    outcome: Carried = Carried.DONE
    also: Mapping[str, Any] = field(default_factory=dict)
    """What was done beside changing records, to be taken back by."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a rule decided something in a run."""

    step: str
    rule: str
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did: counts by rule, and each decision."""

    run: Run
    tallies: tuple[Tally, ...] = ()
    decided: tuple[Decided, ...] = ()
    dry: bool = False
    """Whether it was carried out on a copy that is gone."""
    more: bool = False
    """Whether there are more decisions than are listed."""

    @property
    def changes(self) -> int:
        """How many decisions were carried out."""
        return sum(tally.count for tally in self.tallies)

    def markdown(self, zone: tzinfo = UTC) -> str:
        """The report as a page for people, on the clocks of their zone."""
        run = self.run
        title = f"# {run.kind.value.capitalize()} {run.id}{' (dry run)' if self.dry else ''}"
        at = run.started_at.astimezone(zone)
        began = f"Began {at:%Y-%m-%d %H:%M} {at.tzname()}, {run.state.value}, {self.changes:,} changes."
        counts = [f"| {one.step} | {one.rule} | {one.count:,} |" for one in self.tallies]
        lines = [
            f"| {one.number} | {one.rule} | {one.memory} | {one.related} | {one.why} | {one.outcome.value} |"
            for one in self.decided
        ]
        parts = [title, began]
        if counts:
            parts.append("\n".join(("| step | rule | times |", "|---|---|---|", *counts)))
        if lines:
            head = ("| | rule | memory | other | why | outcome |", "|---|---|---|---|---|---|")
            parts += ["## Each decision", "\n".join((*head, *lines))]
        return "\n\n".join((*parts, "More decisions are not listed here.\n" if self.more else ""))


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a run back did."""

    run: Run
    restored: int
    """Records that are as they were before."""
    left: tuple[str, ...] = ()
    """Memories that have changed since, or were erased, and stay as they are."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided about a memory or a pair, so that it is not asked again."""

    kind: str
    """What the question was: gate, triage, merge, reconcile, undone …"""
    key: str
    verdict: str
    at: datetime
    again_at: datetime | None = None
    """When it may be asked again; None: never."""
    times: int = 1


SETTLED: Final = "settled"
"""The kind of judgement that says that two memories contradict each other no longer, by a person's word."""


def pair_key(one: str, other: str) -> str:
    """What two memories are known by together, whichever comes first.

    >>> pair_key("b", "a")
    'a+b'
    """
    return "+".join(sorted((one, other)))


class WhoIsNamed(NamedTuple):
    """A memory as far as many passes need it: where it belongs, who said it and whom it names."""

    scope: Scope
    speaker: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sketch:
    """Something worked out from memories that can be worked out anew: a profile, a map, a tree's branch.

    Made of memories of one very scope; when one of its sources is erased, the sketch goes as well.
    """

    scope: Scope
    kind: str
    key: str
    body: Mapping[str, Any]
    made_at: datetime
    title: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the memories it was made of, as far as it holds words of theirs."""
    run: str = ""


# ---------------------------------------------------------------- drift
# Drift: what memories claim about a directory, what is there, and what has come apart.


class RefKind(StrEnum):
    """What a reference names."""

    FILE = "file"
    SYMBOL = "symbol"
    VERSION = "version"
    URL = "url"


class RefState(StrEnum):
    """Whether what is named is there."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"
    """The directory cannot tell: it belongs elsewhere, or not everything could be looked at."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Something outside that a text names."""

    kind: RefKind
    name: str
    version: str = ""
    """What is said about it, of a version."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """What is in a directory, as far as it was looked at."""

    root: str
    paths: frozenset[str] = frozenset()
    """Files, relative to the root, with forward slashes."""
    words: frozenset[str] = frozenset()
    """Every identifier in the files."""
    versions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What is built here and what it needs, by name in lower case."""
    complete: bool = True
    """Whether every file was looked at; if not, nothing is said to be missing by its name alone."""
    there: Callable[[str], bool] = field(default=lambda _path: False, compare=False)
    """Whether a path below the root exists, also one that was left out."""
    tails: frozenset[str] = frozenset()
    """Every file and folder by the last parts of its path, from its name alone to the whole."""
    folders: frozenset[str] = frozenset()
    """The names of folders."""
    endings: frozenset[str] = frozenset()
    """The endings of files, without the dot."""

    def seen(self) -> Landscape:
        """The same with what follows from the paths.

        >>> sorted(Landscape("/x", frozenset({"src/a.py"})).seen().tails)
        ['a.py', 'src', 'src/a.py']
        """
        tails: set[str] = set()
        folders: set[str] = set()
        for path in self.paths:
            parts = path.split("/")
            folders.update(parts[:-1])
            for end in range(1, len(parts) + 1):
                tails.update("/".join(parts[start:end]) for start in range(end))
        endings = frozenset(path.rpartition(".")[2] for path in self.paths if "." in path)
        return replace(self, tails=frozenset(tails), folders=frozenset(folders), endings=endings)


@dataclass(frozen=True, slots=True)
class Drifted:
    """A reference of a memory that leads nowhere any more."""

    memory: str
    kind: RefKind
    reference: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What a look at a directory found. It holds words of memories: it is for the caller and is not kept."""

    directory: str
    files: int
    complete: bool
    memories: int
    """How many memories refer to anything that could be checked."""
    references: int
    """How many references could be checked."""
    dead: tuple[Drifted, ...] = ()
    run: Report | None = None
    """What was changed, when the caller asked for it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a rule applies. It is as true as its answer.

    >>> (
    ...     bool(Verdict(True, "buffer reinforced", "reinforcement 5.0 >= 5")),
    ...     bool(Verdict(False, "", "too young")),
    ... )
    (True, False)
    """

    yes: bool
    rule: str
    """The rule that decided; empty when none did."""
    why: str
    """The numbers in words."""

    def __bool__(self) -> bool:
        return self.yes


def no(why: str, rule: str = "") -> Verdict:
    """A verdict that says no."""
    return Verdict(yes=False, rule=rule, why=why)


def yes(rule: str, why: str) -> Verdict:
    """A verdict that says yes."""
    return Verdict(yes=True, rule=rule, why=why)
