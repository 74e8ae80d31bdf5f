"""Observing: what was said comes in; it is logged at once, and read as soon as it is worth it.

    log → signals → buffer → extract → exactly what remember() does

The log is the truth: a turn waits there until the memories made of it are written, in the same unit of work
that marks it as read. So a process that dies loses nothing and learns nothing twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from engram.capture import extract
from engram.capture.pipeline import make_ready, write
from engram.config import CaptureConfig
from engram.errors import ContentTooLong, EmptyContent, InvalidInput, WrongType
from engram.lazily import dataclass, replace
from engram.model.capture import Draft, LeftOut, Observation, Part, Receipt, Turn, Waiting
from engram.model.clock import check_cancelled, here
from engram.model.memory import Tier
from engram.model.plain import member, told_moment
from engram.model.scope import Scope
from engram.ports import Tools, Unit
from engram.rules.enrich import NOT_BELIEVED
from engram.rules.screen import Gate, name, readable, screen
from engram.rules.sealing import opened_turn, sealed_turn, without
from engram.rules.sensitivity import sensitive_parts
from engram.text import sentences
from engram.text.signals import Level, level_of

# ---------------------------------------------------------------- buffer
# The smart buffer: what was just said and what waits come in; whether to read it now, and why, comes out.
#
# Reading several turns together costs less and understands more; what matters must not wait.


def due(level: Level, waiting: Waiting, now: datetime, settings: CaptureConfig) -> str:
    """Why the waiting turns are to be read now; empty when they may wait.

    >>> due(Level.LOW, Waiting(2), datetime(2026, 1, 1), CaptureConfig())
    ''
    >>> due(Level.HIGH, Waiting(1), datetime(2026, 1, 1), CaptureConfig())
    'a strong signal'
    """
    if waiting.turns == 0:
        return ""
    if level >= Level.HIGH:
        return "a strong signal"
    if waiting.turns >= settings.buffer_turns:
        return f"{waiting.turns} turns wait"
    if waiting.since is not None and now - waiting.since > timedelta(minutes=settings.buffer_minutes):
        return f"the oldest turn waits for more than {settings.buffer_minutes:g} minutes"
    return ""


# ---------------------------------------------------------------- messages
# Messages as chat services shape them come in, turns come out.
#
# OpenAI's shape has a role and a content of text or parts; Anthropic's has blocks. Pictures, tool calls and
# the like hold no words of a person and give none. A message without an id gets one made from its words and
# its place among equal ones, so that a client that sends the whole conversation again adds only what is
# new.


PARTS = {
    "user": Part.USER, "human": Part.USER, "customer": Part.USER,
    "assistant": Part.ASSISTANT, "ai": Part.ASSISTANT, "bot": Part.ASSISTANT, "model": Part.ASSISTANT,
    "system": Part.SYSTEM, "developer": Part.SYSTEM,
    "tool": Part.TOOL, "function": Part.TOOL, "tool_result": Part.TOOL,
}  # fmt: skip
"""What chat services call the parts."""


@dataclass(frozen=True, slots=True)
class TalkSetting:
    """What all messages of a call have in common."""

    session: str
    at: datetime
    """When, on the clocks of whoever speaks."""
    scope: Scope
    user: str = ""
    """The user's name."""
    assistant: str = ""


def turns_from(messages: Any, setting: TalkSetting) -> list[Turn]:
    """The turns of a list of messages. Raises WrongType, naming the message."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise WrongType("messages", messages, "a list of messages")
    seen: Counter[str] = Counter()
    return [turn for place, one in enumerate(messages) for turn in _turns(one, place, setting, seen)]


def _turns(message: Any, place: int, setting: TalkSetting, seen: Counter[str]) -> Iterator[Turn]:
    if not isinstance(message, Mapping):
        raise WrongType(f"messages[{place}]", message, "an object with role and content")
    part = part_of(message.get("role", message.get("type", "user")))
    content, tools = _words(message.get("content", message.get("text", "")), place)
    if content.strip():
        yield _turn(message, part, content, setting, seen)
    if tools.strip():
        yield _turn(message, Part.TOOL, tools, setting, seen)


def part_of(role: Any) -> Part:
    """The part that a role names."""
    known = PARTS.get(str(role).lower())
    return known if known is not None else member("role", Part, role)


def _turn(
    message: Mapping[str, Any], part: Part, content: str, setting: TalkSetting, seen: Counter[str]
) -> Turn:
    content = readable("content", content)
    name = readable("name", str(message.get("name") or message.get("speaker") or ""))
    if not name and part in {Part.USER, Part.ASSISTANT}:
        name = setting.user if part is Part.USER else setting.assistant
    own = message.get("id") or message.get("message_id") or message.get("uuid")
    made = made_id(part, name, content)
    seen[made] += 1
    return Turn(
        id=str(own) if own and part is not Part.TOOL else f"{made}-{seen[made]}",
        session=setting.session,
        content=content,
        at=here(_time(message, setting.at), setting.at.tzinfo or UTC),
        part=part,
        speaker=name,
        scope=setting.scope,
    )


def made_id(part: Part, speaker: str, content: str) -> str:
    """An id made from the words: the same words by the same person give the same one."""
    return hashlib.sha256(f"{part}\n{speaker}\n{content}".encode()).hexdigest()[:24]


def _time(message: Mapping[str, Any], otherwise: datetime) -> datetime:
    given = message.get("time") or message.get("timestamp") or message.get("created_at")
    if given is None:
        return otherwise
    if isinstance(given, int | float) and not isinstance(given, bool):
        seconds = given / 1_000 if given > _MILLISECONDS else given
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, ValueError, OSError) as error:
            raise WrongType("time", given, "a time") from error
    return told_moment("time", given, otherwise.tzinfo or UTC)


_MILLISECONDS = 100_000_000_000
"""A larger number of seconds would lie after the year 5000: these are milliseconds."""


def _words(content: Any, place: int) -> tuple[str, str]:
    """The words of a person, and what a tool brought."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence):
        raise WrongType(f"messages[{place}].content", content, "text or a list of parts")
    said: list[str] = []
    brought: list[str] = []
    for piece in content:
        if isinstance(piece, str):
            said.append(piece)
        elif isinstance(piece, Mapping) and piece.get("type") in {"tool_result", "function_call_output"}:
            brought.append(_words(piece.get("content", piece.get("output")), place)[0])
        elif isinstance(piece, Mapping) and isinstance(piece.get("text"), str):
            said.append(piece["text"])
    return "\n".join(said), "\n".join(brought)


TURN_LIMIT = 200_000
"""Characters of one turn at most."""
SLICE = 50
"""Turns that are read together at most."""
SECRETS_STAY = 20
"""Turns for which a secret that was said is still looked for in what is said next."""
NEXT_TURN = 2**53
"""The key of a turn that has none yet: later than all."""
CONTEXT_TURNS = 4
"""Turns before the first one that are looked at to understand it."""


class _Taken(Exception):
    """Another process has captured these turns meanwhile."""


def log(turns: Sequence[Turn], tools: Tools, actor: str) -> tuple[Observation, str]:
    """Log turns of one scope; and why what waits there is to be read now, or nothing.

    Raises InvalidInput before logging. Waits for no reading: that may ask a model.
    """
    checked = [_checked(turn) for turn in turns]
    kept = _sealed(checked, tools) if checked else checked
    waiting, fresh = tools.store.write(
        lambda unit: unit.log(kept), actor, kept[0].scope.namespace if kept else ""
    )
    spoken = [turn for turn in checked if turn.part in {Part.USER, Part.ASSISTANT}]
    level = max((level_of(turn.content) for turn in spoken), default=Level.NONE) if fresh else Level.NONE
    heard = Observation(
        logged=fresh,
        known=len(checked) - fresh,
        signal=level.name.lower(),
        waiting=waiting.turns,
        because="waits for more to be said" if waiting.turns else "nothing new",
    )
    return heard, due(level, waiting, max(turn.at for turn in checked), tools.config.capture)


def capture(scope: Scope, gate: Gate, tools: Tools, actor: str, session: str | None = None) -> Observation:
    """Read every turn that waits in a scope, of one session or of all."""
    done = Observation()
    while turns := tools.store.turns.waiting(scope, SLICE, session):
        for group in _sessions(turns):
            check_cancelled()
            done = _joined(done, _capture(group, gate, tools, actor))
    return done


def _sessions(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    ordered = sorted(turns, key=lambda turn: turn.session)
    for _, group in groupby(ordered, key=lambda turn: turn.session):
        yield list(group)


def _capture(turns: list[Turn], gate: Gate, tools: Tools, actor: str) -> Observation:
    """Read some turns of one session; what is found and that they were read is written together."""
    before = tools.store.turns.before(turns[0], CONTEXT_TURNS)
    said = [opened_turn(turn, tools.keys) for turn in turns]
    reading = extract.read(said, before, gate, tools)
    drafts, origins = _parted([*_sealed_before(turns[0], tools), *said], *_good(reading))

    def also(unit: Unit, receipts: list[Receipt]) -> None:
        if unit.captured(turns, tools.clock.now()) < len(turns):
            raise _Taken
        for receipt, keys in zip(receipts, origins, strict=True):
            unit.link_turns(receipt.memory.id, keys)

    try:
        receipts = write(make_ready(drafts, tools), tools, actor, also)
    except _Taken:
        return Observation(because="another process has read them")
    return Observation(
        captured=tuple(turns),
        receipts=tuple(one for one in receipts if one.memory.status not in NOT_BELIEVED),
        left_out=tuple(reading.left_out),
        by=reading.by,
        trouble="" if reading.by != extract.BY_RULES else tools.model_trouble(),
    )


def _good(reading: extract.Reading) -> tuple[list[Draft], list[tuple[int, ...]]]:
    """The drafts that pass the screen: one that does not is left out, and the others go on."""
    drafts: list[Draft] = []
    origins: list[tuple[int, ...]] = []
    for draft, keys in zip(reading.drafts, reading.origins, strict=True):
        try:
            drafts.append(screen(draft))
            origins.append(keys)
        except InvalidInput as error:
            reading.left_out.append(LeftOut("", draft.content[:200], error.message))
    return drafts, origins


def _sealed(turns: Sequence[Turn], tools: Tools) -> list[Turn]:
    """Turns as they are logged; one that repeats a secret of another is as secret as that."""
    keys = tools.keys
    told = {} if keys is None else _secrets([*_sealed_before(turns[0], tools), *turns])
    if keys is None or not told:
        return list(turns)
    return [sealed_turn(turn, keys, _tier_of(turn.content, told)) for turn in turns]


def _sealed_before(turn: Turn, tools: Tools) -> list[Turn]:
    """What was said in secret not long before in the same session: an answer may repeat it."""
    if tools.keys is None:
        return []
    last = turn if turn.key else replace(turn, key=NEXT_TURN)
    lately = tools.store.turns.before(last, SECRETS_STAY)
    return [opened_turn(one, tools.keys) for one in lately if one.sealed]


def _secrets(turns: Iterable[Turn]) -> dict[str, Tier]:
    """What is sensitive in turns, piece by piece."""
    return {
        piece: part.tier
        for turn in turns
        for part in sensitive_parts(turn.content)
        for piece in part.pieces(turn.content)
    }


def _tier_of(words: str, secrets: Mapping[str, Tier], least: Tier | None = None) -> Tier:
    tiers = (tier for piece, tier in secrets.items() if piece in words)
    return max((least or Tier.CLEAR, *tiers), key=tuple(Tier).index)


def _parted(
    turns: Sequence[Turn], drafts: Sequence[Draft], origins: Sequence[tuple[int, ...]]
) -> tuple[list[Draft], list[tuple[int, ...]]]:
    """The drafts, what repeats a secret of a sealed turn apart, and as secret as that."""
    secrets = _secrets(turn for turn in turns if turn.sealed)
    if not secrets:
        return list(drafts), list(origins)
    parted = [
        (one, keys) for draft, keys in zip(drafts, origins, strict=True) for one in _halves(draft, secrets)
    ]
    return [draft for draft, _ in parted], [keys for _, keys in parted]


def _halves(draft: Draft, secrets: Mapping[str, Tier]) -> Iterator[Draft]:
    """What of a draft is harmless, and what is not."""
    told: dict[bool, list[str]] = {}
    for one in sentences.sentences(draft.content):
        told.setdefault(any(piece in one for piece in secrets), []).append(one)
    if False in told:
        harmless = replace(draft, content=" ".join(told[False])) if True in told else draft
        yield replace(harmless, details=without(draft.details, secrets))
    if True in told:
        words = " ".join(told[True]) if False in told else draft.content
        yield replace(draft, content=words, tier=_tier_of(words, secrets, draft.tier))


def _joined(one: Observation, other: Observation) -> Observation:
    return replace(
        one,
        captured=one.captured + other.captured,
        receipts=one.receipts + other.receipts,
        left_out=one.left_out + other.left_out,
        because=other.because or one.because,
        by=other.by if other.receipts else one.by,
        trouble=other.trouble or one.trouble,
    )


def _checked(turn: Turn) -> Turn:
    content = readable("content", turn.content)
    if not content.strip():
        raise EmptyContent
    if len(content) > TURN_LIMIT:
        raise ContentTooLong("content", len(content), TURN_LIMIT)
    name("session", turn.session)
    name("speaker", turn.speaker)
    name("message id", turn.id, 200)
    return turn
