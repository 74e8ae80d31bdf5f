from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from engram.bench.speed import SESSION_TURNS, drafts, queries, sentences

AMOUNT = 2_000


@pytest.mark.slow
def test_no_two_sentences_are_equal_and_a_seed_gives_the_same_ones_again() -> None:
    first = list(islice(sentences(1), AMOUNT))

    assert len(set(first)) == AMOUNT
    assert first == list(islice(sentences(1), AMOUNT))
    assert first != list(islice(sentences(2), AMOUNT))


def test_few_words_are_common_and_most_are_rare() -> None:
    words = Counter(word for sentence in islice(sentences(1), AMOUNT) for word in sentence.split())

    assert sum(count <= 2 for count in words.values()) > len(words) / 2
    assert words.most_common(1)[0][1] > AMOUNT / 2


def test_conversations_and_single_notes_take_turns() -> None:
    made = list(drafts(1, 2 * SESSION_TURNS + 1))
    turns, notes, later = made[:SESSION_TURNS], made[SESSION_TURNS : 2 * SESSION_TURNS], made[-1]

    assert {turn.session for turn in turns} == {turns[0].session} != {later.session}
    assert turns[0].speaker == turns[2].speaker != turns[1].speaker
    assert {(note.session, note.speaker) for note in notes} == {("", "")}
    assert all(draft.event_time for draft in made)


def test_half_of_the_questions_look_for_a_known_sentence() -> None:
    stored = set(islice(sentences(1), AMOUNT))

    asked = queries(1, AMOUNT, 40)

    targets = [target for _, target in asked if target]
    assert len(asked) == 40
    assert 15 <= len(targets) <= 20
    assert stored.issuperset(targets)
