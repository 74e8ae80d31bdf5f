"""What a text feels like: its words come in, the tone they carry comes out, in English and Chinese.

Feelings are looked up in a list; the words before one may strengthen, weaken or turn it round ("very happy",
"not happy"). Emphasis and urgency are told apart from feelings: "CALL ME NOW!!" is neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.lexicon import Phrases, Spot, inflected, listed
from engram.text.reading import read_once
from engram.text.words import EMOJI


@dataclass(frozen=True, slots=True)
class Tone:
    """The sums of what feels good and bad, the strongest arousal, and how much is stressed; all from 0 up."""

    positive: float = 0.0
    negative: float = 0.0
    arousal: float = 0.0
    emphasis: float = 0.0
    urgency: float = 0.0


@read_once
def tone(text: str) -> Tone:
    """The tone of `text`.

    >>> tone("I love it"), tone("I don't love it").negative > 0, tone("The meeting is on Monday") == Tone()
    (Tone(positive=0.9, negative=0.0, arousal=0.63, emphasis=0.0, urgency=0.0), True, True)
    """
    plain = text[:READ].replace("’", "'")
    tokens = lexicon.tokens(plain)
    lower = [token.lower() for token in tokens]
    ascii_only = plain.isascii()
    stretched = _REPEATED.search(plain.lower()) is not None
    felt = list(_in_words(tokens, _shortened(lower) if stretched else lower))
    if not ascii_only:
        felt += [*_in_han(plain), *_in_emoji(plain)]
    felt += _in_signs(plain)
    return Tone(
        positive=round(sum([one.valence for one in felt if one.valence > 0], 0.0), 3),
        negative=round(sum([-one.valence for one in felt if one.valence < 0], 0.0), 3),
        arousal=round(max([abs(one.valence) * one.arousal for one in felt], default=0.0), 3),
        emphasis=_emphasis(plain, tokens, lower, stretched=stretched),
        urgency=_urgency(lower, "" if ascii_only else plain),
    )


def sentiment(valence: float, intensity: float) -> str:
    """The feeling in one word.

    Mixed is much feeling in both directions: intensity without valence.

    >>> sentiment(0.5, 0.5), sentiment(-0.2, 0.2), sentiment(0.0, 0.6), sentiment(0.0, 0.3)
    ('positive', 'negative', 'mixed', 'neutral')
    """
    if abs(valence) >= PLAIN:
        return "positive" if valence > 0 else "negative"
    return "mixed" if intensity >= MUCH else "neutral"


def valence_of(tone: Tone) -> float:
    """From -1 (bad) to 1 (good)."""
    return _saturated(tone.positive - tone.negative, _HALFWAY)


def strength_of(tone: Tone) -> float:
    """How much is felt, in whatever direction, from 0 to 1.

    >>> strength_of(tone("I love the house and hate the noise")) > MUCH
    True
    """
    return _saturated(tone.positive + tone.negative, 2 * _HALFWAY)


def _saturated(value: float, halfway: float) -> float:
    """A sum without bounds brought between -1 and 1."""
    size = float(abs(value))
    return value / (size * size + halfway) ** 0.5 if size else 0.0


READ: Final = 2_000
"""So many characters tell the tone."""
PLAIN: Final = 0.1
"""From this valence on a text is good or bad."""
MUCH: Final = 0.5
"""So much feeling without a direction is mixed feeling."""

_HALFWAY: Final = 0.5
_WINDOW: Final = 3
_TURNED: Final = -0.6  # "not good" is bad, but less bad than "bad"
_BEFORE_CONTRAST: Final = 0.6  # "nice, but slow" is more about slow
_SHOUTED: Final = 1.3
_REPEATED = re.compile(r"([a-z])\1\1+")
_EMOJI = re.compile(f"[{EMOJI}❤]")
_SIGN = re.compile(r"(?<![\w:/])(?::'?-?[()DP/]|[=;]-?\)|<3|</3|\^_\^|\\o/|xD|D:|>:\(|T_T|-_-)(?![\w/])")

_SIGN_PIECE = re.compile(r"[:;=<^\\xT-](?:(?<=[:;=<])|(?<=x)D|(?<=[\\^T-])[o_][\^/T-])")


class _Felt(NamedTuple):
    valence: float
    arousal: float


class _Lists(NamedTuple):
    """The word list, ready for looking up; a phrase that feels like nothing has None."""

    feelings: Phrases[_Felt | None]
    marks: dict[str, _Felt]
    boosters: dict[str, float]
    negations: frozenset[str]
    contrasts: Phrases[bool]
    guarded: dict[str, frozenset[str]]
    urgency: Phrases[float]


@cache
def _lists() -> _Lists:
    feelings: dict[str, _Felt | None] = {}
    for part in ("verbs", "words", "chinese"):
        for phrase, numbers in listed("feelings", part):
            for form in inflected(phrase) if part == "verbs" else (phrase,):
                feelings[form] = _felt(numbers)
    feelings |= dict.fromkeys((phrase for phrase, _ in listed("feelings", "neutral")), None)
    marks = {
        mark: _felt(numbers)
        for part in ("emoji", "signs")
        for numbers, _, marks in (row.partition(": ") for row in lexicon.parts("feelings")[part])
        for mark in marks.split()
    }
    return _Lists(
        feelings=Phrases(feelings),
        marks=marks,
        boosters={phrase: float(factor) for phrase, factor in listed("feelings", "boosters")},
        negations=frozenset(phrase for phrase, _ in listed("feelings", "negations")),
        contrasts=Phrases(dict.fromkeys((phrase for phrase, _ in listed("feelings", "contrasts")), True)),
        guarded=_guarded(),
        urgency=Phrases({phrase: float(weight) for phrase, weight in listed("feelings", "urgency")}),
    )


def _felt(numbers: str) -> _Felt:
    valence, arousal = numbers.split()
    return _Felt(float(valence), float(arousal))


def _guarded() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for before, word in listed("feelings", "guarded"):
        found.setdefault(word, set()).add(before)
    return {word: frozenset(before) for word, before in found.items()}


def _shortened(lower: list[str]) -> list[str]:
    """Stretched words as they are usually written: "sooo goood" is "so good"."""
    return [_unstretched(word) if _REPEATED.search(word) else word for word in lower]


def _unstretched(word: str) -> str:
    twice, once = (_REPEATED.sub(form, word) for form in (r"\1\1", r"\1"))
    return twice if any(_lists().feelings.among([twice])) else once


def _in_words(tokens: Sequence[str], lower: list[str]) -> Iterator[_Felt]:
    lists = _lists()
    spots = [spot for spot in lists.feelings.among(lower) if spot.value is not None]
    turn = max((spot.start for spot in lists.contrasts.among(lower)), default=-1) if spots else -1
    for at, spot in enumerate(spots):
        if _only_boosts(lower[spot.start : spot.end], spot, spots[at + 1 : at + 2]):
            continue
        guard = lists.guarded.get(lower[spot.start]) if spot.end - spot.start == 1 else None
        if guard is not None and (spot.start == 0 or lower[spot.start - 1] not in guard):
            continue
        factor = _factor(lower[max(0, spot.start - _WINDOW) : spot.start])
        factor *= _SHOUTED if _is_shouted(tokens[spot.start], tokens) else 1.0
        yield _scaled(spot, factor * (_BEFORE_CONTRAST if spot.start < turn else 1.0))


def _only_boosts(words: list[str], spot: Spot[_Felt | None], following: list[Spot[_Felt | None]]) -> bool:
    """Whether a word of feeling only strengthens the next one: "awfully good"."""
    return bool(following) and following[0].start == spot.end and "".join(words) in _lists().boosters


def _factor(before: list[str]) -> float:
    """What the words before a feeling make of it: the nearest first."""
    lists = _lists()
    factor = 1.0
    for at in range(len(before) - 1, -1, -1):
        word = before[at]
        pair = f"{before[at - 1]} {word}" if at else word
        if word in lists.negations:
            return factor * _TURNED
        factor *= lists.boosters.get(pair if pair in lists.boosters else word, 1.0)
    return factor


def _scaled(spot: Spot[_Felt | None], factor: float) -> _Felt:
    felt = spot.value or _Felt(0.0, 0.0)
    arousal = felt.arousal * (0.7 if factor < 0 else min(1.2, max(0.8, factor)))
    return _Felt(felt.valence * factor, min(1.0, arousal))


def _in_han(text: str) -> Iterator[_Felt]:
    lists = _lists()
    spots = [spot for spot in lists.feelings.within(text) if spot.value is not None]
    turn = max((spot.start for spot in lists.contrasts.within(text)), default=-1) if spots else -1
    for at, spot in enumerate(spots):
        if _only_boosts([text[spot.start : spot.end]], spot, spots[at + 1 : at + 2]):
            continue
        factor = _han_factor(text[max(0, spot.start - 5) : spot.start])
        yield _scaled(spot, factor * (_BEFORE_CONTRAST if spot.start < turn else 1.0))


def _han_factor(before: str) -> float:
    """As `_factor`, for characters: "不是很" before a feeling turns it round."""
    lists = _lists()
    factor = 1.0
    for _ in range(_WINDOW):
        size = next((n for n in (4, 3, 2, 1) if before[-n:] in lists.boosters and len(before) >= n), 0)
        # The longer word is meant: 特别 is no 别, and 不太 is no 太.
        if any(before.endswith(negation) for negation in _han_negations() if len(negation) > size):
            return factor * _TURNED
        if not size:
            break
        factor *= lists.boosters[before[-size:]]
        before = before[:-size]
    return factor


@cache
def _han_negations() -> tuple[str, ...]:
    return tuple(negation for negation in _lists().negations if not negation.isascii())


def _in_emoji(text: str) -> list[_Felt]:
    marks = _lists().marks
    found = (marks.get(match.group()) for match in _EMOJI.finditer(text))
    return [felt for felt in found if felt is not None][:3]


def _in_signs(text: str) -> list[_Felt]:
    if not _SIGN_PIECE.search(text):
        return []
    marks = _lists().marks
    found = (marks.get(match.group()) for match in _SIGN.finditer(text))
    return [felt for felt in found if felt is not None][:3]


def _is_shouted(word: str, tokens: Sequence[str]) -> bool:
    return len(word) > 2 and word.isupper() and not all(token.isupper() for token in tokens)  # noqa: PLR2004 - OK is no shout


def _emphasis(text: str, tokens: Sequence[str], lower: list[str], *, stretched: bool) -> float:
    """Exclamation marks, shouted words, stretched words: from 0 to 1."""
    marks = min(3, text.count("!") + text.count("！"))
    shouted = [token.lower() for token in tokens if len(token) > 2 and token.isupper()]  # noqa: PLR2004 - OK is no shout
    usual = lexicon.words("stop_words")
    meant = [word for word in shouted if word in usual or any(_lists().feelings.among([word]))]
    stretched = stretched and any(_REPEATED.search(word) for word in lower if word.isalpha())
    return min(1.0, (0.0, 0.15, 0.4, 0.6)[marks] + 0.3 * min(2, len(meant)) + 0.2 * stretched)


def _urgency(lower: list[str], text: str) -> float:
    phrases = _lists().urgency
    return max((spot.value for spot in (*phrases.among(lower), *phrases.within(text))), default=0.0)
