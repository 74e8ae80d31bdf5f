"""The text index: rare words count, what is typed is data, the view holds."""

from __future__ import annotations

import pytest

from engram.model.memory import Filters, Status
from engram.model.scope import Access, Role, Scope
from engram.ports import Store, Unit, View
from engram.text.words import terms
from tests.store.making import (
    ALL,
    EVERYTHING,
    add,
    agent,
    find,
    found_by,
    key_of,
    make,
    put,
    rarity_of,
    search_words,
    view,
    word_matches,
)
from tests.tables import every


def test_a_rare_word_beats_a_common_one(store: Store) -> None:
    for n in range(12):
        add(store, f"the green tea number {n}")
    add(store, "a samovar is brass")
    assert find(store, "green samovar")[0] == "a samovar is brass"


def test_more_shared_words_rank_higher(store: Store) -> None:
    add(store, "the red door of the old house is open")
    add(store, "the red apple fell from the tree in the garden of the house")
    add(store, "a blue car")
    assert find(store, "red apple tree") == [
        "the red apple fell from the tree in the garden of the house",
        "the red door of the old house is open",
    ]


def test_scores_fall_and_are_positive(store: Store) -> None:
    for n in range(5):
        add(store, "apple " * (n + 1) + "filler " * 5)
    scores = [sum(match.terms.values()) for _, match in search_words(store, ["appl"], ALL, 3)]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_no_shared_word_finds_nothing(store: Store) -> None:
    add(store, "red apples")
    assert find(store, "zebra") == []
    assert search_words(store, [], ALL, 10) == []


def test_a_cue_leads_to_a_memory_that_does_not_say_it(store: Store) -> None:
    memory = make("we moved to Oslo")
    put(store, memory, findable=found_by(memory.content, cues=terms("Norway")))
    assert find(store, "Norway") == ["we moved to Oslo"]


def test_the_score_of_given_keys_is_the_one_of_the_search(store: Store) -> None:
    for content in ("red apples", "green apples", "blue car"):
        add(store, content)
    found = dict(search_words(store, terms("red apples"), ALL, 10))
    keys = store.memories.select(ALL, 10)
    assert keys is not None
    matches = word_matches(store, terms("red apples"), keys.tolist(), EVERYTHING)
    assert set(matches) == set(keys.tolist())
    assert {key: match for key, match in matches.items() if match.terms} == found
    assert word_matches(store, terms("red apples"), [], EVERYTHING) == {}


def test_a_term_counts_by_its_share(store: Store) -> None:
    key = key_of(store, add(store, "red apples"))
    whole = word_matches(store, ["red", "appl"], [key], EVERYTHING)[key]
    half = word_matches(store, {"red": 1.0, "appl": 0.5}, [key], EVERYTHING)[key]
    assert half.terms == pytest.approx({"red": whole.terms["red"], "appl": whole.terms["appl"] / 2})
    [(_, found)] = search_words(store, {"red": 1.0, "appl": 0.5}, ALL, 5)
    assert found.terms == pytest.approx(half.terms)


def test_a_long_text_counts_by_its_best_passage(store: Store) -> None:
    """A name that stands once in a contract is no less said than in a note."""
    for n in range(20):
        add(store, f"the heron lies in berth {n}")
    long = key_of(
        store, add(store, " ".join(f"clause{n}" for n in range(900)) + " Westhafen " + "end " * 300)
    )
    short = key_of(store, add(store, "Westhafen moved the berth to another place today"))
    matches = word_matches(store, terms("Westhafen"), [long, short], EVERYTHING)
    assert sum(matches[long].terms.values()) > 0.2 * sum(matches[short].terms.values())


def test_a_match_tells_what_each_term_adds(store: Store) -> None:
    for content in ("red apples", "green apples by the old house"):
        add(store, content)
    keys = [key for key, _ in search_words(store, terms("red apples"), ALL, 10)]
    matches = word_matches(store, terms("red apples"), [*keys, 999], EVERYTHING)
    assert [set(matches[key].terms) for key in keys] == [{"red", "appl"}, {"appl"}]
    assert [matches[key].length for key in keys] == [2, 4]
    assert dict(search_words(store, terms("red apples"), ALL, 10)) == matches


def test_rare_terms_are_rarer(store: Store) -> None:
    for n in range(9):
        add(store, f"tea number {n}" + (" samovar" if n == 3 else ""))
    rarity = rarity_of(store, ["tea", "samovar", "unheard"], EVERYTHING)
    assert set(rarity) == {"tea", "samovar", "unheard"}
    assert 0 <= rarity["tea"] < rarity["samovar"] < rarity["unheard"]


def test_words_count_by_what_the_caller_may_read_alone(store: Store) -> None:
    """Scores that fall when somebody else says a word would tell who says what."""
    mine = key_of(store, add(store, "mark samovar teapot", scope=Scope("one", agent="rex")))
    add(store, "a note above", scope=Scope("one"))
    asker, words = Access(Scope("one", agent="rex"), Role.AGENT), ["samovar", "teapot"]
    seen = View(asker, Filters())

    def told() -> tuple[object, ...]:
        return (
            rarity_of(store, words, asker),
            word_matches(store, words, [mine], asker),
            search_words(store, words, seen, 5),
        )

    before = told()
    for place in (Scope("two"), Scope("one", agent="ada"), Scope("one", project="apollo", user="bo")):
        for number in range(30):
            add(store, f"samovar number {number} with a rather long line of other words", scope=place)

    assert told() == before
    assert rarity_of(store, words, EVERYTHING)["samovar"] < rarity_of(store, words, EVERYTHING)["teapot"]


def test_which_memories_come_into_question_tells_nothing_of_others(store: Store) -> None:
    """The index itself would prefer the word that others do not say, and so leave out all with the other."""
    place, asker = Scope("one", agent="rex"), Access(Scope("one", agent="rex"), Role.AGENT)

    def fill(unit: Unit) -> None:
        for word in ("samovar", "teapot"):
            for number in range(250):
                memory = make(f"{word} mark {number}", scope=place)
                unit.add(memory, found_by(memory.content), None, "")

    def others(unit: Unit) -> None:
        for number in range(400):
            memory = make(f"teapot of others {number}", scope=Scope("two"))
            unit.add(memory, found_by(memory.content), None, "")

    store.write(fill, "tester")
    seen, words = View(asker, Filters()), ["samovar", "teapot"]
    before = search_words(store, words, seen, 500)
    store.write(others, "tester")
    assert len(before) == 500
    assert search_words(store, words, seen, 500) == before
    assert search_words(store, words, seen, 100) == before[:100]


def test_a_caller_with_many_places_counts_all_of_them(store: Store) -> None:
    for number in range(70):
        add(store, f"tea number {number}", scope=Scope("one", project="apollo", user=f"u{number}"))
    add(store, "tea elsewhere", scope=Scope("two"))
    project = Access(Scope("one", project="apollo"), Role.ORCHESTRATOR)
    rarity = rarity_of(store, ["tea", "unheard"], project)
    assert rarity["tea"] < rarity["unheard"]
    assert rarity["tea"] != rarity_of(store, ["tea"], EVERYTHING)["tea"]


TYPED = (
    *(
        '"',
        "'",
        "(",
        "\\",
        "%",
        "* OR 1",
        "NEAR(a b)",
        "plain AND",
        "NOT plain",
        "body:plain",
        "plai*",
        "^plain",
        "-plain",
    ),
    *("{a b}: x", "; DROP TABLE memories; --", "_ns1", "_sc1", "_sc1 OR _sc2", "plain\x00words", ""),
)


@every("typed", TYPED)
def test_what_is_typed_is_data(store: Store, typed: str) -> None:
    key = key_of(store, add(store, "plain words"))
    assert isinstance(find(store, typed), list)
    # Even terms that never went through the text rules are looked up, not obeyed.
    assert search_words(store, [typed], ALL, 10) == []
    assert word_matches(store, [typed], [key], EVERYTHING)[key].terms == {}
    assert set(rarity_of(store, [typed], EVERYTHING)) == {typed}


@every("content", ["edit src/auth.ts now", "I love C++", "run rm -rf build", "我住在上海", "🎉 party"])
def test_code_and_other_scripts_are_found(store: Store, content: str) -> None:
    add(store, content)
    add(store, "something else")
    assert find(store, content) == [content]


def test_only_what_the_view_allows_is_found(store: Store) -> None:
    mine = add(store, "apple pie", scope=Scope(agent="rex"))
    add(store, "apple tart", scope=Scope(agent="ada"))
    add(store, "apple jam", scope=Scope())
    add(store, "apple cake", scope=Scope(agent="rex"), status=Status.ARCHIVED)
    seen = view(agent("rex"), statuses=frozenset({Status.ACTIVE}))
    assert set(find(store, "apple", seen)) == {"apple pie", "apple jam"}
    assert find(store, "apple", view(agent("rex"), statuses=frozenset({Status.ARCHIVED}))) == ["apple cake"]
    assert key_of(store, mine) in word_matches(store, ["appl"], [key_of(store, mine)], EVERYTHING)


def test_a_narrow_view_finds_its_memory_among_many(store: Store) -> None:
    def work(unit: Unit) -> None:
        for n in range(600):
            memory = make(f"apple number {n}", scope=Scope(agent="crowd"))
            unit.add(memory, found_by(memory.content), None, "")

    store.write(work, "tester")
    add(
        store,
        "one long sentence about an apple that rex keeps in his own small garden",
        scope=Scope(agent="rex"),
    )
    assert len(find(store, "apple", view(agent("rex")), limit=5)) == 1
