"""Made-up memories for measuring speed: a seed comes in, endless sentences come out, no two of them equal.

Words are drawn as in real text: few are common, most are rare (Zipf). The rare end is made of invented
names, so the vocabulary grows with the number of sentences as it does in life.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate, count, islice

from engram.model.draft import Draft

SESSION_TURNS = 12
NAMES_MAGNITUDE = 4
"""Ten to this power is how many names are invented."""
LONG_WORD = 4
KNOWN_ITEM_WORDS = 6
SECOND_CLAUSE, THIRD_CLAUSE = 0.7, 0.3
FAMILIAR = 0.8
"""Shares: sentences with more than one clause, and people who are no strangers."""
_WORDS = {
    "people": "Amara Boris Chiara Dmitri Elif Farah Goran Hanna Ismail Jonas Katya Leila Marco Nadia Oskar "
    "Quentin Rania Stefan Tamar Ugo Vesna Wanda Xenia Yusuf Zelda Anders Bianca Cosmo Dalia Emre Freya",
    "verbs": "finished lost bought repaired cancelled booked planned forgot borrowed sold painted moved "
    "reviewed found replaced cleaned ordered returned measured discussed missed started shared improved",
    "qualities": "new old small huge red green broken expensive cheap quiet noisy heavy careful second "
    "favourite rusty wooden spare annual temporary early late shared private bright",
    "starts": "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo ya zu bra cle dro fli gra pla sto",
    "middles": "l n r s m t v nd rk st ll mb",
    "ends": "a en is o ur ia eth or ine um ak elle ov ant",
}
_PHRASES = {
    "whens": "yesterday|this morning|last week|on Monday|in March|before lunch|after the storm|two days ago|"
    "over the weekend|last summer|around noon|late in the evening|during the holidays|right after breakfast",
    "reasons": "because|although|so that|while|after|before|even though|as soon as|and then|until",
    "moods": "was glad|was worried|felt tired|kept laughing|was not sure|promised help|took notes",
}
_TOPICS = {
    "travel": "train hostel passport ferry suitcase museum visa itinerary airport compass border coach",
    "kitchen": "soup oven basil dough recipe saucepan lentils vinegar yeast cheese knife pepper dumplings",
    "software": "deploy server cache branch migration endpoint parser timeout container database token",
    "health": "doctor knee vitamin sleep headache physiotherapy allergy dentist vaccine stretching pulse",
    "garden": "tomatoes compost hedge seedlings watering shovel roses lawn greenhouse pruning bulbs snails",
    "money": "invoice rent budget mortgage refund salary insurance receipt tax deposit loan pension discount",
    "music": "guitar concert chorus piano rehearsal album melody festival drummer playlist violin tuning",
    "school": "exam homework lecture thesis classroom grades teacher scholarship library deadline essay",
    "sport": "marathon goalkeeper training bicycle stadium injury medal referee swimming climbing league",
    "family": "birthday sister wedding cousin nephew anniversary grandmother baby picnic reunion twins",
    "home": "kitchen sofa landlord boiler window carpet plumber curtains cellar balcony shelf lamp garage",
    "work": "meeting contract client proposal manager interview promotion report office schedule colleague",
}
WORDS = {name: words.split() for name, words in _WORDS.items()}
PHRASES = {name: phrases.split("|") for name, phrases in _PHRASES.items()}
TOPICS = [nouns.split() for nouns in _TOPICS.values()]


@dataclass(frozen=True, slots=True)
class Query:
    """A question; `target` is the sentence it was made from, None for a question about a topic."""

    text: str
    target: str | None = None


def drafts(seed: int, amount: int) -> Iterator[Draft]:
    """So many sentences, a minute apart: by turns a conversation of two people and as many single notes."""
    began = datetime(2024, 1, 1, 9, tzinfo=UTC)
    for number, sentence in enumerate(islice(sentences(seed), amount)):
        session, turn = divmod(number, SESSION_TURNS)
        at = began + timedelta(minutes=number)
        if session % 2:
            yield Draft(sentence, event_time=at)
        else:
            speaker = WORDS["people"][(session + turn % 2) % len(WORDS["people"])]
            yield Draft(
                sentence, session=f"{seed}-{session}", speaker=speaker, source="session", event_time=at
            )


def sentences(seed: int) -> Iterator[str]:
    """Endless different sentences of ten to thirty words."""
    rng = random.Random(seed)  # noqa: S311 - made-up text, not a secret
    seen: set[int] = set()
    for _ in count():
        sentence = _sentence(rng)
        if hash(sentence) not in seen:
            seen.add(hash(sentence))
            yield sentence


def queries(seed: int, stored: int, amount: int) -> list[Query]:
    """Half of them made of some words of one of the first `stored` sentences, half about a topic."""
    rng = random.Random(f"queries {seed}")  # noqa: S311 - as above
    numbers = {rng.randrange(stored) for _ in range(amount // 2)}
    known = [
        _known_item(rng, text)
        for number, text in enumerate(islice(sentences(seed), stored))
        if number in numbers
    ]
    asked = known + [_topical(rng) for _ in range(amount - len(known))]
    rng.shuffle(asked)
    return asked


def _sentence(rng: random.Random) -> str:
    nouns = rng.choice(TOPICS)
    clauses = [_clause(rng, nouns)]
    if rng.random() < SECOND_CLAUSE:
        clauses.append(f"{rng.choice(PHRASES['reasons'])} {_clause(rng, nouns)}")
    if rng.random() < THIRD_CLAUSE:
        clauses.append(f"and {_person(rng)} {rng.choice(PHRASES['moods'])}")
    return " ".join(clauses) + "."


def _clause(rng: random.Random, nouns: Sequence[str]) -> str:
    thing = f"{_zipf(rng, WORDS['qualities'])} {_zipf(rng, nouns)}"
    tail = rng.choice(
        (
            f"in {_name(rng)}",
            f"for {_person(rng)} {_zipf(rng, PHRASES['whens'])}",
            f"from the {_name(rng)} {_zipf(rng, nouns)} {_zipf(rng, PHRASES['whens'])}",
            f"for {rng.randint(2, 980)} euros",
            f"with the {_zipf(rng, nouns)} of {_name(rng)}",
        )
    )
    return f"{_person(rng)} {_zipf(rng, WORDS['verbs'])} the {thing} {tail}"


def _person(rng: random.Random) -> str:
    return _zipf(rng, WORDS["people"]) if rng.random() < FAMILIAR else _name(rng)


def _name(rng: random.Random) -> str:
    """One of some ten thousand invented names, the early ones far more often than the late ones."""
    return _invented(int(10 ** rng.uniform(0, NAMES_MAGNITUDE)))


@cache
def _invented(number: int) -> str:
    rng = random.Random(number)  # noqa: S311 - as above
    return "".join(rng.choice(WORDS[part]) for part in ("starts", "middles", "starts", "ends")).title()


def _zipf(rng: random.Random, words: Sequence[str]) -> str:
    return rng.choices(words, cum_weights=_weights(len(words)))[0]


@cache
def _weights(amount: int) -> tuple[float, ...]:
    return tuple(accumulate(1 / (place + 2) for place in range(amount)))


def _known_item(rng: random.Random, sentence: str) -> Query:
    words = [word.strip(".") for word in sentence.split() if len(word) >= LONG_WORD]
    kept = sorted(rng.sample(range(len(words)), min(len(words), KNOWN_ITEM_WORDS)))
    return Query(" ".join(words[place] for place in kept) + "?", sentence)


def _topical(rng: random.Random) -> Query:
    person, thing, when = (
        _zipf(rng, WORDS["people"]),
        rng.choice(rng.choice(TOPICS)),
        rng.choice(PHRASES["whens"]),
    )
    return Query(f"What did {person} do with the {thing} {when}?")
