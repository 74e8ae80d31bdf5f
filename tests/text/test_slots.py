from __future__ import annotations

from engram.text import lexicon
from engram.text.facts import ended, facts
from engram.text.slots import OVER, filled, plain_fact
from tests.tables import every

_HEADINGS = [heading for heading in lexicon.headings("slot_shapes") if heading]


def _told(clause: str) -> str:
    return "; ".join(
        f"{OVER if one.over else ''}{one.subject} | {one.predicate} | {one.object}" for one in filled(clause)
    )


@every("example", [row for heading in _HEADINGS for row in lexicon.examples("slot_shapes", heading)[0]])
def test_the_examples_fill_their_slots(example: str) -> None:
    clause, _, told = example.partition(" => ")

    assert _told(clause) == told


@every("example", [row for heading in _HEADINGS for row in lexicon.examples("slot_shapes", heading)[1]])
def test_the_counter_examples_fill_none(example: str) -> None:
    assert filled(example) == ()


_CLAUSES = [heading for heading in dict.fromkeys(lexicon.headings("clause_shapes")) if heading]


@every("example", [row for heading in _CLAUSES for row in lexicon.examples("clause_shapes", heading)[0]])
def test_the_examples_of_plain_clauses_state_their_fact(example: str) -> None:
    clause, _, told = example.partition(" => ")
    fact = plain_fact(clause, clause, "user")

    assert fact is not None
    assert f"{fact.subject} | {fact.predicate} | {fact.object}" == told


@every("example", [row for heading in _CLAUSES for row in lexicon.examples("clause_shapes", heading)[1]])
def test_the_counter_examples_of_plain_clauses_state_none(example: str) -> None:
    assert plain_fact(example, example, "user") is None


@every(
    "clause",
    [
        "if the demo is on Friday we are late",
        "I would have left Siemens",
        "the demo should be on the 19th",
        "I wish the box had 64 GB",
        "there is a party on Friday",
        "it is at 9:30",
        "maybe I'm 34 at heart",
        "I almost sold the Golf",
        "如果我今年30岁",
        "我想在长沙当老师",
    ],
)
def test_what_is_supposed_or_points_nowhere_fills_no_slot(clause: str) -> None:
    assert filled(clause) == ()


def test_one_sentence_states_all_it_says() -> None:
    told = [(one.predicate, one.object) for one in facts("im 34, i work at Siemens and live in Leeds")]

    assert told == [("age", "34"), ("work at", "siemens"), ("live in", "leeds")]


def test_one_chinese_sentence_states_all_it_says() -> None:
    told = {(one.predicate, one.object) for one in facts("我今年30岁，在长沙当老师，养了只柯基")}

    assert told == {("age", "30"), ("job", "老师"), ("work at", "长沙"), ("pet", "柯基")}


def test_what_one_person_has_is_not_anothers() -> None:
    told = [
        (one.subject, one.predicate, one.object)
        for one in facts("My cousin Ned farms in Wales and has three boys")
    ]

    assert ("ned", "have", "three boys") in told
    assert not any(subject == "user" and predicate == "have" for subject, predicate, _ in told)


def test_what_is_sold_is_owned_no_longer() -> None:
    over = {(one.predicate, one.object) for one in ended("we sold the Golf last week")}

    assert {("car", "golf"), ("own", "golf"), ("have", "golf")} <= over
