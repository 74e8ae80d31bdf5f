"""Self-knowledge: what the memory as a whole is like, in profiles, maps and a tree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import Any, Final

from engram.lazily import dataclass
from engram.maintain import tree
from engram.maintain.apply import AWAY, GUIDELINES, HOLD_BACK, UNDONE
from engram.maintain.step import Batch, Decision, Drop, Step, StepContext, grouped
from engram.maintain.support import in_words, keep
from engram.maintain.tree import PlaceKnowledge, census, forget
from engram.model.facts import EdgeType
from engram.model.maintenance import Carried, RunState
from engram.model.memory import Filters, Kind
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.rules.commitments import CLOSED_TAG
from engram.rules.doubt import GAP
from engram.rules.traits import REFERENCE, is_passing
from engram.text import re
from engram.text.cues import part_of_life
from engram.text.sentences import clauses
from engram.text.words import content_words, normalized

IDENTITY_BYTES = 8_192  # bytes over which reflections about oneself are compacted (files)
GUIDELINE_DAYS = 1.0  # days after which a decision has shown what it was worth
GUIDELINE_CASES = 5  # cases before anything is concluded from them

# ---------------------------------------------------------------- confidence
# The confidence map: memories come in; how well each thing they are about is known comes out.
#
# How much is known of it, how fresh that is, and how much of it is in doubt, each from 0 to 1; confidence
# is depth times freshness times what is not in doubt.


NAME: Final = "map"
ENOUGH: Final = 2.0
"""So many strong, trusted memories make a part of a life known to two thirds."""
HALF_LIFE_DAYS: Final = 180.0
"""What people are and like stays true for long: only after half a year without a word it is half as sure."""
MOST_GAPS: Final = 1_000
DAY_S: Final = 86_400.0


def plan_confidence_map(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A map for each place that has something to know; the last that asks what is in use."""
    yield from _maps(context)
    forget(context)


def _maps(context: StepContext) -> Iterator[Batch]:
    for scope, known in census(context).items():
        told = [one for one in known if one.category != REFERENCE]
        if not told:
            if context.tools.store.upkeep.sketch(scope, NAME, "") is not None:
                yield Batch((Decision("map.dropped", "there is nothing to know", (Drop(scope, NAME, ""),)),))
            continue
        gaps = _gaps(context, scope)
        domains = [_domain(context, label, some, gaps) for label, some in _by_subject(told)]
        coverage = sum(one["confidence"] * one["memories"] for one in domains) / len(told)
        body = {"domains": domains, "coverage": round(coverage, 3)}
        effects = keep(context, scope, NAME, "", body, sources=[one.id for one in told[:MOST_SOURCES]])
        if effects:
            why = f"{len(domains)} domains, coverage {coverage:.2f}"
            yield Batch((Decision("map.drawn", why, effects),))


OTHER: Final = "other things"
UNTOLD: Final = frozenset({"general", "fact", "moment", "entity"})
"""Categories that do not say what something is about."""
MOST_SOURCES: Final = 1_000
MOST_DOMAINS: Final = 16


def _by_subject(known: Sequence[PlaceKnowledge]) -> list[tuple[str, list[PlaceKnowledge]]]:
    """What is known by what it is about, the largest first; the small ones are among other things."""
    groups = grouped((_subject(one), one) for one in known)
    rest = groups.pop(OTHER, [])
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    rest += [one for _, some in ordered[MOST_DOMAINS:] for one in some]
    return [*ordered[:MOST_DOMAINS], *([(OTHER, rest)] if rest else [])]


def _subject(one: PlaceKnowledge) -> str:
    named = one.topics[0] if one.topics else part_of_life(one.text)
    return named or (OTHER if one.category in UNTOLD else one.category)


def _gaps(context: StepContext, scope: Scope) -> list[frozenset[str]]:
    """What is known not to be known: for each open gap the memories it comes from."""
    found = context.tools.store.upkeep.sketches(GAP, Access(scope, Role.AGENT), MOST_GAPS)
    return [frozenset((*one.sources, *one.body["memories"])) for one in found if one.scope == scope]


def _domain(
    context: StepContext, label: str, some: Sequence[PlaceKnowledge], gaps: Sequence[frozenset[str]]
) -> dict[str, Any]:
    held = sum(min(one.strength, 1.0) * one.trust for one in some)
    depth = 1.0 - math.exp(-held / ENOUGH)
    latest = max((max(one.at, one.used_at or one.at) for one in some), default=context.now)
    days = max(0.0, (context.now - latest).total_seconds() / DAY_S)
    freshness = 2.0 ** (-days / HALF_LIFE_DAYS)
    ids = {one.id for one in some}
    open_ = sum(not gap.isdisjoint(ids) for gap in gaps)
    uncertainty = min(1.0, (sum(one.disputed for one in some) + open_) / max(len(some), 1))
    return {
        "label": label,
        "memories": len(some),
        "depth": round(depth, 3),
        "freshness": round(freshness, 3),
        "uncertainty": round(uncertainty, 3),
        "confidence": round(depth * freshness * (1.0 - uncertainty), 3),
    }


# ---------------------------------------------------------------- guidelines
# Guidelines: what past runs decided and what came of it come in; how to shorten and let go comes out.
#
# A decision shows what it was worth after a while: taken back by a person, or what it put away was asked
# for, or nothing. What is kept shows it by being recalled or not, category by category. Nothing is
# concluded from few cases, and where there is nothing to read there are no guidelines: every rule works
# without them. A rule that should hold back makes nothing and puts nothing away there (`apply.py`) until
# those cases are older than the runs that are looked back on.


RUNS: Final = 50
"""Runs that are looked back on."""
LINES: Final = 2_000
"""Decisions of a run that are looked at."""
OFTEN, SELDOM = 0.5, 0.05
"""From this share of recalled memories on a category is kept whole; up to that it may be told by a label."""
REGRET: Final = 0.1
"""From this share of decisions that were taken back a rule should hold back."""


@dataclass(slots=True)
class Outcomes:
    """What came of a rule's decisions."""

    done: int = 0
    taken_back: int = 0
    used_since: int = 0

    @property
    def regret(self) -> float:
        """The share that somebody took back, or asked for although it was put away."""
        return (self.taken_back + self.used_since) / self.done if self.done else 0.0


def plan_guidelines(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Guidelines for each place."""
    rules = _rules(context)
    for scope, known in census(context).items():
        told = rules.get(scope, {})
        body = {"rules": _told(told), "categories": _categories(context, known)}
        if not any(body.values()) and context.tools.store.upkeep.sketch(scope, GUIDELINES, "") is None:
            continue
        effects = keep(context, scope, GUIDELINES, "", body)
        if effects:
            cases = sum(one.done for one in told.values())
            why = f"{len(body['rules'])} rules and {len(body['categories'])} categories, {cases} decisions"
            yield Batch((Decision("guidelines.learned", why, effects),))


def _rules(context: StepContext) -> dict[Scope, dict[str, Outcomes]]:
    """What became of the decisions of runs that are old enough, place by place and rule by rule."""
    until = context.now - timedelta(days=GUIDELINE_DAYS)
    store = context.tools.store.upkeep
    found: dict[Scope, dict[str, Outcomes]] = {}
    for run in store.runs(RUNS):
        if run.state is RunState.RUNNING or run.started_at > until:
            continue
        every = store.decided(run.id, 0, LINES)
        decided = [one for one in every if one.outcome is Carried.DONE and one.memory]
        keys = [Decision(one.rule, "", (), one.memory, one.related).key for one in decided]
        undone = store.judged(UNDONE, keys)
        memories = context.tools.store.memories
        known = memories.keys(list(dict.fromkeys(one.memory for one in decided)))
        read = {one.id: one for one in memories.read(list(known.values())).values()}
        for one, key in zip(decided, keys, strict=True):
            memory = read.get(one.memory)
            if memory is not None:
                outcomes = found.setdefault(memory.scope, {}).setdefault(one.rule, Outcomes())
                outcomes.done += 1
                outcomes.taken_back += key in undone
                used = memory.last_accessed
                asked_for = memory.status in AWAY and used is not None and used > run.started_at
                outcomes.used_since += key not in undone and asked_for
    return found


def _told(rules: Mapping[str, Outcomes]) -> list[dict[str, Any]]:
    return [
        {
            "rule": rule,
            "done": one.done,
            "taken_back": one.taken_back,
            "used_since": one.used_since,
            "advice": HOLD_BACK if one.regret >= REGRET else "go_on",
        }
        for rule, one in sorted(rules.items())
        if one.done >= GUIDELINE_CASES
    ]


def _categories(context: StepContext, known: Sequence[PlaceKnowledge]) -> list[dict[str, Any]]:
    """How much of what is kept is ever recalled, and in which form such memories are told."""
    settled = context.now - timedelta(days=GUIDELINE_DAYS)
    groups = grouped((one.category, one) for one in known if one.at <= settled)
    return [
        {"category": category, "kept": len(some), "recalled": used, "advice": _advice(used / len(some))}
        for category, some in sorted(groups.items())
        if len(some) >= GUIDELINE_CASES
        for used in [sum(one.accessed > 0 for one in some)]
    ]


def _advice(share: float) -> str:
    """In which form such memories are told when there is little room.

    >>> _advice(0.6), _advice(0.2), _advice(0.0)
    ('whole', 'summary', 'label')
    """
    if share >= OFTEN:
        return "whole"
    return "label" if share <= SELDOM else "summary"


# ---------------------------------------------------------------- identity
# Identity: reflections about oneself come in; all of them come out, or their gist when they grow too long.
#
# The memories themselves stay: what is compacted is what is shown.


IDENTITY_NAME: Final = "identity"
READ: Final = 500
"""Reflections that are read, the weightiest."""
BYTES_A_WORD: Final = 7
SHOWN: Final = 60
"""Reflections that a model is shown."""


def plan_identity(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """What each place knows about itself."""
    for scope, known in census(context).items():
        reflections = [one for one in known if one.is_reflection and not one.doubtful]
        own = sorted(reflections, key=lambda one: (not one.pinned, -one.importance, one.key))[:READ]
        if own:
            yield from _written(context, scope, own)
        elif context.tools.store.upkeep.sketch(scope, IDENTITY_NAME, "") is not None:
            yield Batch((Decision("identity.dropped", "nothing is left", (Drop(scope, IDENTITY_NAME, ""),)),))


def _written(context: StepContext, scope: Scope, own: Sequence[PlaceKnowledge]) -> Iterator[Batch]:
    read = context.tools.store.memories.read([one.key for one in own])
    whole = [read[one.key].content for one in own if one.key in read]
    size = sum(len(text.encode()) + 1 for text in whole)
    too_long = size > IDENTITY_BYTES
    text, shown = _compacted(context, scope, own) if too_long else ("\n".join(whole), own)
    body = {"text": text, "bytes": size, "compacted": too_long, "memories": len(own)}
    effects = keep(context, scope, IDENTITY_NAME, "", body, sources=[one.id for one in shown])
    if effects:
        rule = "identity.compacted" if too_long else "identity.kept"
        shown_bytes = f"{len(text.encode())} shown, {IDENTITY_BYTES} allowed"
        why = f"{size} bytes of {len(own)} reflections, {shown_bytes}"
        yield Batch((Decision(rule, why, effects),))


def _compacted(
    context: StepContext, scope: Scope, own: Sequence[PlaceKnowledge]
) -> tuple[str, Sequence[PlaceKnowledge]]:
    """A model's words for them, or as many key facts as there is room for, each said once."""
    shown = own[:SHOWN]
    known = context.tools.store.upkeep.sketch(scope, IDENTITY_NAME, "")
    if known is not None and known.body["compacted"] and set(known.sources) == {one.id for one in shown}:
        return known.body["text"], shown
    told = [one.text for one in shown]
    written = in_words(context, IDENTITY_NAME, told, IDENTITY_BYTES // BYTES_A_WORD, always=True)
    if written is not None and len(written.encode()) <= IDENTITY_BYTES:
        return written, shown
    said: dict[str, PlaceKnowledge] = {}
    left = IDENTITY_BYTES
    for one in own:
        size, words = len(one.text.encode()) + 1, normalized(one.text)
        if words not in said and size <= left:
            said[words] = one
            left -= size
    return "\n".join(one.text for one in said.values()), list(said.values())


# ---------------------------------------------------------------- profile
# The behavioural profile: memories come in; how somebody is and wants things comes out, in so many lines.
#
# Lines are taken by weight, section after section in turn, so that many preferences do not crowd out the
# one rule. Beside the lines stand habits in numbers: topics, languages, hours.


PROFILE_NAME: Final = "profile"
SECTIONS: Final = {
    "identity": ("identity",),
    "rules": ("constraint", "instruction"),
    "preferences": ("preference",),
    "principles": ("principle",),
    "corrections": ("correction",),
    "people": ("relationship", "person"),
    "skills": ("skill",),
    "decisions": ("decision",),
    "commitments": ("commitment",),
}
SECTION_OF: Final = {category: name for name, some in SECTIONS.items() for category in some}
HABITS: Final = 5
LEAST: Final = 3
"""Fewer memories are no habit."""


def plan_profiles(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A profile for each place that has something to say about somebody."""
    most = context.tools.config.knowledge.profile_lines
    for scope, everything in census(context).items():
        known = [one for one in everything if one.category != REFERENCE and one.kind is not Kind.CODEBASE]
        lines = _lines(_current(context, scope, known), most)
        if not lines and context.tools.store.upkeep.sketch(scope, "profile", "") is None:
            continue
        body = {
            "lines": [{"section": name, "text": one.statement, "memory": one.id} for name, one in lines],
            "habits": _habits(known),
        }
        effects = keep(context, scope, "profile", "", body, sources=[one.id for _, one in lines])
        if effects:
            yield Batch((Decision("profile.written", f"{len(lines)} lines of at most {most}", effects),))


def _current(context: StepContext, scope: Scope, known: Sequence[PlaceKnowledge]) -> list[PlaceKnowledge]:
    """What nobody has said a later word on, and no promise that is closed."""
    told = {one.key: one for one in known if one.category in SECTION_OF and CLOSED_TAG not in one.names}
    view = View(Access(scope, Role.AGENT), Filters())
    keys, updated = sorted(told), set()
    for start in range(0, len(keys), LOOKED_UP):
        links = context.tools.store.relations.links(keys[start : start + LOOKED_UP], {EdgeType.UPDATES}, view)
        ends = ((link.key, link.other) if link.forward else (link.other, link.key) for link in links)
        for new, old in ends:  # a later word is guessed to be one: it must be of the same sort
            if new in told and old in told and told[new].category in {told[old].category, "correction"}:
                updated.add(old)
    return [
        one
        for key, one in told.items()
        if not is_passing(one.text) and (key not in updated or len(list(clauses(one.text))) >= SEVERAL)
    ]


SEVERAL: Final = 3
"""A later word on so many things at once can hardly be one on all of them."""
LOOKED_UP: Final = 500
"""Memories whose edges are looked up together."""


def _lines(known: Sequence[PlaceKnowledge], most: int) -> list[tuple[str, PlaceKnowledge]]:
    """The weightiest of each section in turn, in the order of the sections."""
    sections: dict[str, list[PlaceKnowledge]] = {name: [] for name in SECTIONS}
    said: set[str] = set()
    for one in sorted(known, key=lambda one: one.weight, reverse=True):
        section = SECTION_OF.get(one.category)
        words = normalized(one.text)
        if section is None or one.disputed or words in said or len(sections[section]) >= most:
            continue
        if one.tells:
            said.add(words)
            sections[section].append(one)
    chosen: dict[str, list[PlaceKnowledge]] = {name: [] for name in SECTIONS}
    left = most
    for place in range(max(map(len, sections.values()))):
        for name, some in sections.items():
            if place < len(some) and left:
                chosen[name].append(some[place])
                left -= 1
    return [(name, one) for name, some in chosen.items() for one in some]


def _habits(known: Sequence[PlaceKnowledge]) -> dict[str, Any]:
    """What comes up most, in which languages, at which hours (UTC). No words of a memory."""
    return {
        "topics": _most(Counter(topic for one in known for topic in one.topics)),
        "languages": _most(Counter(language for one in known for language in one.languages)),
        "hours": sorted(int(hour) for hour in _most(Counter(f"{one.at.hour}" for one in known))),
    }


def _most(counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, count in ordered[:HABITS] if count >= LEAST]


# ---------------------------------------------------------------- topics
# Topics: memories come in; what they are about, counted, comes out, place by place.
#
# Some topics are of a list (`text/data/topics.txt`); the others are the memories' own: tags, names, and
# things that are spoken of again and again.


TOPICS_NAME: Final = "topics"
OWN_TOPICS: Final = 100
OWN_SOURCES: Final = 5_000
"""The memories whose words are in the list: as long as all of them can be noted, and erasing one drops it."""
AGAIN: Final = 3
"""A thing that so many memories speak of is a topic; of tags and names two are enough."""
TOO_COMMON: Final = 0.3
_WORD: Final = re.compile(r"[a-z][a-z-]{2,}")
_THING: Final = re.compile(rf"\b(?:the|an?|my|our|your|his|her|their|this|of)\s+({_WORD.pattern})\b")

Spoken = dict[str, list[PlaceKnowledge]]


def plan_topics(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A list of topics for each place."""
    for scope, known in census(context).items():
        listed = grouped((topic, one) for one in known for topic in one.topics)
        own, sources = _own(known, listed)
        topics = _counted({**listed, **own})
        body = {"memories": len(known), "topics": topics}
        effects = keep(context, scope, TOPICS_NAME, "", body, sources=sources)
        if effects:
            yield Batch((Decision("topics.counted", f"{len(topics)} topics", effects),))


def _own(known: Sequence[PlaceKnowledge], listed: Spoken) -> tuple[Spoken, list[str]]:
    """Topics that the memories name themselves, the commonest first, and the memories they come from."""
    named = Counter(name.casefold() for one in known for name in one.names)
    things = Counter(chain.from_iterable(set(_THING.findall(one.text.lower())) for one in known))
    repeated = {word for word, count in things.items() if count > 1}
    again = Counter(chain.from_iterable(repeated & _words(one) for one in known))
    most = max(AGAIN, TOO_COMMON * len(known))
    words = {word for word, count in again.items() if AGAIN <= count <= most and word not in named}
    # What more speak of than can be noted is never chosen: who they are need not be known.
    few = {name for name, count in named.items() if 1 < count <= OWN_SOURCES}
    words = {word for word in words if again[word] <= OWN_SOURCES and content_words(word)}
    found = grouped((name, one) for one in known for name in map(str.casefold, one.names) if name in few)
    found |= grouped((word, one) for one in known for word in words & _words(one))
    chosen: Spoken = {}
    sources: dict[str, None] = {}
    for name, some in sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if name in listed or len(sources) + len(some) > OWN_SOURCES:
            continue
        chosen[name] = some
        sources.update(dict.fromkeys(one.id for one in some))
        if len(chosen) == OWN_TOPICS:
            break
    return chosen, list(sources)


def _words(one: PlaceKnowledge) -> set[str]:
    return set(_WORD.findall(one.text.lower()))


def _counted(groups: Spoken) -> list[dict[str, Any]]:
    """Each topic with how many memories are about it, how weighty they are, and when it came up."""
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "topic": topic,
            "memories": len(some),
            "importance": round(sum(one.importance for one in some) / len(some), 3),
            "first": min(one.at for one in some).isoformat(),
            "last": max(one.at for one in some).isoformat(),
        }
        for topic, some in ordered
    ]


STAGE = "self_knowledge"
STEPS: tuple[Step, ...] = (
    Step(STAGE, TOPICS_NAME, plan_topics),
    Step(STAGE, PROFILE_NAME, plan_profiles),
    Step(STAGE, IDENTITY_NAME, plan_identity),
    Step(STAGE, GUIDELINES, plan_guidelines),
    Step(STAGE, tree.NAME, tree.plan_tree),
    Step(STAGE, NAME, plan_confidence_map),
)
