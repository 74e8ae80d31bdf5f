"""Asking: how far a model may be asked in a run, and what it says about memories that are weighed one by one.

Off: rules decide. Auto: rules decide what they are sure of, a model the uncertain middle. Full: a model
decides, rules only where it gives no answer. What is secret is never shown to a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engram.lifecycle.joining import Compared
from engram.lifecycle.review import Decision as Outcome
from engram.lifecycle.review import Review
from engram.maintain.room import Room
from engram.model.axes import Tier
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.model.upkeep import Judgement
from engram.ports import Alone

Ask = Callable[[Sequence[str]], tuple[bool, ...] | None]
Weighed = tuple[Memory, Review]


def level(room: Room) -> str:
    """How far a model may be asked: off, auto or full; off when there is none."""
    return "off" if isinstance(room.tools.advisor, Alone) else room.tools.config.llm.level


def may_be_shown(*memories: Memory) -> bool:
    """Whether a model may see these memories."""
    return all(one.tier is Tier.CLEAR for one in memories)


@dataclass(slots=True)
class Weighing:
    """Asks a model about memories, so many of each namespace in a run."""

    ask: Ask
    most: int
    level: str
    spent: Counter[str] = field(default_factory=Counter)

    def outcomes(self, weighed: Sequence[Weighed]) -> Iterator[tuple[Memory, bool, str]]:
        """Of each memory yes or no, and why. Those that have to wait for the next run are left out."""
        unsure = [(one, review) for one, review in weighed if self._asks(one, review)]
        for one, review in weighed:
            if not self._asks(one, review):
                yield one, bool(review.by_rule), review.by_rule.why
        for group in _by_scope(unsure).values():
            yield from self._asked(group)

    def _asks(self, memory: Memory, review: Review) -> bool:
        if self.level == "off" or not may_be_shown(memory):
            return False
        return self.level == "full" or review.decision is Outcome.ASK

    def _asked(self, group: Sequence[Weighed]) -> Iterator[tuple[Memory, bool, str]]:
        namespace = group[0][0].scope.namespace
        now = group[: max(0, self.most - self.spent[namespace])]
        self.spent[namespace] += len(now)
        answers = self.ask([one.content for one, _ in now]) if now else ()
        for place, (one, review) in enumerate(now):
            if answers is None:
                yield one, bool(review.by_rule), review.by_rule.why
            else:
                said = "yes" if answers[place] else "no"
                yield one, answers[place], f"a model says {said}, {review.score.told()}"


@dataclass(slots=True)
class Questions:
    """How a step judges pairs: under which name it remembers, and how often it may still ask a model."""

    kind: str
    left: int
    level: str
    answered: list[Judgement] = field(default_factory=list)
    """What was answered about pairs of this slice, to be remembered."""
    postponed: set[str] = field(default_factory=set)
    """Ids of memories of pairs that could not be asked about in this run."""
    compared: Compared = field(default_factory=Compared)
    """What rules say about pairs."""

    def may_ask(self, *memories: Memory) -> bool:
        """Whether a model may be asked about these, and is: each call counts. What must wait is noted."""
        if self.level == "off" or not may_be_shown(*memories):
            return False
        if self.left <= 0:
            self.postponed |= {one.id for one in memories}
            return False
        self.left -= 1
        return True


def _by_scope(weighed: Iterable[Weighed]) -> dict[Scope, list[Weighed]]:
    groups: dict[Scope, list[Weighed]] = {}
    for one in weighed:
        groups.setdefault(one[0].scope, []).append(one)
    return groups
