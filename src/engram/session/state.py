"""The state of one session: what lives between turns and is never a stored memory.

  hear (a message) → notice (what was recalled for it) → answer (the reply) → and again

Time, vectors and ids are passed in. The one who holds it also holds its lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from engram.model.recall import Hit
from engram.model.session import Origin, Slot, Speech, TopicChange
from engram.rules.vectors import cosine
from engram.session import speech, topic
from engram.session import topic as momenta
from engram.session.anticipation import Anticipation
from engram.session.speech import HeardExchange, SensoryBuffer, WipeableText
from engram.session.topic import TopicVerdict
from engram.session.working import USUAL_RULES, WorkingMemory, WorkingMemoryRules
from engram.text.forms import summary
from engram.text.junk import junk_of
from engram.text.words import terms

if TYPE_CHECKING:
    from engram.model.memory import Space
    from engram.ports import ConversationBias, Floats
    from engram.session.topic import Momentum

NOTICED = 3
"""So many of the best hits come to mind for each message."""
NOTICED_ABOVE = 0.4
"""The least relevance of a hit that comes to mind."""
SPOKEN_ACTIVATION = 0.6
"""What was said a while ago stands so strongly on the mind when it gets there."""
LATELY = 4
"""Exchanges whose words a question may lean on."""
FADES = 0.8
"""What a word counts less for each exchange that it lies back."""
WORDS = 12
READ = 2_000
STEADY = TopicVerdict(TopicChange.CONTINUATION, 0.0, 1.0)
Said = tuple[str, str]
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


@dataclass(frozen=True, slots=True)
class Making:
    """How slots are made."""

    new_id: Callable[[], str]
    count_tokens: Callable[[str], int]


@dataclass(slots=True)
class State:
    """Everything on one session's mind."""

    making: Making
    working: WorkingMemory = field(default_factory=WorkingMemory)
    buffer: SensoryBuffer = field(default_factory=SensoryBuffer)
    timezone: str = ""
    """Where whoever talks here is; empty: as the caller or the settings say."""
    momentum: Momentum | None = None
    anticipation: Anticipation = field(default_factory=Anticipation)
    verdict: TopicVerdict = STEADY
    turns: int = 0
    asked: int = 0
    """Clarifying questions asked so far."""
    recent: deque[Floats] = field(default_factory=lambda: deque(maxlen=topic.LATELY))
    before: str = ""
    """The words of the last turn."""
    earlier: list[Said] = field(default_factory=list)
    """History from before the buffer, when it is known."""

    def hear(self, message: str, meaning: Meaning | None, now: datetime) -> tuple[HeardExchange, list[Slot]]:
        """Take in a message; where its answer belongs, and what left the mind while it was strong."""
        names = speech.names_in(message)
        self.verdict = self._judge(message, meaning)
        gone = self.working.fade(now) + self._promote(now)
        gone += self.working.turn(self.verdict.change)
        self.working.touch(message, now)
        if self.verdict.change is TopicChange.SWITCH:
            self.momentum = None
            self.recent.clear()
        exchange = HeardExchange(WipeableText(message), now, names, speech.speech_of(message))
        self._let_go(self.buffer.hear(exchange))
        self._move(message, meaning)
        self.turns += 1
        return exchange, self.working.offered(gone)

    def notice(self, hits: Sequence[Hit], now: datetime) -> list[Slot]:
        """Let the best of what was recalled come to mind; slots that had to leave for it."""
        gone: list[Slot] = []
        best = [hit for hit in hits if hit.relevance >= NOTICED_ABOVE][:NOTICED]
        for hit in best:
            gone += self.working.put(
                Slot(
                    id=self.making.new_id(),
                    content=hit.text,
                    origin=Origin.RECALLED,
                    activation=min(1.0, hit.relevance),
                    used_at=now,
                    tokens=hit.tokens or self.making.count_tokens(hit.text),
                    memory=hit.memory.id,
                )
            )
        return self.working.offered(gone)

    def hold(self, content: str, origin: Origin, now: datetime, memory: str = "") -> list[Slot]:
        """Put something on the mind because somebody wants it there."""
        tokens = self.making.count_tokens(content)
        slot = Slot(self.making.new_id(), content, origin, 1.0, now, tokens, memory)
        return self.working.offered(self.working.put(slot))

    def answer(self, exchange: HeardExchange, reply: str, meaning: Meaning | None) -> None:
        """Take in what was answered to a message."""
        exchange.reply.wipe()
        exchange.reply = WipeableText(reply)
        self._move(reply, meaning)

    def lean(self, message: str, most: float = momenta.MOST) -> ConversationBias | None:
        """How far a message leans on the talk, as far as it needs it; None before there is a talk."""
        if self.momentum is None:
            return None
        return self.momentum.lean(speech.need(message), self.words(), most)

    def words(self) -> dict[str, float]:
        """The telling words of the talk lately, with what each counts: what came up again and last, most."""
        found: dict[str, float] = {}
        for back, one in enumerate(reversed([*self.buffer][-LATELY:])):
            for term in set(terms(f"{one.message.text} {one.reply.text}"[:READ])):
                found[term] = found.get(term, 0.0) + FADES**back
        best = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:WORDS]
        return {term: min(1.0, weight) for term, weight in best}

    @property
    def history(self) -> list[Said]:
        """What was said so far, oldest first."""
        said = list(self.earlier)
        for one in self.buffer:
            said.append(("user", one.message.text))
            if one.reply.text:
                said.append(("assistant", one.reply.text))
        return said

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
        if self.momentum.space != meaning.space or speech.is_elliptic(message):
            return STEADY
        import numpy as np

        key = meaning.space.key
        found = topic.signs(message, self.before, meaning.rows, np.stack(self.recent), key)
        near = cosine(meaning.whole, self.momentum.centroid)
        return topic.judge(topic.score(found), near, self.momentum.confidence, key)

    def _move(self, text: str, meaning: Meaning | None) -> None:
        """Let a turn, whoever said it, move the talk."""
        self.before = text
        if meaning is None or not meaning.whole.any():
            return
        if self.momentum is not None and self.momentum.space != meaning.space:
            self.recent.clear()
        self.recent.append(meaning.whole)
        self.momentum = momenta.moved(self.momentum, meaning.space, meaning.whole, speech.substance(text))

    def _promote(self, now: datetime) -> list[Slot]:
        """What was said half a minute ago comes to working memory in short words, if it says anything."""
        gone: list[Slot] = []
        for one in self.buffer.due(now):
            one.promoted = True
            words = one.message.text
            if one.speech is Speech.CONTINUATION or junk_of(words) is not None:
                continue
            content = summary(words)
            tokens = self.making.count_tokens(content)
            gone += self.working.put(
                Slot(self.making.new_id(), content, Origin.SPOKEN, SPOKEN_ACTIVATION, now, tokens)
            )
        return gone

    def _let_go(self, fallen: Sequence[HeardExchange]) -> None:
        """What falls out of the buffer stays in the history and leaves the bytes it lay in."""
        for one in fallen:
            self.earlier.append(("user", one.message.text))
            if one.reply.text:
                self.earlier.append(("assistant", one.reply.text))
            one.wipe()
        del self.earlier[: max(0, len(self.earlier) - HISTORY)]


HISTORY = 400
"""Messages of the history that are kept beyond the buffer."""


def fresh(making: Making, rules: WorkingMemoryRules = USUAL_RULES, alike: float | None = None) -> State:
    """The state of a session that begins."""
    made = State(making, WorkingMemory(rules))
    if alike is not None:
        made.anticipation = Anticipation(alike=alike)
    return made
