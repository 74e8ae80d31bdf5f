"""How something changed, step by step: by name, by fact, by words."""

from __future__ import annotations

import pytest

from engram import Access, Engram, Role, Scope, Status
from engram.errors import EngramError
from engram.model.recall import StepKind, Timeline
from engram.testing import FakeClock
from engram.text.subquestions import topic_of_change
from tests.tables import every

FIRST, ADDED, CORRECTED, REINFORCED, ENDED = StepKind


@pytest.fixture
def story(memory: Engram, clock: FakeClock) -> Engram:
    for said in (
        "My editor is vim", "Anna lives in Bremen", "My editor is Emacs now", "My editor is Emacs now",
        "Anna lives in Hamburg now", "Anna plays the cello", "My editor is Helix now",
    ):  # fmt: skip
        memory.remember(said)
        clock.advance(days=10)
    return memory


def told(found: Timeline) -> list[tuple[str, str]]:
    return [(str(step.kind), step.change) for step in found]


@every("about", ["my editor", ("I", "editor"), "How has my editor changed over time?", "editor"])
def test_a_fact_tells_from_what_to_what(story: Engram, about: str | tuple[str, str]) -> None:
    found = story.timeline(about)

    assert found.found_by == "fact"
    assert told(found) == [
        (FIRST, ""), (CORRECTED, "vim → emacs"), (REINFORCED, "said again"), (CORRECTED, "emacs → helix"),
    ]  # fmt: skip
    assert [step.memory.status for step in found][-1] is Status.ACTIVE
    assert [step.at for step in found] == sorted(step.at for step in found)


def test_a_name_tells_all_that_became_known(story: Engram) -> None:
    found = story.timeline("Anna")

    assert (found.about, found.found_by) == ("Anna", "entity")
    assert [step.kind for step in found] == [FIRST, CORRECTED, ADDED]
    assert "Bremen" in found[1].change
    assert story.entities.timeline("anna") == list(found)


def test_whose_and_what_finds_the_fact_of_a_name(story: Engram) -> None:
    found = story.timeline(("Anna", "lives in"))

    assert told(found) == [(FIRST, ""), (CORRECTED, "bremen → hamburg")]


def test_other_words_are_recalled_and_followed_to_what_took_their_place(
    memory: Engram, clock: FakeClock
) -> None:
    old = memory.remember("Deploys go through the old pipeline on Fridays").memory
    clock.advance(days=1)
    new = memory.remember("The release train leaves each Monday").memory
    memory.relate(new.id, old.id, "supersedes")
    memory.set_status(old.id, "superseded", "replaced")

    found = memory.timeline("deploys through the old pipeline")

    assert found.found_by == "words"
    assert [step.memory.id for step in found] == [old.id, new.id]
    assert found[1].kind is CORRECTED
    assert "old pipeline" in found[1].change


def test_what_ended_without_a_successor_says_when_and_why(story: Engram, clock: FakeClock) -> None:
    cello = next(one for one in story.list() if "cello" in one.content)
    clock.advance(days=5)
    story.set_status(cello.id, "invalidated", "she sold it")

    last = story.timeline("Anna")[-1]
    assert (last.kind, last.change, last.at) == (ENDED, "invalidated: she sold it", clock.now())


def test_a_window_of_time_and_a_limit_keep_the_rest_out(story: Engram, clock: FakeClock) -> None:
    whole = story.timeline("my editor")

    assert list(story.timeline("my editor", since=whole[1].at)) == list(whole)[1:]
    assert list(story.timeline("my editor", until=whole[1].at)) == list(whole)[:1]
    assert list(story.timeline("my editor", limit=2)) == list(whole)[-2:]
    assert len(story.timeline("my editor", since=clock.now())) == 0


def test_what_nobody_knows_has_no_steps(memory: Engram) -> None:
    assert len(memory.timeline("quantum chromodynamics")) == 0
    assert len(memory.timeline(("nobody", "employer"))) == 0
    assert len(memory.timeline("")) == 0
    for wrong in (("a", "b", "c"), 7):
        with pytest.raises(EngramError):
            memory.timeline(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("about", ["Zora", ("Zora", "lives in"), "the secret drawer of Zora"])
def test_neither_a_timeline_nor_reasoning_shows_what_the_caller_may_not_see(
    memory: Engram, clock: FakeClock, about: str | tuple[str, str]
) -> None:
    for place in ("Rome", "Oslo"):
        memory.remember(f"Zora lives in {place}", scope=Scope(agent="ada"))
        clock.advance(days=1)
    memory.remember("The secret drawer of Zora is blue", scope=Scope(agent="ada"))
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")

    assert len(memory.timeline(about)) > 0
    assert len(rex.timeline(about)) == 0
    assert rex.reason("Where does Zora live and what is in her secret drawer?").memories == ()


def test_a_recall_after_change_brings_the_former_states_and_points_to_the_timeline(story: Engram) -> None:
    found = story.recall("How has my editor changed?", explain=True)

    assert any("timeline of “my editor”" in note for note in found.plan.notes)
    former = [hit for hit in found if hit.memory.status is Status.SUPERSEDED]
    assert {hit.memory.content for hit in former} >= {"My editor is vim", "My editor is Emacs now"}
    assert found[0].memory.content == "My editor is Helix now"
    assert all(any(row.name == "superseded" for row in hit.evidence) for hit in former)
    assert all(hit.memory.status is Status.ACTIVE for hit in story.recall("which editor do I use?"))


@every(
    ("question", "topic"),
    [
        ("How has my diet changed since May?", "my diet"),
        ("how did Anna's views on work evolve?", "anna's views on work"),
        ("What has changed about the deploy process recently?", "the deploy process"),
        ("Show me the history of the API", "the api"),
        ("我的工作有什么变化？", "我的工作"),
        ("How do I change my password?", ""),
        ("What changed?", ""),
        ("How are you?", ""),
    ],
)
def test_questions_after_change_are_told_from_others(question: str, topic: str) -> None:
    assert topic_of_change(question) == topic
