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
from engram.maintain.support import keep_sketch, model_summary
from engram.maintain.tree import CensusRow, census, forget
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
    for scope, rows in census(context).items():
        described = [row for row in rows if row.category != REFERENCE]
        if not described:
            if context.tools.store.upkeep.sketch(scope, NAME, "") is not None:
                yield Batch((Decision("map.dropped", "there is nothing to know", (Drop(scope, NAME, ""),)),))
            continue
        gaps = _gaps(context, scope)
        domains = [_domain(context, label, group, gaps) for label, group in _by_subject(described)]
        coverage = sum(domain["confidence"] * domain["memories"] for domain in domains) / len(described)
        body = {"domains": domains, "coverage": round(coverage, 3)}
        sources = [row.id for row in described[:MOST_SOURCES]]
        effects = keep_sketch(context, scope, NAME, "", body, sources=sources)
        if effects:
            why = f"{len(domains)} domains, coverage {coverage:.2f}"
            yield Batch((Decision("map.drawn", why, effects),))


OTHER: Final = "other things"
UNTOLD: Final = frozenset({"general", "fact", "moment", "entity"})
"""Categories that do not say what something is about."""
MOST_SOURCES: Final = 1_000
MOST_DOMAINS: Final = 16


def _by_subject(rows: Sequence[CensusRow]) -> list[tuple[str, list[CensusRow]]]:
    """What is known by what it is about, the largest first; the small ones are among other things."""
    groups = grouped((_subject(row), row) for row in rows)
    rest = groups.pop(OTHER, [])
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    rest += [row for _, group in ordered[MOST_DOMAINS:] for row in group]
    return [*ordered[:MOST_DOMAINS], *([(OTHER, rest)] if rest else [])]


def _subject(row: CensusRow) -> str:
    named = row.topics[0] if row.topics else part_of_life(row.text)
    return named or (OTHER if row.category in UNTOLD else row.category)


def _gaps(context: StepContext, scope: Scope) -> list[frozenset[str]]:
    """What is known not to be known: for each open gap the memories it comes from."""
    sketches = context.tools.store.upkeep.sketches(GAP, Access(scope, Role.AGENT), MOST_GAPS)
    return [frozenset((*gap.sources, *gap.body["memories"])) for gap in sketches if gap.scope == scope]


def _domain(
    context: StepContext, label: str, rows: Sequence[CensusRow], gaps: Sequence[frozenset[str]]
) -> dict[str, Any]:
    held = sum(min(row.strength, 1.0) * row.trust for row in rows)
    depth = 1.0 - math.exp(-held / ENOUGH)
    latest = max((max(row.at, row.used_at or row.at) for row in rows), default=context.now)
    days = max(0.0, (context.now - latest).total_seconds() / DAY_S)
    freshness = 2.0 ** (-days / HALF_LIFE_DAYS)
    ids = {row.id for row in rows}
    open_ = sum(not gap.isdisjoint(ids) for gap in gaps)
    uncertainty = min(1.0, (sum(row.disputed for row in rows) + open_) / max(len(rows), 1))
    return {
        "label": label,
        "memories": len(rows),
        "depth": round(depth, 3),
        "freshness": round(freshness, 3),
        "uncertainty": round(uncertainty, 3),
        "confidence": round(depth * freshness * (1.0 - uncertainty), 3),
    }


# ---------------------------------------------------------------- guidelines
# Guidelines: decisions of past runs and their outcomes come in; which rules to hold back comes out.
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
"""From this share of recalled memories on a category is kept whole; up to that a label may stand for it."""
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
    for scope, rows in census(context).items():
        outcomes = rules.get(scope, {})
        body = {"rules": _rule_lines(outcomes), "categories": _categories(context, rows)}
        if not any(body.values()) and context.tools.store.upkeep.sketch(scope, GUIDELINES, "") is None:
            continue
        effects = keep_sketch(context, scope, GUIDELINES, "", body)
        if effects:
            cases = sum(outcome.done for outcome in outcomes.values())
            why = f"{len(body['rules'])} rules and {len(body['categories'])} categories, {cases} decisions"
            yield Batch((Decision("guidelines.learned", why, effects),))


def _rules(context: StepContext) -> dict[Scope, dict[str, Outcomes]]:
    """What became of the decisions of runs that are old enough, place by place and rule by rule."""
    until = context.now - timedelta(days=GUIDELINE_DAYS)
    store = context.tools.store.upkeep
    by_scope: dict[Scope, dict[str, Outcomes]] = {}
    for run in store.runs(RUNS):
        if run.state is RunState.RUNNING or run.started_at > until:
            continue
        lines = store.decided(run.id, 0, LINES)
        lines_done = [line for line in lines if line.outcome is Carried.DONE and line.memory]
        keys = [Decision(line.rule, "", (), line.memory, line.related).key for line in lines_done]
        undone = store.judged(UNDONE, keys)
        memories = context.tools.store.memories
        memory_keys = memories.keys(list(dict.fromkeys(line.memory for line in lines_done)))
        read = {memory.id: memory for memory in memories.read(list(memory_keys.values())).values()}
        for line, key in zip(lines_done, keys, strict=True):
            memory = read.get(line.memory)
            if memory is not None:
                outcomes = by_scope.setdefault(memory.scope, {}).setdefault(line.rule, Outcomes())
                outcomes.done += 1
                outcomes.taken_back += key in undone
                used = memory.last_accessed
                asked_for = memory.status in AWAY and used is not None and used > run.started_at
                outcomes.used_since += key not in undone and asked_for
    return by_scope


def _rule_lines(rules: Mapping[str, Outcomes]) -> list[dict[str, Any]]:
    return [
        {
            "rule": rule,
            "done": outcomes.done,
            "taken_back": outcomes.taken_back,
            "used_since": outcomes.used_since,
            "advice": HOLD_BACK if outcomes.regret >= REGRET else "go_on",
        }
        for rule, outcomes in sorted(rules.items())
        if outcomes.done >= GUIDELINE_CASES
    ]


def _categories(context: StepContext, rows: Sequence[CensusRow]) -> list[dict[str, Any]]:
    """The share of each category that is ever recalled, and in which form to show its memories."""
    settled = context.now - timedelta(days=GUIDELINE_DAYS)
    groups = grouped((row.category, row) for row in rows if row.at <= settled)
    return [
        {"category": category, "kept": len(group), "recalled": used, "advice": _advice(used / len(group))}
        for category, group in sorted(groups.items())
        if len(group) >= GUIDELINE_CASES
        for used in [sum(row.accessed > 0 for row in group)]
    ]


def _advice(share: float) -> str:
    """The form in which such memories are shown when there is little room.

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
    for scope, rows in census(context).items():
        reflections = [row for row in rows if row.is_reflection and not row.doubtful]
        own = sorted(reflections, key=lambda row: (not row.pinned, -row.importance, row.key))[:READ]
        if own:
            yield from _written(context, scope, own)
        elif context.tools.store.upkeep.sketch(scope, IDENTITY_NAME, "") is not None:
            yield Batch((Decision("identity.dropped", "nothing is left", (Drop(scope, IDENTITY_NAME, ""),)),))


def _written(context: StepContext, scope: Scope, own: Sequence[CensusRow]) -> Iterator[Batch]:
    read = context.tools.store.memories.read([row.key for row in own])
    whole = [read[row.key].content for row in own if row.key in read]
    size = sum(len(text.encode()) + 1 for text in whole)
    too_long = size > IDENTITY_BYTES
    text, shown = _compacted(context, scope, own) if too_long else ("\n".join(whole), own)
    body = {"text": text, "bytes": size, "compacted": too_long, "memories": len(own)}
    effects = keep_sketch(context, scope, IDENTITY_NAME, "", body, sources=[row.id for row in shown])
    if effects:
        rule = "identity.compacted" if too_long else "identity.kept"
        shown_bytes = f"{len(text.encode())} shown, {IDENTITY_BYTES} allowed"
        why = f"{size} bytes of {len(own)} reflections, {shown_bytes}"
        yield Batch((Decision(rule, why, effects),))


def _compacted(
    context: StepContext, scope: Scope, own: Sequence[CensusRow]
) -> tuple[str, Sequence[CensusRow]]:
    """A model's words for them, or as many key facts as there is room for, each said once."""
    shown = own[:SHOWN]
    former = context.tools.store.upkeep.sketch(scope, IDENTITY_NAME, "")
    if former is not None and former.body["compacted"] and set(former.sources) == {row.id for row in shown}:
        return former.body["text"], shown
    texts = [row.text for row in shown]
    written = model_summary(context, IDENTITY_NAME, texts, IDENTITY_BYTES // BYTES_A_WORD, always=True)
    if written is not None and len(written.encode()) <= IDENTITY_BYTES:
        return written, shown
    chosen: dict[str, CensusRow] = {}
    budget = IDENTITY_BYTES
    for row in own:
        size, words = len(row.text.encode()) + 1, normalized(row.text)
        if words not in chosen and size <= budget:
            chosen[words] = row
            budget -= size
    return "\n".join(row.text for row in chosen.values()), list(chosen.values())


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
SECTION_OF: Final = {category: name for name, categories in SECTIONS.items() for category in categories}
HABITS: Final = 5
LEAST: Final = 3
"""Fewer memories are no habit."""


def plan_profiles(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A profile for each place that has something to say about somebody."""
    most = context.tools.config.knowledge.profile_lines
    for scope, everything in census(context).items():
        rows = [row for row in everything if row.category != REFERENCE and row.kind is not Kind.CODEBASE]
        lines = _lines(_current(context, scope, rows), most)
        if not lines and context.tools.store.upkeep.sketch(scope, "profile", "") is None:
            continue
        body = {
            "lines": [{"section": name, "text": row.statement, "memory": row.id} for name, row in lines],
            "habits": _habits(rows),
        }
        effects = keep_sketch(context, scope, "profile", "", body, sources=[row.id for _, row in lines])
        if effects:
            yield Batch((Decision("profile.written", f"{len(lines)} lines of at most {most}", effects),))


def _current(context: StepContext, scope: Scope, rows: Sequence[CensusRow]) -> list[CensusRow]:
    """What nobody has said a later word on, and no promise that is closed."""
    by_key = {row.key: row for row in rows if row.category in SECTION_OF and CLOSED_TAG not in row.names}
    view = View(Access(scope, Role.AGENT), Filters())
    keys, updated = sorted(by_key), set()
    for start in range(0, len(keys), LOOKED_UP):
        links = context.tools.store.relations.links(keys[start : start + LOOKED_UP], {EdgeType.UPDATES}, view)
        ends = ((link.key, link.other) if link.forward else (link.other, link.key) for link in links)
        for new, old in ends:  # a later word is guessed to be one: it must be of the same sort
            same_sort = {by_key[old].category, "correction"} if old in by_key else set()
            if new in by_key and by_key[new].category in same_sort:
                updated.add(old)
    return [
        row
        for key, row in by_key.items()
        if not is_passing(row.text) and (key not in updated or len(list(clauses(row.text))) >= SEVERAL)
    ]


SEVERAL: Final = 3
"""A later word on so many things at once can hardly be one on all of them."""
LOOKED_UP: Final = 500
"""Memories whose edges are looked up together."""


def _lines(rows: Sequence[CensusRow], most: int) -> list[tuple[str, CensusRow]]:
    """The weightiest of each section in turn, in the order of the sections."""
    sections: dict[str, list[CensusRow]] = {name: [] for name in SECTIONS}
    texts_taken: set[str] = set()
    for row in sorted(rows, key=lambda row: row.weight, reverse=True):
        section = SECTION_OF.get(row.category)
        words = normalized(row.text)
        if section is None or row.disputed or words in texts_taken or len(sections[section]) >= most:
            continue
        if row.says_something:
            texts_taken.add(words)
            sections[section].append(row)
    chosen: dict[str, list[CensusRow]] = {name: [] for name in SECTIONS}
    budget = most
    for rank in range(max(map(len, sections.values()))):
        for name, group in sections.items():
            if rank < len(group) and budget:
                chosen[name].append(group[rank])
                budget -= 1
    return [(name, row) for name, group in chosen.items() for row in group]


def _habits(rows: Sequence[CensusRow]) -> dict[str, Any]:
    """What comes up most, in which languages, at which hours (UTC). No words of a memory."""
    return {
        "topics": _most(Counter(topic for row in rows for topic in row.topics)),
        "languages": _most(Counter(language for row in rows for language in row.languages)),
        "hours": sorted(int(hour) for hour in _most(Counter(f"{row.at.hour}" for row in rows))),
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

Spoken = dict[str, list[CensusRow]]


def plan_topics(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A list of topics for each place."""
    for scope, rows in census(context).items():
        listed = grouped((topic, row) for row in rows for topic in row.topics)
        own, sources = _own(rows, listed)
        topics = _counted({**listed, **own})
        body = {"memories": len(rows), "topics": topics}
        effects = keep_sketch(context, scope, TOPICS_NAME, "", body, sources=sources)
        if effects:
            yield Batch((Decision("topics.counted", f"{len(topics)} topics", effects),))


def _own(rows: Sequence[CensusRow], listed: Spoken) -> tuple[Spoken, list[str]]:
    """Topics that the memories name themselves, the commonest first, and the memories they come from."""
    named = Counter(name.casefold() for row in rows for name in row.names)
    things = Counter(chain.from_iterable(set(_THING.findall(row.text.lower())) for row in rows))
    repeated = {word for word, count in things.items() if count > 1}
    again = Counter(chain.from_iterable(repeated & _words(row) for row in rows))
    most = max(AGAIN, TOO_COMMON * len(rows))
    words = {word for word, count in again.items() if AGAIN <= count <= most and word not in named}
    # What more speak of than can be noted is never chosen: who they are need not be known.
    few = {name for name, count in named.items() if 1 < count <= OWN_SOURCES}
    words = {word for word in words if again[word] <= OWN_SOURCES and content_words(word)}
    groups = grouped((name, row) for row in rows for name in map(str.casefold, row.names) if name in few)
    groups |= grouped((word, row) for row in rows for word in words & _words(row))
    chosen: Spoken = {}
    sources: dict[str, None] = {}
    for name, group in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if name in listed or len(sources) + len(group) > OWN_SOURCES:
            continue
        chosen[name] = group
        sources.update(dict.fromkeys(row.id for row in group))
        if len(chosen) == OWN_TOPICS:
            break
    return chosen, list(sources)


def _words(row: CensusRow) -> set[str]:
    return set(_WORD.findall(row.text.lower()))


def _counted(groups: Spoken) -> list[dict[str, Any]]:
    """Each topic with how many memories are about it, how weighty they are, and when it came up."""
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "topic": topic,
            "memories": len(group),
            "importance": round(sum(row.importance for row in group) / len(group), 3),
            "first": min(row.at for row in group).isoformat(),
            "last": max(row.at for row in group).isoformat(),
        }
        for topic, group in ordered
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
