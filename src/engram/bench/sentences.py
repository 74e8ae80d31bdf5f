"""Made-up memories for measuring speed: a seed comes in, endless sentences come out, no two of them equal.

Words are drawn as in real text: few are common, most are rare (Zipf). The rare end is made of invented
names, so the vocabulary grows with the number of sentences as it does in life.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from itertools import accumulate, islice

from engram.model.capture import Draft

SESSION_TURNS = 12
NAMES_MAGNITUDE = 4
"""Ten to this power is how many names are invented."""
LONG_WORD = 4
KNOWN_ITEM_WORDS = 6
SECOND_CLAUSE, THIRD_CLAUSE = 0.7, 0.3
FAMILIAR = 0.8
"""Shares: sentences with more than one clause, and people who are no strangers."""


def _read_words() -> dict[str, list[str]]:
    text = (resources.files(__package__) / "words.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {name: words.split("|") if "|" in words else words.split() for name, _, words in lines}


WORDS = _read_words()
TOPICS = [nouns for name, nouns in WORDS.items() if name.startswith("topic ")]


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
    while True:
        sentence = _sentence(rng)
        if hash(sentence) not in seen:
            seen.add(hash(sentence))
            yield sentence


def queries(seed: int, stored: int, amount: int) -> list[tuple[str, str]]:
    """Questions, and the sentence that each is to find.

    Half of them are made of some words of one of the first `stored` sentences; the others are about a topic
    and are to find nothing certain (an empty sentence).
    """
    rng = random.Random(f"queries {seed}")  # noqa: S311 - as above
    numbers = {rng.randrange(stored) for _ in range(amount // 2)}
    known = [
        _known_item(rng, text)
        for number, text in enumerate(islice(sentences(seed), stored))
        if number in numbers
    ]
    asked = known + [(_topical(rng), "") for _ in range(amount - len(known))]
    rng.shuffle(asked)
    return asked


def _sentence(rng: random.Random) -> str:
    nouns = rng.choice(TOPICS)
    clauses = [_clause(rng, nouns)]
    if rng.random() < SECOND_CLAUSE:
        clauses.append(f"{rng.choice(WORDS['reasons'])} {_clause(rng, nouns)}")
    if rng.random() < THIRD_CLAUSE:
        clauses.append(f"and {_person(rng)} {rng.choice(WORDS['moods'])}")
    return " ".join(clauses) + "."


def _clause(rng: random.Random, nouns: Sequence[str]) -> str:
    thing = f"{_zipf(rng, WORDS['qualities'])} {_zipf(rng, nouns)}"
    tails = (
        f"in {_name(rng)}",
        f"for {_person(rng)} {_zipf(rng, WORDS['whens'])}",
        f"from the {_name(rng)} {_zipf(rng, nouns)} {_zipf(rng, WORDS['whens'])}",
        f"for {rng.randint(2, 980)} euros",
        f"with the {_zipf(rng, nouns)} of {_name(rng)}",
    )
    tail = rng.choice(tails)
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


def _known_item(rng: random.Random, sentence: str) -> tuple[str, str]:
    words = [word.strip(".") for word in sentence.split() if len(word) >= LONG_WORD]
    kept = sorted(rng.sample(range(len(words)), min(len(words), KNOWN_ITEM_WORDS)))
    return " ".join(words[place] for place in kept) + "?", sentence


def _topical(rng: random.Random) -> str:
    person = _zipf(rng, WORDS["people"])
    thing, when = rng.choice(rng.choice(TOPICS)), rng.choice(WORDS["whens"])
    return f"What did {person} do with the {thing} {when}?"
