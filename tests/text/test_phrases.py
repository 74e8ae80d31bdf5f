"""Known phrases are found where they stand, the longest first; the lists that hold them are in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text import lexicon
from engram.text.feelings import Tone, sentiment, strength_of, tone, valence_of
from engram.text.lexicon import Phrases, inflected, listed
from tests.tables import every

TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


def test_the_longest_phrase_wins_and_none_lies_in_another() -> None:
    known = Phrases({"out of memory": 1, "memory": 2, "out": 3, "不": 4, "不开心": 5, "开心": 6})

    assert [spot.value for spot in known.among(["out", "of", "memory", "and", "out", "of", "time"])] == [1, 3]
    assert [spot.value for spot in known.within("我不开心，他开心，不")] == [5, 6, 4]


def test_a_phrase_cut_off_by_the_end_is_not_found() -> None:
    assert list(Phrases({"new york": 1}).among(["new"])) == []
    assert list(Phrases({"上海": 1}).within("上")) == []
    assert list(Phrases({"x": 1}).within("上海")) == []


@every(
    ("word", "form"),
    [
        ("fail", "failed"),
        ("hate", "hating"),
        ("cry", "cries"),
        ("enjoy", "enjoyed"),
        ("crash", "crashes"),
        ("y", "ys"),
    ],
)
def test_regular_forms(word: str, form: str) -> None:
    assert form in inflected(word)


@given(st.dictionaries(TEXT.filter(bool), st.integers(), max_size=8), TEXT)
def test_any_vocabulary_can_be_looked_for_in_any_text(entries: dict[str, int], text: str) -> None:
    known = Phrases(entries)
    words = text.lower().split(" ")

    assert all(0 <= spot.start < spot.end <= len(words) for spot in known.among(words))
    assert all(text[spot.start : spot.end] in entries for spot in known.within(text))
    assert all(inflected(word) for word in entries)


@given(TEXT)
def test_any_text_has_a_tone_within_bounds(text: str) -> None:
    found = tone(text)

    assert min(found.positive, found.negative, found.arousal, found.emphasis, found.urgency) >= 0
    assert -1 <= valence_of(found) <= 1
    assert 0 <= strength_of(found) <= 1
    assert sentiment(valence_of(found), strength_of(found)) in {"positive", "negative", "neutral", "mixed"}
    assert tone("") == Tone()


@every("part", ["words", "verbs", "chinese"])
def test_every_feeling_has_a_direction_and_an_arousal(part: str) -> None:
    for phrase, numbers in listed("feelings", part):
        valence, arousal = map(float, numbers.split())
        assert phrase
        assert 0.1 < abs(valence) <= 1
        assert 0 <= arousal <= 1


@every("part", ["words", "verbs", "chinese"])
def test_no_feeling_is_listed_in_both_directions(part: str) -> None:
    found: dict[str, bool] = {}
    for phrase, numbers in listed("feelings", part):
        good = not numbers.startswith("-")
        assert found.setdefault(phrase, good) == good, phrase


@every("name", ["places", "organizations", "name_cues"])
def test_lists_of_names_have_no_empty_entries(name: str) -> None:
    for part in lexicon.headings(name):
        assert all(phrase.strip("~! ") for phrase, _ in listed(name, part))
