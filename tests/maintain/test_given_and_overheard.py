"""What somebody gave on purpose is never let go; of what was overheard, what it says decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.capture import Draft
from engram.model.memory import Filters, Layer, Policy, Priority, Status
from engram.model.scope import Scope
from engram.rules.traits import is_overheard
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, overheard
from tests.tables import every

DAYS = 9
"""Longer than the buffer holds anything."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, forgetting__buffer_cap=5) as one:
        yield one


def days(memory: Engram, clock: FakeClock, count: int = DAYS) -> None:
    """So many days, looked after on every third."""
    span = min(count, 3)
    for _ in range(0, count, span):
        clock.advance(days=span)
        memory.consolidate()


@pytest.mark.parametrize("layer", [None, Layer.BUFFER])
def test_what_was_given_on_purpose_outlives_cap_lifetime_and_triage(
    memory: Engram, clock: FakeClock, layer: Layer | None
) -> None:
    notes = [
        Draft(f"the lift was slow on floor {number}", source=source, layer=layer, apart=True, importance=0.3)
        for source, floor in zip(("agent", "import", "api", "fact", "task:nightly"), range(5), strict=True)
        for number in range(floor * 6, floor * 6 + 6)
    ]
    memory.remember_many(notes)
    days(memory, clock)

    assert memory.count() == len(notes)
    assert memory.trash.list().total == 0


def test_a_fact_and_an_import_outlive_the_buffer(memory: Engram, clock: FakeClock, tmp_path: Path) -> None:
    memory.facts.add("printer", "color", "grey", source="agent")
    (tmp_path / "mem0.json").write_text('[{"id": "m1", "memory": "it was ok there", "user_id": "ada"}]')
    memory.sources.file(tmp_path / "mem0.json")
    days(memory, clock)

    assert memory.count() == 2


LASTS = (
    "User is allergic to penicillin",
    "My daughter's kindergarten is Solhaug",
    "User lives in Oslo",
    "The cutover is on 10 April 2026",
    "Erik left Bryggen Mat for a place downtown",
    "User is hiring two engineers for the team",
    "Go-live needs the sign-off of Amira",
    "我对花生过敏",
)


@pytest.mark.parametrize("category", ["general", "moment", "context"])
def test_what_says_something_that_lasts_is_never_let_go_for_its_age(
    memory: Engram, clock: FakeClock, category: str
) -> None:
    kept = {words: overheard(memory, words, category=category, importance=0.3) for words in LASTS}
    for number in range(8):
        overheard(memory, f"it was ok there, {number} times", category=category, importance=0.2)
    days(memory, clock)

    for words, one in kept.items():
        assert now(memory, one).status is Status.ACTIVE, words
        assert now(memory, one).layer > Layer.BUFFER, words


def test_facts_that_were_overheard_do_not_fade_and_small_talk_and_jokes_go(
    memory: Engram, clock: FakeClock
) -> None:
    facts = ("Amira works at the harbour office", "We run Postgres 16 and DuckDB")
    jokes = ("Lol ok Clint Yeastwood it is", "haha nice one, lol", "haha good grief 😂")
    lasting = [overheard(memory, words, category="moment", importance=0.3) for words in facts]
    passing = [overheard(memory, words, category="general", importance=0.75) for words in jokes]
    days(memory, clock)
    assert {now(memory, one).status for one in passing} == {Status.ARCHIVED}

    for _ in range(5):
        clock.advance(days=30)
        memory.consolidate()
    assert {now(memory, one).status for one in lasting} == {Status.ACTIVE}


def test_what_observe_takes_out_of_talk_is_overheard_and_what_is_remembered_is_not(memory: Engram) -> None:
    memory.observe("I live in Oslo and I work at Havnfrakt.", session="s")
    heard = [one.memory for one in memory.flush("s").receipts] or list(memory.list())
    given = memory.remember("The oven heats to 250 degrees.", source="agent").memory

    assert heard
    assert all(is_overheard(one) for one in heard)
    assert not is_overheard(given)
    assert (heard[0].layer, given.layer) == (Layer.BUFFER, Layer.WORKING)


def test_what_was_overheard_and_is_then_given_is_kept_as_given(memory: Engram) -> None:
    one = overheard(memory, "it was ok there", importance=0.2)
    memory.remember("it was ok there")

    kept = now(memory, one)
    assert (kept.source, kept.layer, kept.policy) == ("human", Layer.WORKING, Policy.PROTECTED)
    assert not is_overheard(kept)


# ---------------------------------------------------------------- documents


HANDBOOK = """# Handbook

I am a nurse and I live in Oslo. My favourite editor is Helix.

You must never deploy on a Friday. Open a loop: something promised or owed.

I will send the report to Anna by Monday. Who or what is Zanzibar POST?

Never fails: what goes wrong is a line on stderr.
"""


def _documents(memory: Engram, folder: Path) -> None:
    (folder / "handbook.md").write_text(HANDBOOK)
    (folder / "tool.py").write_text(
        '"""Never fails: I must call Anna."""\n\ndef run() -> None:\n    """Runs."""\n'
    )
    memory.sources.file(folder / "handbook.md")
    memory.sources.code(folder)


def _self_knowledge(memory: Engram) -> dict[str, Any]:
    profile = memory.knowledge.profile()
    return {
        "profile": ([one.text for one in profile.traits], profile.topics),
        "commitments": [one.text for one in memory.commitments.list()],
        "gaps": [one.question for one in memory.gaps.list()],
        "P0": [
            one.content
            for one in memory.list(filters=Filters(priorities=frozenset({Priority.P0, Priority.P1})))
        ],
        "entities": [one.name for one in memory.entities.list()],
        "facts": [claim.fact.object for claim in memory.facts.query()],
    }


def test_a_document_is_reference_and_nothing_of_the_users_own(clock: FakeClock, tmp_path: Path) -> None:
    with opened(clock) as memory:
        memory.remember("I live in Bergen")
        days(memory, clock, 1)
        before = _self_knowledge(memory)
        _documents(memory, tmp_path)
        days(memory, clock, 3)

        assert _self_knowledge(memory) == before
        found = memory.recall("never deploy on a Friday").hits[0].memory
        assert "never deploy on a Friday" in found.content
        assert (found.category, found.details["heading"]) == ("reference", "Handbook")


def test_a_document_replaces_nothing_that_somebody_said_nor_takes_it_in(
    clock: FakeClock, tmp_path: Path
) -> None:
    with opened(clock) as memory:
        home = memory.remember("User lives in Bergen.").memory
        _documents(memory, tmp_path)
        again = memory.remember("My favourite editor is Helix.")

        assert now(memory, home.id).status is Status.ACTIVE
        assert again.outcome == "stored"
        assert [claim.fact.object for claim in memory.facts.query("user", "live in")] == ["bergen"]


# ---------------------------------------------------------------- an end that was given


def test_what_expires_is_told_nowhere_and_goes_whoever_gave_it(memory: Engram, clock: FakeClock) -> None:
    gym = memory.remember("The gym is closed today", expires_at=START + timedelta(hours=1)).memory.id
    rule = memory.remember(
        "Never park in the yard", pinned=True, valid_to=START + timedelta(hours=1)
    ).memory.id
    assert memory.count() == 2
    clock.advance(hours=2)

    assert memory.count() == 0
    assert list(memory.list()) == []
    assert "gym" not in memory.resume().text
    assert "yard" not in memory.resume().text
    assert memory.recall("is the gym closed?").hits == ()
    assert memory.recall("where must nobody park?").hits == ()
    clock.advance(days=1)
    memory.consolidate()
    assert now(memory, gym).status is Status.ARCHIVED
    assert now(memory, rule).status is Status.ACTIVE  # it held once, and that stays known


# ---------------------------------------------------------------- what comes from elsewhere


def _record(number: int, words: str, **more: Any) -> dict[str, Any]:
    old = (START - timedelta(hours=5 + number)).isoformat()
    return {
        "id": f"imported-{number:04}",
        "content": words,
        "created_at": old,
        "modified_at": old,
        "source": "api",
        **more,
    }


@pytest.mark.parametrize("layer", ["buffer", "working"])
def test_imported_memories_are_looked_at_although_their_times_are_old(clock: FakeClock, layer: str) -> None:
    with opened(clock, meaning=True) as memory:
        memory.remember("Somebody else's note about the harbour")
        days(memory, clock, 1)
        twins = (
            "The deploy job runs every night at two",
            "The deploy job runs every night at two in the cluster",
        )
        memory.adopt([_record(n, words, layer=layer) for n, words in enumerate(twins)])
        days(memory, clock, 1)

        assert sorted(str(now(memory, f"imported-{n:04}").status) for n in (0, 1)) == ["active", "merged"]


@pytest.mark.parametrize(
    ("more", "core"),
    [
        ({}, True),
        ({"source": "session"}, False),
        ({"tags": ["gate-rejected"]}, False),
        ({"tags": ["gate-rejected-2"]}, False),
        ({"tags": ["gate-rejected-final"]}, False),
    ],
)
def test_marks_of_imported_memories_are_obeyed(clock: FakeClock, more: dict[str, Any], *, core: bool) -> None:
    with opened(clock) as memory:
        rule = _record(
            1,
            "Never deploy the billing service on a Friday",
            layer="working",
            importance=0.9,
            category="constraint",
            usage={"accessed": 6, "repeated": 3},
            **more,
        )
        memory.adopt([rule])
        clock.advance(hours=1)
        memory.consolidate()

        assert (now(memory, "imported-0001").layer is Layer.CORE) is core


def test_what_another_engine_triaged_is_not_triaged_again(clock: FakeClock) -> None:
    with opened(clock) as memory:
        one = overheard(memory, "We decided to move the office in May", tags=("_triaged",))
        clock.advance(hours=1)
        memory.consolidate(stages=["review"])

        assert now(memory, one).layer is Layer.BUFFER


def test_each_user_of_an_export_has_a_place_of_their_own(memory: Engram, tmp_path: Path) -> None:
    rows = ", ".join(
        f'{{"id": "{name}", "memory": "Likes {tea} tea", "user_id": "{name}"}}'
        for name, tea in (("alex", "green"), ("bob", "black"))
    )
    path = tmp_path / "mem0.json"
    path.write_text(f'{{"results": [{rows}]}}')
    memory.sources.file(path)

    places = {one.content: one.scope.user for one in memory.list()}
    assert places == {"Likes green tea": "alex", "Likes black tea": "bob"}
    assert [hit.memory.content for hit in memory.recall("which tea?", scope=Scope(user="bob")).hits] == [
        "Likes black tea"
    ]


TALK = (
    "Go-live is on the 27th of March.",
    "We run Postgres 16 and DuckDB.",
    "The team is five people: me, Jonas, Amira, Tomasz and Lena.",
    "Liv goes to Solhaug kindergarten now.",
    "Amira starts June 1st.",
    "My husband Erik is a chef at Bryggen Mat.",
    "Lol ok Clint Yeastwood it is",
)


def test_forty_days_later_only_the_joke_is_gone(clock: FakeClock) -> None:
    with opened(clock, meaning=True) as memory:
        for number, words in enumerate(TALK):
            memory.observe(words, session=f"s{number}")
            memory.flush(f"s{number}")
        heard = {one.content for one in memory.list()}
        for span in (1, 1, 1, 1, 3, 3, 10, 10, 10):
            clock.advance(days=span)
            memory.consolidate()

        left = {one.content for one in memory.list()}
        assert len(heard) >= len(TALK) - 1  # that a joke is not even kept is as well
        assert {one for one in heard - left if "Clint" not in one} == set()
        assert not any("Clint" in one for one in left)


@pytest.mark.slow
@every(("preset", "stays"), [("default", True), ("ledger", False)])
def test_what_a_person_kept_as_lesser_goes_only_where_priorities_age(preset: str, stays: bool) -> None:
    clock = FakeClock(START)
    with Engram.open(":memory:", clock=clock, config={"preset": preset}) as memory:
        kept = memory.remember("The spare key of the shed hangs behind the water meter", priority="P3").memory
        for _ in range(15):
            clock.advance(days=8)
            memory.consolidate()
        left = memory.get(kept.id)

    assert (left is not None and left.status is Status.ACTIVE) is stays
