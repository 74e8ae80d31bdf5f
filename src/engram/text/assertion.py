"""Assertion: a message comes in; each of its sentences comes out with what its writer means by it.

People tell, plan and correct, and they also quote, suppose, joke, ask, and hand over texts to be worked on.
Only what the writer asserts may be believed. Three looks decide, the sure ones first:

1. the frame: "Translate:", "pretend you're …", "continue the story" make material of what follows;
2. quotation: a longer passage in quotation marks is somebody else's, whoever that is;
3. a small linear model over words and word pairs, trained on sentences written for this project
   (`benchmarks/data/assertion_*.tsv`, `benchmarks/train_assertion.py`).

The same model says whether a sentence tells of a change.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zlib import crc32

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.cues import slots_told
from engram.text.junk import small_talk
from engram.text.marks import is_correction
from engram.text.questions import (
    asks_first,
    is_question,
    is_request,
    only_asks,
    rule_beside_request,
    stated,
    told_after_asking,
    told_before_asking,
)
from engram.text.reading import read_once
from engram.text.relations import named_relations
from engram.text.sentences import clauses, sentences
from engram.text.slots import filled
from engram.text.words import EMOJI, HAN, content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Stance(StrEnum):
    """What a writer means by a sentence."""

    FACT = "fact"
    PAST = "past"
    PLAN = "plan"
    PREFERENCE = "preference"
    CORRECTION = "correction"
    SUPPOSED = "supposed"
    QUOTED = "quoted"
    MATERIAL = "material"
    IRONIC = "ironic"
    QUESTION = "question"
    REACTION = "reaction"
    PASSING = "passing"


ASSERTED: Final = frozenset({Stance.FACT, Stance.PAST, Stance.PLAN, Stance.PREFERENCE, Stance.CORRECTION})
"""What is meant as it is said, and may be believed."""
BELIEVED_FROM: Final = 0.4
"""The share of the model's certainty that must lie on the asserted stances."""


ELSEWHERE: Final = 0.6
"""How sure a sentence is that fills a slot, or is about oneself in a language the model hardly knows."""
COMPANY: Final = 0.3
"""How much the sentences beside it count."""
TELLING: Final = 2
"""Words of its own that what stands before a question needs: "I have a question, …" tells nothing."""
CHANGE_MAY_BE: Final = 0.39
"""From here on it may; what it is about must say so as well."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One sentence, word for word, and what is meant by it."""

    text: str
    stance: Stance
    asserted: float
    """How sure it is that the writer asserts it: 0 to 1."""

    @property
    def believed(self) -> bool:
        """Whether it may be believed."""
        return self.asserted >= BELIEVED_FROM


def judged(message: str) -> list[Judged]:
    """Every sentence of a message with its stance.

    >>> [(one.text, one.stance.value) for one in judged("Translate to French: I have a cat.")]
    [('Translate to French:', 'question'), ('I have a cat.', 'material')]
    """
    heading, start, begins = _framed(message)
    told = _tale(list(_in_company(list(_prose(message[:start])))))
    if head := message[start:begins].strip():
        sure = _told_after_asking(masked(head))  # "translate this for my cleaner, her name is Beata: …"
        told = [*told, Judged(head, Stance.FACT if sure else Stance.QUESTION, sure)]
    if heading != "play":  # in a play nobody is anybody's
        told = [each for one in told for each in _with_whom_it_names(one)]
    if material := message[begins:].strip():
        told.append(Judged(material, Stance.MATERIAL, 0.0))
    return told


def _with_whom_it_names(one: Judged) -> Iterator[Judged]:
    """With what only asks, whom it names: "write to my manager Graham" says who the manager is."""
    if not one.believed and (one.stance is Stance.QUESTION or asks_first(one.text)):
        yield from (Judged(named, Stance.FACT, BELIEVED_FROM) for named in named_relations(one.text))
    yield one


def _tale(found: list[Judged]) -> list[Judged]:
    """With a request at the end for more of a tale, what stands before it without an "I" is the tale."""
    *before, last = found or [Judged("", Stance.REACTION, 0.0)]
    if not before or not _more_of_a_tale().search(last.text.lower()):
        return found
    tale = (one if _I.search(one.text) else Judged(one.text, Stance.MATERIAL, 0.0) for one in before)
    return [*tale, Judged(last.text, Stance.QUESTION, 0.0)]


_I = re.compile(r"\bI\b|我")


@cache
def _more_of_a_tale() -> re.Pattern[str]:
    return lexicon.pattern("frames", "tale")


def _in_company(found: list[Judged]) -> Iterator[Judged]:
    """A sentence in doubt is helped by a sure one beside it: one breath is mostly meant alike."""
    for place, one in enumerate(found):
        beside = [
            other.asserted for other in (*found[max(0, place - 1) : place], *found[place + 1 : place + 2])
        ]
        helped = (1 - COMPANY) * one.asserted + COMPANY * max(beside, default=0.0)
        if one.believed or not one.asserted or helped < BELIEVED_FROM:
            yield one
        else:
            yield Judged(one.text, Stance.FACT, helped)


def _prose(text: str) -> Iterator[Judged]:
    hidden = masked(text)
    end = 0
    for sentence in sentences(hidden):
        start = hidden.find(sentence, end)
        if start < 0:  # lines of one sentence were joined: the words are the same, only the break is not
            said = sentence
        else:
            end = start + len(sentence)
            said = text[start:end]
        yield from _judged_apart(said, sentence)


def _judged_apart(said: str, hidden: str) -> Iterator[Judged]:
    """A rule and what is asked for in the same breath one by one: "we use pnpm, now add a retry".

    A request that tells something as well stays where it is.
    """
    start, end = rule_beside_request(hidden)
    rule = _judge(said[start:end], hidden[start:end]) if end else None
    if rule is not None and rule.believed:
        asked, plain = (_JOINT.sub("", text[end:] if start == 0 else text[:start]) for text in (said, hidden))
        if not _weighed(asked, _OPENER.sub("", plain, count=1)).believed:
            order = Judged(asked, Stance.QUESTION, 0.0)
            yield from (rule, order) if start == 0 else (order, rule)
            return
    yield _judge(said, hidden)


_JOINT = re.compile(
    r"^[\s,;，；—–-]+(?:(?:and|but|so|cos|because)\s+)?|[\s,;，；—–-]+(?:(?:and|but|so|cos|because)\s+)?$"
)


def _judge(said: str, hidden: str) -> Judged:
    """What is meant by a sentence; "oh and …" and "update: …" before it add it to the talk, no more."""
    if _how_to_answer().match(hidden.lower().replace("’", "'")):
        return Judged(said, Stance.PREFERENCE, ELSEWHERE)
    found, bare = _weighed(said, hidden), _OPENER.sub("", hidden, count=1)
    if found.believed or bare == hidden:
        return found
    opened = _weighed(said, bare)
    return opened if opened.believed else found


def _weighed(said: str, hidden: str) -> Judged:
    sure = _sure(hidden)
    if sure is not None:
        told = _told_after_asking(hidden) if sure is Stance.QUESTION else 0.0
        return Judged(said, Stance.FACT if told else sure, told)
    if _speaks_elsewhere(hidden):
        return Judged(said, Stance.FACT, ELSEWHERE)
    shares = certainty(_ASIDE.sub("", hidden))
    asserted = _asserted(shares)
    before = "" if asserted >= BELIEVED_FROM else told_before_asking(hidden)
    telling = len(content_words(before)) >= TELLING and _FIRST.search(before.lower())
    if telling and _sure(before) is None:
        shares = certainty(before)  # "I moved to Rome, can you find me a dentist?" tells before it asks
        asserted = _asserted(shares)
    pool = ASSERTED if asserted >= BELIEVED_FROM else frozenset(Stance) - ASSERTED
    stance = max(pool, key=lambda one: shares[one])
    if stance in _ASKING and (told := _told_after_asking(hidden)):
        return Judged(said, Stance.FACT, told)
    if stance in _LIGHT and (_is_of_a_life(hidden) or any(map(filled, clauses(hidden)))):
        return Judged(said, Stance.FACT, ELSEWHERE)
    if stance is Stance.CORRECTION and not tells_something(hidden):
        return Judged(said, Stance.REACTION, 0.0)
    return Judged(said, stance, asserted)


def _told_after_asking(hidden: str) -> float:
    """How sure it is that it tells something once it has asked: "a quick pasta, I can't do dairy".

    What a text that is asked for should say of others is not told.
    """
    after = _ASIDE.sub("", told_after_asking(hidden))
    own = _FIRST.search(after.lower()) is not None
    telling = not own or slots_told(after) or len(content_words(after)) >= TELLING
    if not after or not telling or (_WRITE.match(hidden.lower()) and not own) or _sure(after) is not None:
        return 0.0
    asserted = _asserted(certainty(after))
    return asserted if asserted >= BELIEVED_FROM else 0.0


_WRITE = re.compile(r"(?:[\w']+ ){0,3}(?:write|draft|compose|invent|make up)\b|[^,，]*[写编]")
_ASIDE = re.compile(
    r"[\s,;–—-]+(?:by the way|btw|fyi|just so you know|for the record)(?=[.!…]*$)", re.IGNORECASE
)
_OPENER = re.compile(
    r"^(?:(?:oh|ok|okay|so|well|right|hey)[\s,]+)*"
    r"(?:(?:and|also|plus|btw|by the way|fyi|one more thing|another thing)[\s,:–—-]+"
    r"|(?:quick )?update\s*[:–—-]\s*)+"
    r"|^(?:对了|另外|还有|顺便[说提问]?一?[下句嘴]?)[，,、：\s]*",
    re.IGNORECASE,
)
"""What says how something comes up, not whether it is meant."""


def _asserted(shares: Mapping[Stance, float]) -> float:
    return sum(share for stance, share in shares.items() if stance in ASSERTED)


_ASKING: Final = frozenset({Stance.QUESTION, Stance.MATERIAL})
_LIGHT: Final = frozenset({Stance.REACTION, Stance.PASSING, Stance.QUESTION})
"""What says little, or asks in the model's ear; what fills a slot ("I'm teetotal") says something."""


def _speaks_elsewhere(hidden: str) -> bool:
    """Whether somebody speaks of themselves in Spanish, German, French, Portuguese, Japanese or Korean.

    What stands before a question counts, unless it is a part of it: "wenn ich zu spät komme, was dann?"
    """
    told = stated(hidden).lower()
    if not _elsewhere().search(told) or _ENGLISH.search(hidden.lower()):
        return False
    return not is_question(hidden) or not _asks_elsewhere().match(told)


_ENGLISH = re.compile(r"\b(?:the|is|and|my|i|to|of|it|you|with|for|that)\b")


@cache
def _elsewhere() -> re.Pattern[str]:
    return lexicon.pattern("frames", "elsewhere")


@cache
def _asks_elsewhere() -> re.Pattern[str]:
    return lexicon.pattern("frames", "asks elsewhere")


def tells_something(text: str) -> bool:
    """Whether a sentence has a word of its own: "no, the other one" has none.

    >>> (
    ...     tells_something("no, the other one"),
    ...     tells_something("no, the blue one"),
    ...     tells_something("不是这个,上一个"),
    ... )
    (False, True, False)
    """
    line = [word for word in words(text) if word[0].isalnum() or word[0] == "<"]
    hollow = _hollow()
    return any(word not in hollow for word in line)


@cache
def _hollow() -> frozenset[str]:
    own = (word for row in lexicon.parts("frames")["hollow"] for word in row.split())
    return frozenset((*own, *lexicon.words("stop_words")))


def _sure(hidden: str) -> Stance | None:
    """What a sentence beyond doubt is, when it is no assertion."""
    if _only_quotes(hidden):
        return Stance.QUOTED
    if small_talk(hidden) is not None and not _FIRST.search(hidden.lower()):
        return Stance.REACTION
    bare = _TERM.sub(" ", hidden.lower().replace("’", "'")).strip()
    asks = is_question(hidden) or _asking().search(bare)
    if (
        only_asks(hidden)
        or is_request(hidden)
        or (asks and not stated(hidden if is_question(hidden) else "?") and not _of_its_writer().search(bare))
    ):
        return Stance.QUESTION
    if _of_the_talk().match(bare) and not _OWN.search(bare):
        return Stance.QUESTION
    if _supposing().match(bare):
        return Stance.SUPPOSED
    return Stance.MATERIAL if _ERROR_LINE.match(hidden) else None


_OWN = re.compile(r"\b(?:my|our|mine|ours)\b|我(?:的|们|家|妈|爸)")
_ERROR_LINE = re.compile(r"[\w.]*(?:Error|Exception|Warning|Interrupt)\b(?:\[\w+\])?:")
_TERM = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)")


def _is_of_a_life(hidden: str) -> bool:
    return _of_a_life().match(hidden.lower().replace("’", "'")) is not None


@cache
def _of_a_life() -> re.Pattern[str]:
    return lexicon.pattern("frames", "of a life")


@cache
def _of_its_writer() -> re.Pattern[str]:
    return lexicon.pattern("frames", "of its writer")


@cache
def _asking() -> re.Pattern[str]:
    return lexicon.pattern("frames", "ask")


@cache
def _of_the_talk() -> re.Pattern[str]:
    return lexicon.pattern("frames", "exchange")


@cache
def _how_to_answer() -> re.Pattern[str]:
    return lexicon.pattern("frames", "how to answer")


@cache
def _supposing() -> re.Pattern[str]:
    return lexicon.pattern("frames", "suppose")


# ---------------------------------------------------------------- frames and quotations

_MASK: Final = "\ue000"
"""Stands for each character of a quotation."""
_LONG: Final = 4
_LONG_HAN: Final = 6
"""From so many words or characters on a quotation is a passage; a shorter one is a name or a term."""
_QUOTE = re.compile(
    r"\"[^\"]+\"|“[^”]+”|「[^」]+」|『[^』]+』|《[^》]{12,}》|(?<![\w'])'(?=\S)(?:[^']|(?<=\w)'(?=\w))+'(?!\w)|‘[^’]+’(?!\w)"
)
_HAN_CHAR = re.compile(f"[{HAN}]")


def masked(text: str) -> str:
    """The text with every longer quotation masked, character by character."""

    def mask(match: re.Match[str]) -> str:
        inside = match.group()[1:-1]
        if len(inside.split()) < _LONG and len(_HAN_CHAR.findall(inside)) < _LONG_HAN:
            return match.group()
        end = (
            inside[-1] if inside[-1] in ".!?。！？" else _MASK
        )  # the end of a quotation may end its sentence
        return match.group()[0] + _MASK * (len(inside) - 1) + end + match.group()[-1]

    return _QUOTE.sub(mask, text)


def _only_quotes(masked: str) -> bool:
    return _MASK in masked and not re.search(r"\w", masked.replace(_MASK, ""))


def frame_of(message: str) -> tuple[int, int]:
    """Where a frame begins, and where the text it hands over does; the end of the message when there is none.

    >>> frame_of("It rains. Fix the grammar: he go home"), frame_of("I live in Rome")
    ((10, 26), (14, 14))
    """
    _, start, begins = _framed(message)
    return start, begins


def _framed(message: str) -> tuple[str, int, int]:
    lower = message.lower().replace("’", "'")
    starts = [0, *(match.end() for match in _START.finditer(lower))]
    for start in starts:
        for heading in ("work", "play"):
            match = _frame(heading).match(lower, start)
            if match:
                begins = _begins(lower, match.end(), heading)
                if begins is not None:
                    return heading, start, begins
    return "", len(message), len(message)


_START = re.compile(r"(?:[.!?。！？]|\n)\s+|[。！？]")
_HANDS_OVER = re.compile(r"[:：?？]\s?|\n")


def _begins(lower: str, end: int, heading: str) -> int | None:
    """Where what the frame hands over begins; the whole rest where a part is played."""
    if heading == "play":
        return end
    colon = _HANDS_OVER.search(lower, end)
    return colon.end() - (colon.group().endswith(" ")) if colon and lower[colon.end() :].strip() else None


@cache
def _frame(heading: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row})" for row in lexicon.parts("frames")[heading]))


# ---------------------------------------------------------------- the model

_WORDS: Final = 1 << 16
"""Buckets for words, as many for first words, and four times as many for whatever else a sentence shows:
apart, since every word has a weight and most pairs of words have none."""
BUCKETS: Final = 6 * _WORDS
_WORD = re.compile(
    rf"{_MASK}+|\w+://\S+|[{HAN}]|[^\W\d_{HAN}]+(?:'[a-z]+)?|\d+(?:[.,:]\d+)*|[?!？！]|[{EMOJI}]"
)


@lru_cache(maxsize=1 << 8)
def features(text: str) -> list[int]:
    """The buckets a sentence falls into: words, pairs, triples, parts of words, how it begins and ends."""
    line = words(text)
    found = {word_bucket(word) for word in line}
    found.update(first_bucket(word) for word in line[:1])
    found.update([2 * _WORDS + crc32(name) % (4 * _WORDS) for name in _named(text, line)])
    return list(found)


def word_bucket(word: str) -> int:
    """The bucket a word falls into, wherever it stands."""
    return crc32(word.encode()) % _WORDS


def first_bucket(word: str) -> int:
    """The bucket the first word of a sentence falls into besides."""
    return _WORDS + word_bucket(word)


def words(text: str) -> list[str]:
    """The words, characters and signs of a sentence as the model sees them."""
    return [_shape(word) for word in _WORD.findall(text.lower().replace("’", "'"))][:_MOST_WORDS]


def _named(text: str, line: list[str]) -> list[bytes]:
    lower = text.lower().replace("’", "'")
    coded = [word.encode() for word in line]
    long = [word for word in coded if len(word) >= _PARTED and word.isalpha()]
    pairs = [one + b" " + two for one, two in pairwise(coded)]
    others = [
        *[f"^{size} {' '.join(line[:size])}" for size in (2, 3) if len(line) >= size],
        *[f"{' '.join(line[-size:])} {size}$" for size in (1, 2) if len(line) >= size],
        f"#{min(len(line), 40).bit_length()}",
        f"I {bool(_FIRST.search(lower))} ? {lower.rstrip().endswith(('?', '？'))}",
        f"you {bool(_SECOND.search(lower))} name {bool(_NAMED.search(text))} <number> {'<number>' in line}",
        *(["quotes"] if _MASK in text else ()),
    ]
    return [
        *pairs,
        *[pair + b" " + word for pair, word in zip(pairs, coded[2:], strict=False)],
        *[b"~" + word[-3:] for word in long],
        *[word[:4] + b"~" for word in long],
        *[name.encode() for name in others],
    ]


_PARTED: Final = 5
_SECOND = re.compile(r"\b(?:you|your|u|ur)\b|[你您]")
_NAMED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]")
_MOST_WORDS: Final = 80
_FIRST = re.compile(r"\b(?:i|i'm|im|ive|i've|my|me|mine|we|our|us)\b|[我俺咱]")


def _shape(word: str) -> str:
    if word[0] == _MASK:
        return "<quote>"
    if "://" in word:
        return "<address>"
    return "<number>" if word[0].isdigit() else word


def certainty(text: str) -> dict[Stance, float]:
    """How sure the model is of each stance."""
    import numpy as np

    weights, scale, bias = _model()
    buckets = features(text)
    scores = (weights[buckets].sum(axis=0, dtype=np.int32) * scale / len(buckets) ** 0.5 + bias)[:-1]
    exponents = np.exp(scores - scores.max())
    return dict(zip(Stance, (exponents / exponents.sum()).tolist(), strict=True))


@read_once
def change_told(message: str) -> float:
    """How sure it is that a sentence of a message says that something is otherwise than it was: 0 to 1.

    >>> change_told("sold the boat") > 0.5 > change_told("my boat is blue")
    True
    """
    said = message[:_LONGEST]
    if lexicon.found("turned", said.lower()) or any(is_correction(part) for part in sentences(masked(said))):
        return 1.0
    return model_change(message)


@read_once
def model_change(message: str) -> float:
    """The same by the model alone, whatever single words may be signs of."""
    return max(map(_change, sentences(masked(message[:_LONGEST]))), default=0.0)


_LONGEST: Final = 1000


def _change(sentence: str) -> float:
    weights, scale, bias = _weights_of_change()
    buckets = features(sentence)
    return 1 / (1 + exp(-sum(map(weights.__getitem__, buckets)) * scale / len(buckets) ** 0.5 - bias))


@cache
def _weights_of_change() -> tuple[array[int], float, float]:
    """The last column of the model, where one number after the other is quickest."""
    weights, scale, bias = _model()
    return array("b", weights[:, -1].tobytes()), float(scale[-1]), float(bias[-1])


@cache
def _model() -> tuple[NDArray[np.int8], NDArray[np.float32], NDArray[np.float32]]:
    import numpy as np

    with np.load(Path(__file__).with_name("data") / "assertion.npz", allow_pickle=False) as file:
        return file["weights"], file["scale"], file["bias"]
