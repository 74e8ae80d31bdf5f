"""What facts say about their subjects, one word for one meaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.facts import facts
from engram.text.statement import asked, canonical, is_functional, worded
from tests.tables import every


@every(
    ("given_word", "meant"),
    [
        ("works for", "work at"),
        ("WORKS_AT", "work at"),
        ("employer", "work at"),
        ("is located in", "located in"),
        ("住在", "live in"),
        ("email address", "email"),
        ("date of birth", "birthday"),
        ("is fond of", "fond of"),
        ("favourite food", "favorite food"),
        ("orbits", "orbits"),
    ],
)
def test_one_meaning_has_one_word(given_word: str, meant: str) -> None:
    assert canonical(given_word) == meant


@every(
    ("predicate", "one"),
    [
        ("lives in", True),
        ("birthday", True),
        ("name", True),
        ("age", True),
        ("job", True),
        ("editor", True),
        ("wife", True),
        ("favorite color", True),
        ("likes", False),
        ("sister", False),
        ("dog", False),
        ("speaks", False),
        ("depends on", False),
        ("orbits", False),
    ],
)
def test_some_predicates_have_one_object_at_a_time(predicate: str, one: bool) -> None:
    assert is_functional(predicate) == one


@every(
    "triple",
    [
        ("Anna", "work at", "Siemens"),
        ("Anna", "live in", "Rome"),
        ("Anna", "birthday", "May 3"),
        ("Anna", "married to", "Bob"),
        ("Anna", "like", "tea"),
        ("Anna", "from", "Poland"),
        ("Anna", "allergic to", "peanuts"),
        ("Anna", "email", "anna@acme.com"),
        ("Anna", "report to", "Bob"),
        ("user", "editor", "Helix"),
        ("user", "live in", "Rome"),
        ("Pelican", "written in", "Rust"),
        ("Pelican", "depend on", "Redis"),
    ],
)
def test_a_fact_in_words_states_the_fact(triple: tuple[str, str, str]) -> None:
    [found] = facts(worded(*triple))

    assert (found.subject, found.predicate, found.object) == tuple(part.lower() for part in triple)
    assert found.functional == is_functional(triple[1])


@given(st.text(max_size=30))
def test_any_word_has_a_form_that_stays(word: str) -> None:
    assert canonical(canonical(word)) == canonical(word)
    assert not word.strip() or canonical(word) in asked(word)
