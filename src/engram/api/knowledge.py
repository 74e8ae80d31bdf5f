"""Knowledge: what consolidation worked out, for who may see the memories it was made of. `memory.knowledge`.

Everything here is made by `consolidate` and read as it was left; before the first run there is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engram.api.caller import PAGE_LIMIT, Noun, whole
from engram.model.context import Knowing
from engram.model.knowledge import (
    Abstraction,
    Behaviour,
    Box,
    Card,
    CategoryAdvice,
    CoreSummary,
    Domain,
    Gist,
    Guidelines,
    KnowledgeMap,
    Pattern,
    Reflections,
    RuleAdvice,
    Topic,
    Trace,
    Trait,
)
from engram.model.maintenance import Sketch
from engram.model.plain import value_from
from engram.model.scope import Scope
from engram.rules import screen
from engram.text import re

PLACES = 10_000
"""Places, or branches of their trees, that are looked at."""
LITTLE = 0.2
"""Up to this confidence a domain counts as hardly known."""
GAPS_TOLD = 3
_WORDS = re.compile(r"\W+")
Cards = list[Card]
Topics = list[Topic]
Boxes = list[Box]
Traces = list[Trace]
Patterns = list[Pattern]


class Knowledge(Noun):
    """What was learned from memories taken together. Hangs on the facade; safe to use from many threads."""

    def tree(self, *, scope: Scope | None = None) -> Abstraction:
        """Everything that is kept, at three distances: clusters, domains, one paragraph."""
        roots = self._sketches("tree", PLACES, scope)
        state = (self._caller.at(scope), *((root.scope, root.run, root.made_at) for root in roots))
        # The tree that was read last: every prompt may ask for it, and a run alone changes it.
        known: tuple[tuple[Any, ...], Abstraction] | None = self._tools.kept.get("tree")
        if known is None or known[0] != state:
            known = self._tools.kept["tree"] = (state, self._tree(roots, scope))
        return known[1]

    def profile(self, *, scope: Scope | None = None) -> Behaviour:
        """How somebody is and wants things, in few lines. Raises AccessDenied."""
        sketches = self._sketches("profile", PLACES, scope)
        traits = tuple(Trait(**line) for sketch in sketches for line in sketch.body["lines"])
        habits = [sketch.body["habits"] for sketch in sketches]
        return Behaviour(traits, *(_united(habits, name) for name in ("topics", "languages", "hours")))

    def identity(self, *, scope: Scope | None = None) -> Reflections:
        """What somebody says about themselves; its gist when it is long. Raises AccessDenied."""
        found = [sketch.body for sketch in self._sketches("identity", PLACES, scope)]
        return Reflections(
            "\n".join(one["text"] for one in found),
            sum(one["memories"] for one in found),
            sum(one["bytes"] for one in found),
            any(one["compacted"] for one in found),
        )

    def map(self, *, scope: Scope | None = None) -> KnowledgeMap:
        """How well each domain is known, the largest first. Raises AccessDenied."""
        sketches = self._sketches("map", PLACES, scope)
        domains = [Domain(**line) for sketch in sketches for line in sketch.body["domains"]]
        domains.sort(key=lambda one: (-one.memories, one.label))
        memories = sum(domain.memories for domain in domains)
        covered = sum(domain.confidence * domain.memories for domain in domains)
        return KnowledgeMap(tuple(domains), round(covered / memories, 3) if memories else 0.0)

    def card(self, name: str) -> Card | None:
        """The card of somebody or something, under any of its names; None when there is none."""
        from engram.api.browsing import known

        clean = " ".join(screen.readable("name", name).split())
        entity = known(clean, self._store.entities, self._caller.access) if clean else None
        key = (entity.name if entity is not None else clean).casefold()
        cards = [
            value_from(Card, sketch.body)
            for sketch in self._sketches("card", PAGE_LIMIT, None, key)
            if sketch.key == key
        ]
        return max(cards, key=lambda one: one.memories, default=None)

    def cards(self, *, prefix: str = "", limit: int = 50, scope: Scope | None = None) -> Cards:
        """Cards by name; those whose name begins so. Raises AccessDenied, InvalidInput."""
        most = whole("limit", limit, 1, PAGE_LIMIT)
        beginning = screen.readable("prefix", prefix).strip().casefold()
        return [value_from(Card, sketch.body) for sketch in self._sketches("card", most, scope, beginning)]

    def core(self, *, scope: Scope | None = None) -> CoreSummary:
        """What has proved itself, in a few lines. Raises AccessDenied."""
        sketches = self._sketches("core", PLACES, scope)
        return CoreSummary(
            "\n".join(sketch.body["text"] for sketch in sketches),
            tuple(line for sketch in sketches for line in sketch.body["lines"]),
            sum(sketch.body["memories"] for sketch in sketches),
        )

    def topics(self, *, scope: Scope | None = None) -> Topics:
        """What memories are about, the commonest topics first. Raises AccessDenied."""
        united: dict[str, list[Mapping[str, Any]]] = {}
        for sketch in self._sketches("topics", PLACES, scope):
            for line in sketch.body["topics"]:
                united.setdefault(line["topic"], []).append(line)
        found = [_topic(name, some) for name, some in united.items()]
        return sorted(found, key=lambda topic: (-topic.memories, topic.topic))

    def boxes(self, *, limit: int = 50, scope: Scope | None = None) -> Boxes:
        """What was going on together, the latest first. Raises AccessDenied, InvalidInput."""
        most = whole("limit", limit, 1, PAGE_LIMIT)
        rows = self._sketches("shelf", PLACES, scope)
        keys = [(key, row.scope) for row in rows for key, *_ in row.body["boxes"][-most:]]
        keys.sort(key=lambda pair: (pair[0], pair[1].parts), reverse=True)
        store = self._store.upkeep
        sketches = (store.sketch(place, "box", key) for key, place in keys[:most])
        return [
            value_from(
                Box,
                {**sketch.body, "started": sketch.body["from"], "ended": sketch.body["to"]},
                key=sketch.key,
                title=sketch.title,
            )
            for sketch in sketches
            if sketch is not None
        ]

    def traces(self, *, limit: int = 50, scope: Scope | None = None) -> Traces:
        """Threads of boxes about the same, the one that was last taken up first."""
        found = [
            value_from(Trace, sketch.body, key=sketch.key, title=sketch.title)
            for sketch in self._sketches("trace", PLACES, scope)
        ]
        return sorted(found, key=lambda trace: trace.last, reverse=True)[
            : whole("limit", limit, 1, PAGE_LIMIT)
        ]

    def patterns(self, *, limit: int = 50, scope: Scope | None = None) -> Patterns:
        """What similar episodes have in common, the most repeated first."""
        found = [
            value_from(Pattern, sketch.body, memory=sketch.key)
            for sketch in self._sketches("schema", PLACES, scope)
        ]
        ordered = sorted(found, key=lambda pattern: (-pattern.episodes, pattern.memory))
        return ordered[: whole("limit", limit, 1, PAGE_LIMIT)]

    def guidelines(self, *, scope: Scope | None = None) -> Guidelines:
        """What past runs and recalls teach about shortening and letting go. Raises AccessDenied."""
        found = [sketch.body for sketch in self._sketches("guidelines", PLACES, scope)]
        return Guidelines(
            tuple(RuleAdvice(**line) for one in found for line in one["rules"]),
            tuple(CategoryAdvice(**line) for one in found for line in one["categories"]),
        )

    def knowing(self, about: str, *, scope: Scope | None = None) -> Knowing | None:
        """What is not known of what a question is about, by gaps and the map; None where neither tells."""
        from engram.text.kinds import topics

        asked = topics(screen.readable("about", about))
        gap = self._gap(about, scope)
        if gap is not None:
            return gap
        by_label = {one.label: one for one in self.map(scope=scope).domains}
        for topic in asked:
            domain = by_label.get(topic)
            if domain is not None and domain.confidence <= LITTLE:
                return Knowing(topic, unknown=True)
        return None

    # ------------------------------------------------------------ inside

    def _gap(self, about: str, scope: Scope | None) -> Knowing | None:
        """The gaps about the first name in a question that has any."""
        from engram.rules.doubt import GAP

        asked = f" {_WORDS.sub(' ', about.casefold())} "
        open_: dict[str, list[str]] = {}
        for sketch in self._sketches(GAP, PAGE_LIMIT, scope):
            name = str(sketch.body["about"])
            if name and f" {_WORDS.sub(' ', name.casefold())} " in asked:
                open_.setdefault(name, []).append(
                    str(sketch.body["expects"] or sketch.body["question"]).rstrip("?")
                )
        if not open_:
            return None
        name = max(open_, key=len)
        return Knowing(name, gaps=tuple(dict.fromkeys(open_[name]))[:GAPS_TOLD])

    def _sketches(self, kind: str, limit: int, scope: Scope | None, prefix: str = "") -> list[Sketch]:
        return self._store.upkeep.sketches(kind, self._caller.at(scope), limit, prefix)

    def _tree(self, roots: list[Sketch], scope: Scope | None) -> Abstraction:
        if not roots:
            return Abstraction()
        branches = {
            (sketch.scope, sketch.key): sketch for sketch in self._sketches("branch", PLACES * 10, scope)
        }
        clusters, domains = [], []
        for root in roots:
            for domain in root.body["domains"]:
                keys = [(root.scope, key) for key in domain["branches"]]
                sketches = [branches[key] for key in keys if key in branches]
                clusters += [Gist(sketch.body["text"], sketch.sources) for sketch in sketches]
                domains.append(
                    Gist(domain["text"], tuple(id_ for sketch in sketches for id_ in sketch.sources))
                )
        return Abstraction(
            tuple(clusters), tuple(domains), " ".join(sketch.body["paragraph"] for sketch in roots)
        )


def _united(habits: list[Mapping[str, Any]], name: str) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(value for habit in habits for value in habit[name]))


def _topic(name: str, lines: list[Mapping[str, Any]]) -> Topic:
    count = sum(line["memories"] for line in lines)
    weight = sum(line["importance"] * line["memories"] for line in lines) / count
    first, last = min(line["first"] for line in lines), max(line["last"] for line in lines)
    return Topic(name, count, round(weight, 3), datetime.fromisoformat(first), datetime.fromisoformat(last))
