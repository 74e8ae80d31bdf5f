"""Entities: fragments become one, and who is spoken of often has a card."""

from __future__ import annotations

from pathlib import Path

from engram import Engram
from engram.model.capture import Draft
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import learned, place, rules, sketches, told, words_in

ANNA = (
    "Anna Keller leads the Apollo project",
    "Anna Keller lives in Bremen",
    "Anna Keller asked Bob for the Apollo budget",
    "Bob and Anna Keller flew to Lisbon",
)


def test_somebody_spoken_of_three_times_has_a_card(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, ANNA)
    assert rules(learned(memory))["card.written"] >= 1
    card = next(one for one in sketches(memory, "card") if one.title == "Anna Keller")
    assert card.body["memories"] == 4
    assert ["anna keller", "live in", "bremen"] in card.body["facts"]
    assert ["Bob", 2] in card.body["beside"]
    assert learned(memory).decided == ()


def test_a_card_follows_what_is_said_later(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, ANNA)
    learned(memory)
    memory.remember("Anna Keller lives in Hamburg now")
    clock.advance(hours=1)
    learned(memory)
    card = next(one for one in sketches(memory, "card") if one.title == "Anna Keller")
    assert ["anna keller", "live in", "hamburg"] in card.body["facts"]
    assert ["anna keller", "live in", "bremen"] not in card.body["facts"]


def test_cards_of_places_are_apart(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, ANNA[:2], scope=place("rex"))
    told(memory, clock, ANNA[2:], scope=place("ada"))
    learned(memory)
    assert not [one for one in sketches(memory, "card") if one.title == "Anna Keller"]


def test_erasing_a_memory_takes_the_card_and_the_next_run_writes_it_without(
    memory: Engram, clock: FakeClock, file: Path
) -> None:
    ids = told(memory, clock, [*ANNA, "Anna Keller keeps a xylophonequartz in the cellar"])
    learned(memory)
    memory.erase(ids[-1])
    assert "Anna Keller" not in {one.title for one in sketches(memory, "card")}
    learned(memory)
    assert "Anna Keller" in {one.title for one in sketches(memory, "card")}
    memory.close()
    assert not words_in(file, "xylophonequartz")


TWICE = [
    Draft("Anna Keller leads the Apollo project", source="import"),
    Draft("The budget was signed by Anna", source="import"),
]


def test_fragments_of_one_entity_are_joined_and_parted_again_by_undo(
    memory: Engram, clock: FakeClock
) -> None:
    memory.remember_many(TWICE)  # names of one call are not compared with each other
    assert memory.entities.get("anna").entity.aliases == ("anna",)  # type: ignore[union-attr]
    clock.advance(hours=1)
    report = learned(memory)
    assert rules(report)["entity.joined"] == 1
    assert memory.entities.get("anna").entity.name == "Anna Keller"  # type: ignore[union-attr]
    assert "anna" not in " ".join((line.why + line.memory + line.related).lower() for line in report.decided)
    memory.undo(report.run.id)
    assert memory.entities.get("anna").entity.name == "Anna"  # type: ignore[union-attr]
    assert "entity.joined" not in rules(learned(memory))


def test_names_that_a_person_parted_stay_apart(memory: Engram, clock: FakeClock) -> None:
    memory.remember_many(TWICE)
    clock.advance(hours=1)
    learned(memory)
    memory.entities.split("Anna")
    memory.remember("Anna sent the plan to Anna Keller", source="agent")
    clock.advance(hours=1)
    assert "entity.joined" not in rules(learned(memory))
    assert memory.entities.get("anna").entity.name == "Anna"  # type: ignore[union-attr]


def test_only_so_many_cards_are_kept(clock: FakeClock) -> None:
    with Engram.open(":memory:", clock=clock, config={"knowledge.cards": 1}) as memory:
        told(memory, clock, [*ANNA, "Bob likes the Apollo project", "Bob went home"])
        learned(memory)
        assert [one.title for one in sketches(memory, "card")] == ["Anna Keller"]
        told(memory, clock, ["Bob came back", "Bob left"])
        learned(memory)
        assert [one.title for one in sketches(memory, "card")] == ["Anna Keller"]


def test_the_card_of_somebody_who_speaks_tells_what_they_say_of_themselves(
    memory: Engram, clock: FakeClock
) -> None:
    for line in ("Hi Anna!", "Anna, how was Lisbon?", "Take care, Anna"):
        memory.remember(line, speaker="Bob", source="session", session="s")
    memory.remember("I adopted a grey cat in Lisbon", speaker="Anna", source="session", session="s")
    memory.remember("Wow!", speaker="Anna", source="session", session="s")
    clock.advance(days=1)
    learned(memory)
    card = next(one for one in sketches(memory, "card") if one.title == "Anna")
    assert card.body["lines"][0] == "Anna: I adopted a grey cat in Lisbon"
    assert "Anna: Wow!" not in card.body["lines"]
