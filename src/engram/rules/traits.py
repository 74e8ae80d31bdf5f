"""Traits: a memory comes in; what the rules want to know before they weigh it comes out, trait by trait."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from engram.config import Config
from engram.model.clock import written_moment
from engram.model.memory import TAG_LIMIT, Kind, Memory, Policy, Priority, Status, Verification
from engram.model.session import LoopState
from engram.text import facts, lexicon, names, re
from engram.text.cues import slots_told
from engram.text.statement import USER

if TYPE_CHECKING:
    from engram.model.capture import Draft

USUAL = Config()
TALK: Final = "session"
"""The source of what was taken out of talk."""
EXPORTS: Final = frozenset({"chatgpt", "claude", "messages"})
"""What the sessions of chat exports begin with: who brings one in wants to keep what was said in it."""
EXTRACTED: Final = "auto-extract"
"""A tag of imports: another tool took it out of talk."""
DOCUMENT: Final = "document:"
"""What the sources of documents begin with."""
REFERENCE: Final = "reference"
"""The category of what a document says: found and cited, but nothing the user said of themselves."""
SESSION_NOTES: Final = frozenset({"session", "session-note"})
DISTILLED: Final = frozenset({"distilled", "auto-distilled"})
SYNTHESIS: Final = "synthesis"
DRAWN: Final = frozenset({"pattern", "inferred", "procedure", SYNTHESIS})
"""Tags of what consolidation drew from several memories together."""
LESSONS: Final = frozenset({"lesson"})
RESOLVED: Final = frozenset(state.value for state in LoopState if not state.is_open)
"""What `details["state"]` says of a commitment that nobody waits for any more."""


def protected(memory: Memory, config: Config = USUAL) -> str:
    """Why forgetting may do nothing to a memory; empty when it may.

    >>> day = datetime(2026, 1, 1)
    >>> protected(Memory("1", "Hi", "h", day, day, pinned=True)), protected(Memory("1", "Hi", "h", day, day))
    ('pinned', '')
    """
    if held := kept_by_itself(memory):
        return held
    if memory.priority in (Priority.P0, Priority.P1):
        return f"priority {memory.priority}"
    kept = _listed(config.forgetting.protected)
    return f"category {memory.category}" if memory.category in kept else ""


def kept_by_itself(memory: Memory) -> str:
    """Why a memory stays whatever becomes of it: a person asked for it, or it tells how to do something."""
    if memory.pinned:
        return "pinned"
    if memory.policy is Policy.PROTECTED:
        return "policy protected"
    return "procedural" if memory.kind is Kind.PROCEDURAL else ""


def by_layers(config: Config) -> bool:
    """Whether memories rise, fall and go by the rules of *layers*, to the letter."""
    return config.promotion.rules == "layers"


def is_lesson(memory: Memory) -> bool:
    """Whether it tells how to do something: a procedure, or tagged as a lesson."""
    return memory.kind is Kind.PROCEDURAL or not LESSONS.isdisjoint(memory.tags)


def is_session_note(memory: Memory) -> bool:
    """Whether it was noted about a session, to go on from there; what was learned in one is no such note."""
    return not SESSION_NOTES.isdisjoint(memory.tags)


def noted_tags(draft: Draft) -> tuple[str, ...]:
    """Tags of what is brought in: elsewhere the source says that it notes a session, here a tag does."""
    if draft.source != TALK or is_overheard(draft) or not SESSION_NOTES.isdisjoint(draft.tags):
        return draft.tags
    return (*draft.tags[: TAG_LIMIT - 1], TALK)


def is_ephemeral(memory: Memory) -> bool:
    """Whether it is meant for a while only."""
    return memory.policy is Policy.EPHEMERAL or "ephemeral" in memory.tags


def is_distilled(memory: Memory) -> bool:
    """Whether it was drawn from session notes, or has been drawn upon."""
    return not DISTILLED.isdisjoint(memory.tags)


def is_drawn(memory: Memory) -> bool:
    """Whether it was drawn from other memories: it follows them, and is no repetition of any."""
    return memory.source == "engine" and not DRAWN.isdisjoint(memory.tags)


def is_reference(memory: Memory | Draft) -> bool:
    """Whether it is a passage of a document or a piece of code."""
    of_a_document = memory.category == REFERENCE or memory.source.startswith(DOCUMENT)
    return of_a_document or memory.kind is Kind.CODEBASE


def is_overheard(memory: Memory | Draft) -> bool:
    """Whether it was taken out of talk; everything else was given on purpose, to be kept.

    >>> day = datetime(2026, 1, 1)
    >>> heard = Memory("1", "Hi", "h", day, day, source="session", details={"turns": ["t1"]})
    >>> is_overheard(heard), is_overheard(Memory("1", "Hi", "h", day, day, source="agent"))
    (True, False)
    """
    source, _, part = memory.source.partition(":")
    brought_in = memory.session.partition(":")[0] in EXPORTS
    return source == TALK and not brought_in and (bool(part) or "turns" in memory.details)


def lasting(memory: Memory, now: datetime, *, by_name: bool = True) -> str:
    """Why what a memory says holds beyond the day; empty when nothing says so.

    The words decide, not the category: facts about the user, health, work, what is yet to come and, if asked
    for `by_name`, people and places. Somebody's name in a joke is no reason.

    >>> from datetime import UTC
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> heard = ("I am allergic to nuts", "My mother lives in Turin", "it was ok there", "Lol ok Clint it is")
    >>> [lasting(Memory("1", words, "h", day, day), day) for words in heard]
    ['a fact about the user', 'a fact about somebody', '', '']
    """
    if is_passing(memory.content):
        return ""
    return _of_a_life(memory) or _of_weight(memory, now) or (_by_name(memory) if by_name else "")


def _of_a_life(memory: Memory) -> str:
    stated = {fact.subject for fact in facts.stated(memory.content, memory.details, memory.speaker)}
    if stated & {USER, memory.speaker.lower()}:
        return "a fact about the user"
    if stated or (not is_banter(memory.content) and _of_oneself(memory.content)):
        return "a fact about somebody"
    told = set(slots_told(memory.content)) - DEEDS
    return f"tells of a life: {min(told).removeprefix('slot')}" if told else ""


def _of_weight(memory: Memory, now: datetime) -> str:
    if about := MATTERS.intersection(memory.metadata.get("topics", ())):
        return f"about {min(about)}"
    today = memory.local(now).date().isoformat()
    if any(day >= today for day in memory.metadata.get("dates", ())):
        return "yet to come"
    return ""


def _by_name(memory: Memory) -> str:
    if is_banter(memory.content):
        return ""
    named = (entity for entity in names.entities(memory.content) if entity.type in LIVES)
    return "names a person or a place" if any(named) else ""


def settles(newer: Memory, older: Memory) -> bool:
    """Whether what the newer one says against the older has ended there, and the rest still holds."""
    over = older.details.get("no_longer")
    return isinstance(over, list) and any(part.get("by") == newer.id for part in over)


def is_passing(content: str) -> bool:
    """Whether it tells only how somebody feels or how the weather is at the moment.

    >>> is_passing("Ugh, I'm so tired today."), is_passing("I'm tired of my job"), is_passing("I'm diabetic")
    (True, False, False)
    """
    return lexicon.found("passing", content.strip().lower().replace("’", "'"))


def is_banter(content: str) -> bool:
    """Whether somebody laughs about what they say."""
    return _BANTER.search(content) is not None


MATTERS: Final = frozenset({"health", "work", "family", "relationships", "legal", "finance", "planning"})
"""Topics of which nothing is thrown away because of its age alone."""
DEEDS: Final = frozenset({"slotexercise", "slotreading", "slottrip", "slotappointment"})
"""What is done and over tells of a day, not of a life."""
LIVES: Final = frozenset({"person", "location", "organization", "unknown"})
"""Types of names that stand in somebody's life; of a name nobody can type, it is assumed."""
_BANTER = re.compile(
    r"\b(?:lol|lmao|rofl|haha+|hehe+|jk|just kidding)\b|[😂🤣😜😝🙄😆]|哈哈|嘻嘻|开玩笑", re.IGNORECASE
)
_OF_ONESELF = re.compile(
    r"\b[Mm]y\b|\bUser(?:'|’)s\b|\b(?:I|[Ww]e|User)(?:(?:'|’)(?:m|re|ve)\b|\s+(?P<verb>[a-z]+))|我|用户"
)


def _of_oneself(content: str) -> bool:
    """Whether it tells how somebody is or what they do, have or cannot do, not what they once did."""
    past = lexicon.words("verbs_past")
    found = (match["verb"] or "" for match in _OF_ONESELF.finditer(content))
    return any(not verb.endswith("ed") and verb not in past for verb in found)


def is_confirmed(memory: Memory) -> bool:
    """Whether somebody vouches for it."""
    return memory.verification is Verification.USER_CONFIRMED or memory.usage.confirmed > 0


def is_disputed(memory: Memory) -> bool:
    """Whether somebody doubts it."""
    return memory.verification is Verification.DISPUTED or memory.status is Status.CHALLENGED


def resolved_at(memory: Memory) -> datetime | None:
    """When a commitment was kept or given up; None for an open one and for anything else.

    >>> day = datetime(2026, 1, 1)
    >>> resolved_at(Memory("1", "Call Bob", "h", day, day, category="commitment")) is None
    True
    >>> over = {"state": "done", "closed_at": "2026-01-05T00:00:00+00:00"}
    >>> str(resolved_at(Memory("1", "Call Bob", "h", day, day, category="commitment", details=over)))
    '2026-01-05 00:00:00+00:00'
    """
    if memory.category != "commitment" or memory.details.get("state") not in RESOLVED:
        return None
    return written_moment(memory.details.get("closed_at")) or memory.modified_at


@lru_cache(maxsize=64)
def _listed(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(",") if name.strip())
