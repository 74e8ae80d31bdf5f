"""The state of one session: what lives between turns and is never a stored memory.

  hear (a message) → notice (what was recalled for it) → answer (the reply) → and again

Time, vectors and ids are passed in. The one who holds it also holds its lock.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from engram.lazily import dataclass
from engram.model.memory import Space
from engram.model.recall import Hit
from engram.model.session import Anticipated, Origin, Restored, Slot, Speech, TopicChange
from engram.rules.vectors import cosine
from engram.session import following
from engram.session.following import (
    Anticipation,
    HeardExchange,
    Momentum,
    SensoryBuffer,
    TopicVerdict,
    WipeableText,
    WorkingMemory,
    decayed,
)
from engram.text.forms import summary
from engram.text.junk import junk_of
from engram.text.words import terms

if TYPE_CHECKING:
    from engram.ports import ConversationBias, Floats


NOTICED = 3
"""So many of the best hits come to mind for each message."""
NOTICED_ABOVE = 0.4
"""The least relevance of a hit that comes to mind."""
SPOKEN_ACTIVATION = 0.6
"""What was said a while ago stands so strongly on the mind when it gets there."""
LATELY = 4
"""Exchanges whose words a question may lean on."""
FADES = 0.8
"""Factor on the weight of a word for each exchange that it is older."""
WORDS = 12
READ = 2_000
STEADY = TopicVerdict(TopicChange.CONTINUATION, 0.0, 1.0)
Spoken = tuple[str, str]
"""Who said it (user, assistant), and the words."""


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """A message as vectors: its own first, then one for each of its sentences."""

    space: Space
    rows: Floats

    @property
    def whole(self) -> Floats:
        """The vector of the whole message."""
        first: Floats = self.rows[0]
        return first


@dataclass(slots=True)
class State:
    """Everything on one session's mind."""

    new_id: Callable[[], str]
    count_tokens: Callable[[str], int]
    working: WorkingMemory = field(default_factory=WorkingMemory)
    buffer: SensoryBuffer = field(default_factory=SensoryBuffer)
    timezone: str = ""
    """Where whoever talks here is; empty: as the caller or the settings say."""
    momentum: Momentum | None = None
    anticipation: Anticipation = field(default_factory=Anticipation)
    verdict: TopicVerdict = STEADY
    turns: int = 0
    waits: bool = False
    """Whether the last message waits for its answer."""
    asked: int = 0
    """Clarifying questions asked so far."""
    recent: deque[Floats] = field(default_factory=lambda: deque(maxlen=following.LATELY))
    before: str = ""
    """The words of the last turn."""
    earlier: list[Spoken] = field(default_factory=list)
    """History from before the buffer, when it is known."""

    def hear(self, message: str, meaning: Meaning | None, now: datetime) -> tuple[HeardExchange, list[Slot]]:
        """Take in a message; where its answer belongs, and what left the mind while it was strong."""
        names = following.names_in(message)
        self.verdict = self._judge(message, meaning)
        gone = self.working.fade(now) + self._promote(now)
        gone += self.working.turn(self.verdict.change)
        self.working.touch(message, now)
        if self.verdict.change is TopicChange.SWITCH:
            self.momentum = None
            self.recent.clear()
        exchange = HeardExchange(WipeableText(message), now, names, following.speech_of(message))
        for leaving in self.buffer.hear(exchange):
            self.earlier += _spoken(leaving)
            leaving.wipe()
        del self.earlier[: max(0, len(self.earlier) - HISTORY)]
        self._move(message, meaning)
        self.turns, self.waits = self.turns + 1, True
        return exchange, self.working.offered(gone)

    def notice(self, hits: Sequence[Hit], now: datetime) -> list[Slot]:
        """Let the best of what was recalled come to mind; slots that had to leave for it."""
        gone: list[Slot] = []
        best = [hit for hit in hits if hit.relevance >= NOTICED_ABOVE][:NOTICED]
        for hit in best:
            gone += self._put(hit.text, Origin.RECALLED, min(1.0, hit.relevance), now, hit.memory.id)
        return self.working.offered(gone)

    def hold(self, content: str, origin: Origin, now: datetime, memory: str = "") -> list[Slot]:
        """Put something on the mind because somebody wants it there."""
        return self.working.offered(self._put(content, origin, 1.0, now, memory))

    def _put(
        self, content: str, origin: Origin, activation: float, now: datetime, memory: str = ""
    ) -> list[Slot]:
        tokens = self.count_tokens(content)
        return self.working.put(Slot(self.new_id(), content, origin, activation, now, tokens, memory))

    def answer(self, exchange: HeardExchange, reply: str, meaning: Meaning | None) -> None:
        """Take in what was answered to a message."""
        exchange.reply.wipe()
        exchange.reply = WipeableText(reply)
        self._move(reply, meaning)

    def lean(self, message: str) -> ConversationBias | None:
        """How far a message leans on the talk, as far as it needs it; None before there is a talk."""
        if self.momentum is None:
            return None
        return self.momentum.lean(following.need_of_talk(message), self.words())

    def words(self) -> dict[str, float]:
        """The telling words of the talk lately, with what each counts: what came up again and last, most."""
        weights: dict[str, float] = {}
        for back, exchange in enumerate(reversed([*self.buffer][-LATELY:])):
            for term in set(terms(f"{exchange.message.text} {exchange.reply.text}"[:READ])):
                weights[term] = weights.get(term, 0.0) + FADES**back
        best = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:WORDS]
        return {term: min(1.0, weight) for term, weight in best}

    @property
    def history(self) -> list[Spoken]:
        """What was said so far, oldest first."""
        return [*self.earlier, *(spoken for exchange in self.buffer for spoken in _spoken(exchange))]

    def wipe(self) -> None:
        """Overwrite and empty everything."""
        self.buffer.wipe()
        self.working.wipe()
        self.momentum = None
        self.anticipation.prepare(None)
        self.recent.clear()
        self.earlier.clear()
        self.before = ""

    def _judge(self, message: str, meaning: Meaning | None) -> TopicVerdict:
        if meaning is None or not self.recent or self.momentum is None or not meaning.whole.any():
            return STEADY
        if self.momentum.space != meaning.space or following.is_elliptic(message):
            return STEADY
        import numpy as np

        key = meaning.space.key
        signs = following.read_signs(message, self.before, meaning.rows, np.stack(self.recent), key)
        near = cosine(meaning.whole, self.momentum.centroid)
        return following.judge(following.score(signs), near, self.momentum.confidence, key)

    def _move(self, text: str, meaning: Meaning | None) -> None:
        """Let a turn, whoever said it, move the talk."""
        self.before = text
        if meaning is None or not meaning.whole.any():
            return
        if self.momentum is not None and self.momentum.space != meaning.space:
            self.recent.clear()
        self.recent.append(meaning.whole)
        self.momentum = following.momentum_after(
            self.momentum, meaning.space, meaning.whole, following.substance(text)
        )

    def _promote(self, now: datetime) -> list[Slot]:
        """What was said half a minute ago comes to working memory in short words, if it says anything."""
        gone: list[Slot] = []
        for exchange in self.buffer.due(now):
            exchange.promoted = True
            words = exchange.message.text
            if exchange.speech is Speech.CONTINUATION or junk_of(words) is not None:
                continue
            gone += self._put(summary(words), Origin.SPOKEN, SPOKEN_ACTIVATION, now)
        return gone


def _spoken(exchange: HeardExchange) -> list[Spoken]:
    reply = exchange.reply.text
    return [("user", exchange.message.text), *([("assistant", reply)] if reply else [])]


HISTORY = 400
"""Messages of the history that are kept beyond the buffer."""


# ---------------------------------------------------------------- snapshot
# Snapshots: a session's state comes in and bytes go out; the other way, what time has left of it.

VERSION = 1
MOST_LOST = 0.8
"""What the longest sleep takes of everything's strength."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long a sleeping session stays what it was."""

    whole_hours: float = 4.0
    decayed_hours: float = 24.0

    def restored(self, away: timedelta) -> Restored:
        """What comes back after a time away.

        >>> [str(Ages().restored(timedelta(hours=hours))) for hours in (3, 5, 25)]
        ['whole', 'decayed', 'fresh']
        """
        hours = away.total_seconds() / 3600.0
        if hours < self.whole_hours:
            return Restored.WHOLE
        return Restored.DECAYED if hours < self.decayed_hours else Restored.FRESH

    def lost(self, away: timedelta) -> float:
        """The share of its strength that everything has lost: none while it stays whole, then ever more.

        >>> [round(Ages().lost(timedelta(hours=hours)), 2) for hours in (3, 4, 14, 24, 99)]
        [0.0, 0.0, 0.4, 0.8, 0.8]
        """
        span = max(1e-9, self.decayed_hours - self.whole_hours)
        gone = (away.total_seconds() / 3600.0 - self.whole_hours) / span
        return MOST_LOST * min(1.0, max(0.0, gone))


def to_bytes(state: State) -> bytearray:
    """The state as bytes; overwrite them when they are sealed."""
    snapshot = {
        "version": VERSION,
        "exchanges": [*state.buffer],
        "slots": state.working.slots,
        "momentum": _momentum(state.momentum),
        "recent": [_packed(vector) for vector in state.recent],
        "before": state.before,
        "turns": state.turns,
        "waits": state.waits,
        "timezone": state.timezone,
        "asked": state.asked,
        "anticipated": [state.anticipation.counted.asked, state.anticipation.counted.hits],
        "earlier": state.earlier,
    }
    return bytearray(msgspec.json.encode(snapshot, enc_hook=lambda words: words.text))


def bring_back(state: State, body: bytes | bytearray, away: timedelta, ages: Ages, now: datetime) -> Restored:
    """Bring back into an empty state what is left after a time away. What cannot be read is a fresh start."""
    try:
        snapshot = msgspec.json.decode(bytes(body))
        if snapshot["version"] != VERSION:
            return Restored.FRESH
        restored = ages.restored(away)
        if restored is not Restored.FRESH:
            _bring_back(state, snapshot, ages.lost(away), now)
    except (ValueError, KeyError, TypeError):
        return Restored.FRESH
    return restored


def _bring_back(state: State, snapshot: dict[str, Any], lost: float, now: datetime) -> None:
    """The time away is counted here, once: slots come back as if they had just been looked at."""
    slots = [replace(slot, used_at=now) for slot in msgspec.convert(snapshot["slots"], list[Slot])]
    exchanges = msgspec.convert(
        snapshot["exchanges"], list[HeardExchange], dec_hook=lambda _, text: WipeableText(text)
    )
    momentum = _momentum_from(snapshot["momentum"])
    recent = [_unpacked(vector) for vector in snapshot["recent"]]
    state.working.restore(decayed(slots, lost) if lost else slots)
    for exchange in exchanges:
        state.buffer.hear(exchange)
    state.momentum = momentum
    state.timezone = state.timezone or str(snapshot.get("timezone", ""))
    state.recent.extend(recent)
    state.before, state.turns, state.asked = snapshot["before"], snapshot["turns"], snapshot["asked"]
    state.waits = bool(snapshot.get("waits"))
    state.anticipation.counted = Anticipated(*snapshot["anticipated"])
    state.earlier = [(part, words) for part, words in snapshot["earlier"]]


def _momentum(momentum: Momentum | None) -> dict[str, Any] | None:
    if momentum is None:
        return None
    return {
        "space": [momentum.space.model, momentum.space.dims, momentum.space.version],
        "centroid": _packed(momentum.centroid),
        "confidence": momentum.confidence,
        "turns": momentum.turns,
    }


def _momentum_from(snapshot: dict[str, Any] | None) -> Momentum | None:
    if snapshot is None:
        return None
    return Momentum(
        Space(*snapshot["space"]),
        _unpacked(snapshot["centroid"]),
        float(snapshot["confidence"]),
        int(snapshot["turns"]),
    )


def _packed(vector: Floats) -> str:
    return base64.b85encode(vector.astype("<f4").tobytes()).decode()


def _unpacked(text: str) -> Floats:
    import numpy as np

    return np.frombuffer(base64.b85decode(text), dtype="<f4").copy()
