"""Topic change: a message and what went before come in; whether the topic goes on, drifts or switches.

How near a message lies to the turn before says little by itself: people answer in other words and change
the subject in the same ones. So what a message does counts too: a question about the listener that comes
out of nothing opens a topic, an answer and "and you?" keep it. The weights are fitted to marked dialogues
(`benchmarks/topic_change.py --fit`); cosines count in deviations of their own space.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from engram.lazily import dataclass
from engram.model.session import Anticipated, Gap, Origin, Slot, Speech, TopicChange
from engram.ports import ConversationBias
from engram.rules.vectors import cosine, cosines, thresholds, unit
from engram.text import lexicon, re
from engram.text.names import entities
from engram.text.questions import is_question
from engram.text.words import content_words, query_terms, terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.model.memory import Space
    from engram.ports import Floats


LATELY = 3
"""So many turns back a message may go on from."""
_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")
_ASKING = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True)
class SpaceNorms:
    """What cosines mean in one space."""

    mean: float
    """Between a turn and the one before, in ordinary talk."""
    sd: float
    far: float
    """To the centroid of the last turns: below this a new topic is a switch, above it a drift."""


# From marked small talk; far is where a third of the turns that open a topic lie below.
SPACES = {"engram-static-1": SpaceNorms(0.39, 0.14, 0.42), "arctic-embed-s": SpaceNorms(0.825, 0.047, 0.85)}


@dataclass(frozen=True, slots=True)
class Signs:
    """What a message does to the topic, number by number."""

    near: float
    """To the turn before, in deviations."""
    tail: float
    """Its last sentence to the nearest of the last turns."""
    fresh: float
    """The question in it, if there is one, to the nearest of them."""
    words: float
    asks: float
    answers: float
    """The turn before asked something."""
    listener: float
    leaning: float
    back: float
    aside: float
    own: float


WEIGHTS = Signs(-0.45, -0.27, -0.31, 0.58, 1.25, -1.11, 1.67, -0.91, -1.16, 0.85, 0.90)
BIAS = -3.51
CHANGED = 0.26
"""From this on the topic counts as changed: where the fitted dialogues give the best F1."""


@dataclass(frozen=True, slots=True)
class TopicVerdict:
    """What a message does to the topic."""

    change: TopicChange
    score: float
    """How likely it opens a topic, 0 to 1."""
    near: float
    """Its cosine to the centroid of the last turns."""


def sentences(message: str) -> list[str]:
    """The parts of a message, each with a word in it; the message itself when there is none.

    >>> sentences("That is neat . where do you work ?")
    ['That is neat .', 'where do you work ?']
    """
    parts = [part.strip() for part in _END.split(message) if re.search(r"\w", part)]
    return parts or [message]


def read_signs(message: str, before: str, vectors: Floats, recent: Floats, space_key: str) -> Signs:
    """The signs of a message. `vectors`: its own, then its sentences'; `recent`: turns, oldest first."""
    talk, parts = norms_of(space_key), sentences(message)
    nearest = [float(cosines(recent[-LATELY:], vector).max()) for vector in vectors[1:]]
    asking = [index for index, part in enumerate(parts) if _asks(part)]
    question = " ".join(parts[index] for index in asking).lower()
    whole = message.lower()

    def far(value: float) -> float:
        return (value - talk.mean) / talk.sd

    return Signs(
        near=far(cosine(vectors[0], recent[-1])),
        tail=far(nearest[-1]),
        fresh=far(min(nearest[index] for index in asking)) if asking else 0.0,
        words=math.log1p(len(content_words(message))),
        asks=float(bool(asking)),
        answers=float(_asks(before)),
        listener=_says("listener", question),
        leaning=_says("leaning", question),
        back=_says("back", whole),
        aside=_says("aside", whole),
        own=_says("own", whole) if not asking else 0.0,
    )


def score(seen: Signs) -> float:
    """How likely a message with these signs opens a topic, 0 to 1."""
    total = BIAS + sum(weight * value for weight, value in zip(astuple(WEIGHTS), astuple(seen), strict=True))
    return 1.0 / (1.0 + math.exp(-total))


def judge(likely: float, to_centroid: float, confidence: float, space_key: str) -> TopicVerdict:
    """Continuation, drift or switch. A talk that never was steady has nothing to drift from."""
    if likely < CHANGED:
        return TopicVerdict(TopicChange.CONTINUATION, likely, to_centroid)
    steady = confidence > STEADY and to_centroid >= norms_of(space_key).far
    return TopicVerdict(TopicChange.DRIFT if steady else TopicChange.SWITCH, likely, to_centroid)


STEADY = 0.2
"""Confidence from which a talk has a direction; two turns that go together reach it."""


def norms_of(space_key: str) -> SpaceNorms:
    """What cosines mean in a space; guessed from its noise where nobody measured."""
    measured = SPACES.get(space_key.partition("/")[0])
    if measured is not None:
        return measured
    noise = thresholds(space_key)
    return SpaceNorms(
        noise.noise_mean + noise.noise_sd, 1.5 * noise.noise_sd, noise.noise_mean + noise.noise_sd
    )


def _asks(text: str) -> bool:
    return _ASKING.search(text) is not None or is_question(text)


def _says(heading: str, lower: str) -> float:
    return float(bool(lower) and lexicon.found("topic_turns", lower, under=heading))


# ---------------------------------------------------------------- momentum
# Momentum: vectors of turns come in; where the conversation is and how surely comes out.
#
# "ok, deploy it" says little by itself. Blended with the centroid of the last turns it asks about what they
# were about.

ALPHA = 0.3
"""What the newest turn weighs in the centroid."""
MOST_LEAN = 0.4
"""The most that momentum weighs in a query."""
GROWTH = 0.5
"""How fast confidence grows with each turn that goes on."""
LEAST = 0.9
"""What of it a question that says nothing by itself leans on a talk that is all over the place."""
WORD_SHARE = 0.6
"""What a word of the talk counts against one of the question. Measured by `benchmarks/momentum.py`."""


@dataclass(frozen=True, slots=True, eq=False)
class Momentum:
    """The centroid of the last turns, and how steady it is. A new one for each turn."""

    space: Space
    centroid: Floats
    confidence: float = GROWTH
    turns: int = 1

    def lean(self, need: float, terms: Mapping[str, float], most: float = MOST_LEAN) -> ConversationBias:
        """How a question leans on the talk: the more it needs it, and the steadier the talk is."""
        sure = need * (LEAST + (1.0 - LEAST) * self.confidence)
        lent = {term: WORD_SHARE * sure * weight for term, weight in terms.items()}
        return ConversationBias(self.space, unit(self.centroid), most * sure, lent)

    def ahead(self) -> Floats:
        """Where the conversation is heading: the centroid of its last turns."""
        heading: Floats = unit(self.centroid)
        return heading


def momentum_after(
    before: Momentum | None, space: Space, vector: Floats, weight: float = 1.0, alpha: float = ALPHA
) -> Momentum | None:
    """Momentum after one more turn. A turn without a known word changes nothing; another space begins anew.

    `weight` is how much the turn says by itself: an "ok" hardly moves anything. Confidence grows towards 1
    while turns go the same way, and falls with how far one turns away.
    """
    if not vector.any():
        return before
    if before is None or before.space != space:
        return Momentum(space, vector)
    share = alpha * min(1.0, weight)
    confidence = min(1.0, before.confidence + GROWTH * (1.0 - before.confidence) * weight)
    away = distance_from_talk(cosine(vector, before.centroid), space)
    return Momentum(
        space=space,
        centroid=share * vector + (1.0 - share) * before.centroid,
        confidence=confidence * (1.0 - 0.5 * weight * away),
        turns=before.turns + 1,
    )


def distance_from_talk(to_centroid: float, space: Space) -> float:
    """How far a turn is from the talk: 0 at the usual cosine of talk, 1 at that of unrelated texts."""
    usual, stranger = norms_of(space.key), thresholds(space.key).noise_mean
    near = usual.mean + usual.sd
    return min(1.0, max(0.0, (near - to_centroid) / max(1e-6, near - stranger)))


# ---------------------------------------------------------------- sensory
# The sensory buffer: what was just said, word for word, with whom it names and what it does.
#
# It holds the last 20 exchanges, in this process alone. After 30 seconds an exchange may be promoted to
# working memory; until then "that" means something in here.

CAPACITY = 20
PROMOTED_AFTER = timedelta(seconds=30)


class WipeableText:
    """Words that can be wiped: they lie in bytes that are overwritten, not in a text that only goes away."""

    __slots__ = ("_bytes",)

    def __init__(self, text: str = "") -> None:
        self._bytes = bytearray(text.encode())

    @property
    def text(self) -> str:
        """The words, for a moment."""
        return self._bytes.decode()

    def wipe(self) -> None:
        """Overwrite the words; afterwards they are empty."""
        self._bytes[:] = bytes(len(self._bytes))
        self._bytes.clear()


@dataclass(slots=True)
class HeardExchange:
    """A message and what was answered."""

    message: WipeableText
    at: datetime
    entities: tuple[str, ...] = ()
    speech: Speech = Speech.STATEMENT
    reply: WipeableText = field(default_factory=WipeableText)
    promoted: bool = False

    def wipe(self) -> None:
        """Overwrite both sides."""
        self.message.wipe()
        self.reply.wipe()


class SensoryBuffer:
    """A ring of exchanges. Owned by one session, used under its lock."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._ring: deque[HeardExchange] = deque()

    def hear(self, exchange: HeardExchange) -> list[HeardExchange]:
        """Take in an exchange; those that fall out, to be promoted if worth it and then wiped."""
        self._ring.append(exchange)
        return [self._ring.popleft() for _ in range(len(self._ring) - self._capacity)]

    def due(self, now: datetime) -> list[HeardExchange]:
        """Exchanges that are old enough for working memory and have not been offered to it."""
        old = (exchange for exchange in self._ring if now - exchange.at >= PROMOTED_AFTER)
        return [exchange for exchange in old if not exchange.promoted]

    def last(self) -> HeardExchange | None:
        """The latest exchange."""
        return self._ring[-1] if self._ring else None

    def named(self, most: int = 10) -> tuple[str, ...]:
        """Names that came up lately, the latest first, each once."""
        names = (name for exchange in reversed(self._ring) for name in exchange.entities)
        return tuple(dict.fromkeys(names))[:most]

    def wipe(self) -> None:
        """Overwrite and empty it."""
        for exchange in self._ring:
            exchange.wipe()
        self._ring.clear()

    def __iter__(self) -> Iterator[HeardExchange]:
        return iter(tuple(self._ring))

    def __len__(self) -> int:
        return len(self._ring)


# ---------------------------------------------------------------- speech
# Speech: a message comes in; what it does, whom it names and how much it leans on the talk come out.

STANDS_ALONE = 7
"""A message with so many telling words needs nothing that was said before."""
LEANS = 2.0
"""A word like "it" makes up for so many telling words."""
ELLIPTIC = 0.8
"""The least need of the talk that makes a message part of it."""
NAMES_MOST = 10


def speech_of(message: str) -> Speech:
    """What somebody does by a message.

    >>> [str(speech_of(said)) for said in ("ok, go ahead", "deploy it to staging", "where is it?", "I moved")]
    ['continuation', 'instruction', 'question', 'statement']
    """
    plain = message.strip().lower().replace("’", "'")
    if not plain or lexicon.found("topic_turns", plain, under="agrees"):
        return Speech.CONTINUATION
    if lexicon.found("topic_turns", plain, under="orders"):
        return Speech.INSTRUCTION
    return Speech.QUESTION if is_question(message) else Speech.STATEMENT


def names_in(message: str) -> tuple[str, ...]:
    """The names in a message, each once."""
    return tuple(entity.name for entity in entities(message))[:NAMES_MOST]


def need_of_talk(message: str) -> float:
    """How much a message needs the talk to be understood: 1 for "ok, do it", 0 for one that stands alone.

    >>> long = "the staging server of the Apollo project runs out of disk space again"
    >>> need_of_talk("ok, deploy it"), need_of_talk(long)
    (1.0, 0.0)
    """
    plain = message.lower().replace("’", "'")
    telling = _telling(message)
    leans = LEANS if lexicon.found("topic_turns", plain, under="leaning") else 0.0
    missing = 1.0 - (telling - 1 - leans) / (STANDS_ALONE - 1)
    return min(1.0, max(0.0, missing))


def is_elliptic(message: str) -> bool:
    """Whether a message makes sense only as part of the talk, and so cannot open a topic.

    >>> [is_elliptic(said) for said in ("who is in charge of it?", "and the price?", "do you like sports?")]
    [True, True, False]
    >>> is_elliptic("where does my sister live?"), is_elliptic("what about Bremen?")
    (False, False)
    """
    return need_of_talk(message) >= ELLIPTIC and all(_leans(part) for part in sentences(message))


def _leans(sentence: str) -> bool:
    """Whether a sentence makes sense only as part of the talk: it names nothing and opens nothing."""
    plain = sentence.lower().replace("’", "'")
    if names_in(sentence) or lexicon.found("topic_turns", plain, under="aside"):
        return False
    speech = speech_of(sentence)
    opening = ("own",) if speech is Speech.STATEMENT else ("listener", "mine")
    if not any(lexicon.found("topic_turns", plain, under=heading) for heading in opening):
        return True
    return speech is not Speech.STATEMENT and lexicon.found("topic_turns", plain, under="leaning")


def substance(message: str) -> float:
    """How much a message says by itself, 0 to 1: what it weighs in the course of the talk.

    >>> substance("ok"), substance("the deploy to staging broke the migration of users")
    (0.0, 1.0)
    """
    if speech_of(message) is Speech.CONTINUATION:
        return 0.0
    return min(1.0, _telling(message) / 4.0)


def _telling(message: str) -> int:
    """How many words of a message say what it is about; common words alone say nothing."""
    return 0 if query_terms(message).weak else len(content_words(message))


# ---------------------------------------------------------------- anticipation
# Anticipation: after a turn the next recall is prepared; if the next message goes that way, it is there.
#
# It is used when the message lies near enough to where the talk was heading and the preparation is fresh.

FRESH = timedelta(seconds=60)
ALIKE = 0.6
"""The cosine to what was expected above which a message counts as expected."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRecall:
    """A recall for a message that has not been said yet."""

    space: Space
    vector: Floats
    """Where the talk was heading."""
    ids: tuple[str, ...]
    """The memories that may help; only their ids, for many sessions may wait at once."""
    at: datetime
    names: frozenset[str] = frozenset()
    """Whom the talk and what was found name, without case: a message about somebody else is not expected."""


class Anticipation:
    """What one session expects next, and how often it was right. Used under the session's lock."""

    def __init__(self) -> None:
        self.counted = Anticipated()
        self._prepared: PreparedRecall | None = None

    def prepare(self, prepared: PreparedRecall | None) -> None:
        """Keep what was prepared, instead of what was before."""
        self._prepared = prepared

    def take(
        self, space: Space, vector: Floats, names: tuple[str, ...], now: datetime
    ) -> tuple[str, ...] | None:
        """What was prepared, if this message was expected; it is used once."""
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return None
        same_names = all(name.lower() in prepared.names for name in names)
        fresh = prepared.space == space and timedelta(0) <= now - prepared.at < FRESH
        hit = same_names and fresh and cosine(vector, prepared.vector) > ALIKE
        self.counted = replace(self.counted, asked=self.counted.asked + 1, hits=self.counted.hits + int(hit))
        return prepared.ids if hit else None


# ---------------------------------------------------------------- clarifying
# Clarifying questions: what is not known comes in; the few worth asking now go out.
#
# At most two a session, each once a week: somebody who is asked all the time stops answering.

A_SESSION = 2


def choose_questions(
    gaps: Sequence[Gap],
    names: Sequence[str],
    asked: int,
    is_due: Callable[[str], bool],
    most: int = A_SESSION,
) -> list[Gap]:
    """The gaps to ask about now: those about what was just named first, then the weightiest.

    `asked` is how many were asked in this session; `is_due` whether a gap was left alone for a week.
    """
    left = most - asked
    if left <= 0:
        return []
    named = {name.lower() for name in names}

    def order(gap: Gap) -> tuple[bool, float, str]:
        return (gap.about.lower() not in named, -gap.weight, gap.key)

    due = (gap for gap in sorted(gaps, key=order) if is_due(gap.key))
    return [gap for _, gap in zip(range(left), due, strict=False)]


# ---------------------------------------------------------------- working
# Working memory: a few slots for what is on the mind. Use strengthens a slot, time and other topics fade it.
#
# Seven slots as a rule, nine at most. What falls out while it still stands strong is offered to long-term
# memory; what faded away is let go.

MOST = 9
BOOST = 0.3
"""What a use adds to the activation."""
EVICTED_BELOW = 0.1
OFFERED_ABOVE = 0.3
"""What leaves with more than this is offered to long-term memory."""
DRIFT_FADES = 0.7
DRIFT_EVICTS_BELOW = 0.2
RESTORED_ABOVE = 0.1
TOUCHED = 0.34
"""A message that has this share of a slot's telling words speaks of it."""


@dataclass(frozen=True, slots=True)
class WorkingMemoryRules:
    """The numbers that may be turned."""

    half_life_minutes: float = 10.0
    evicted_below: float = EVICTED_BELOW
    offered_above: float = OFFERED_ABOVE
    most: int = MOST


USUAL_RULES = WorkingMemoryRules()


class WorkingMemory:
    """The slots of one session, used under its lock."""

    def __init__(self, rules: WorkingMemoryRules = USUAL_RULES, slots: Iterable[Slot] = ()) -> None:
        self._rules = rules
        self._slots = list(slots)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on the mind, strongest first."""
        return tuple(sorted(self._slots, key=lambda slot: (-slot.activation, slot.id)))

    def fade(self, now: datetime) -> list[Slot]:
        """Let time pass; slots that faded away."""
        self._slots = [_faded(slot, now, self._rules.half_life_minutes) for slot in self._slots]
        return self._evict(self._rules.evicted_below)

    def put(self, slot: Slot) -> list[Slot]:
        """Put something on the mind; the weakest go when there are too many.

        The same memory, or the same words, strengthen the slot that is there.
        """
        same = next((held for held in self._slots if _is_same(held, slot)), None)
        if same is not None:
            stronger = max(min(1.0, same.activation + BOOST), slot.activation)
            self._replace(same, replace(same, activation=stronger, used_at=slot.used_at))
            return []
        self._slots.append(slot)
        return self._push_out()

    def touch(self, message: str, now: datetime) -> list[str]:
        """Strengthen what a message speaks of; the ids of those slots."""
        stems = set(terms(message))
        spoken_of = [slot for slot in self._slots if _speaks_of(stems, slot)]
        for slot in spoken_of:
            self._replace(slot, replace(slot, activation=min(1.0, slot.activation + BOOST), used_at=now))
        return [slot.id for slot in spoken_of]

    def turn(self, change: TopicChange) -> list[Slot]:
        """What leaves when the topic changes: on a drift what is weak by then, on a switch everything."""
        if change is TopicChange.CONTINUATION:
            return []
        if change is TopicChange.SWITCH:
            gone, self._slots = self._slots, []
            return gone
        self._slots = [replace(slot, activation=slot.activation * DRIFT_FADES) for slot in self._slots]
        return self._evict(DRIFT_EVICTS_BELOW)

    def drop(self, ids: Iterable[str]) -> list[Slot]:
        """Take slots away whatever their strength: their memories are no more."""
        unwanted = set(ids)
        gone = [slot for slot in self._slots if slot.id in unwanted]
        self._slots = [slot for slot in self._slots if slot.id not in unwanted]
        return gone

    def offered(self, gone: Sequence[Slot]) -> list[Slot]:
        """Those of the slots that left which long-term memory should hear of."""
        return [slot for slot in gone if slot.activation > self._rules.offered_above]

    def restore(self, slots: Iterable[Slot]) -> None:
        """Put back what was on the mind before."""
        self._slots = list(slots)[: self._rules.most]

    def wipe(self) -> None:
        """Empty it."""
        self._slots.clear()

    def _evict(self, below: float) -> list[Slot]:
        gone = [slot for slot in self._slots if slot.activation < below]
        self._slots = [slot for slot in self._slots if slot.activation >= below]
        return gone

    def _push_out(self) -> list[Slot]:
        """The weakest beyond the most there may be; what the user asked to keep in mind goes last."""
        surplus = len(self._slots) - self._rules.most
        if surplus <= 0:
            return []
        order = sorted(self._slots, key=lambda slot: (slot.origin is Origin.USER, slot.activation))
        gone = order[:surplus]
        self._slots = [slot for slot in self._slots if slot not in gone]
        return gone

    def _replace(self, old: Slot, new: Slot) -> None:
        self._slots[self._slots.index(old)] = new


def decayed(slots: Iterable[Slot], lost: float) -> list[Slot]:
    """Slots after a share of their strength is lost; the faintest are left out.

    >>> [round(slot.activation, 2) for slot in decayed([Slot("1", "a"), Slot("2", "b", activation=0.3)], 0.8)]
    [0.2]
    """
    weaker = (replace(slot, activation=slot.activation * (1.0 - lost)) for slot in slots)
    return [slot for slot in weaker if slot.activation > RESTORED_ABOVE]


def _faded(slot: Slot, now: datetime, half_life_minutes: float) -> Slot:
    """The slot after the time since it was last looked at; time that runs back changes nothing."""
    since = slot.used_at or now
    minutes = max(0.0, (now - since).total_seconds() / 60.0)
    left = 2.0 ** (-minutes / half_life_minutes)
    return replace(slot, activation=slot.activation * left, used_at=max(now, since))


def _is_same(slot: Slot, other: Slot) -> bool:
    return (slot.memory != "" and slot.memory == other.memory) or slot.content == other.content


def _speaks_of(stems: set[str], slot: Slot) -> bool:
    telling = set(terms(slot.content))
    return bool(telling) and len(stems & telling) / len(telling) >= TOUCHED
