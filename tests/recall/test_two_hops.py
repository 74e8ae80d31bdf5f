"""Questions that lead over somebody to somebody else, long texts, and other forms of a word."""

from __future__ import annotations

import pytest

from engram import Engram
from engram.testing import FakeClock
from tests.tables import every

TOLD = (
    "My sister Dora is married to Felix.",
    "Felix teaches chemistry at Northgate school.",
    "My boss is called Ingrid.",
    "Ingrid lives in Uppsala with her two dogs.",
    "My wife Carmen works as a nurse.",
    "Carmen's brother Hector fixes engines in Muskogee.",
    "My dentist is Dr. Kaur on Mill Lane.",
    "We moved to Leeds in April.",
)


@pytest.fixture
def told(memory: Engram, clock: FakeClock) -> Engram:
    for statement in TOLD:
        memory.remember(statement)
        clock.advance(hours=1)
    clock.advance(days=20)
    return memory


@every(
    ("question", "answer"),
    [
        ("where does my sister's husband teach?", TOLD[1]),
        ("Where does my boss live?", TOLD[3]),
        ("where does my wife's brother work?", TOLD[5]),
        ("who is married to my sister?", TOLD[0]),
        ("Which city did we relocate to?", TOLD[7]),
    ],
)
def test_what_facts_lead_to_stands_before_what_led_there(told: Engram, question: str, answer: str) -> None:
    assert told.recall(question)[0].memory.content == answer


def test_whom_facts_lead_to_is_told(told: Engram) -> None:
    hit = told.recall("where does my sister's husband teach?", explain=True)[0]
    notes = [row.note for row in hit.evidence if row.name == "names whom facts lead to"]
    assert notes
    assert "felix" in notes[0]


def test_a_form_that_no_stemmer_joins_says_the_word(memory: Engram) -> None:
    memory.remember("Hector fixes engines in Muskogee")
    memory.remember("Hector bought a boat")
    memory.remember("The children are at swimming")
    assert memory.recall("what did Hector buy?")[0].memory.content == "Hector bought a boat"
    assert memory.recall("where is the child?")[0].memory.content == "The children are at swimming"


def test_a_long_contract_is_found_by_a_name_inside_it(memory: Engram) -> None:
    clauses = " ".join(
        f"Clause {n}: the parties agree on point {n} of the annex, as amended." for n in range(118)
    )
    middle = len(clauses) // 2
    contract = f"{clauses[:middle]} The guarantor is Westhafen Logistik of Kiel. {clauses[middle:]}"
    assert len(contract) > 7_900
    memory.remember(contract)
    for n in range(30):
        memory.remember(f"Note {n}: lunch with the auditors about point {n}")
    assert "Westhafen" in memory.recall("Who is Westhafen?")[0].memory.content
    assert "Westhafen" in memory.recall("which company from Kiel is the guarantor?")[0].memory.content
