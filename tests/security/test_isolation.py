"""Nobody learns what others hold: not by reading, not by looking from elsewhere, not by how scores move."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import AccessDenied
from engram.model.memory import ANY_STATUS
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def whole(tmp_path: Path, clock: FakeClock) -> Iterator[Engram]:
    """The memory of whoever owns the file."""
    with Engram.open(
        tmp_path / "memory.db", embedder=HashEmbedder(), clock=clock, access=Access.everything()
    ) as memory:
        yield memory


@pytest.mark.slow
def test_scores_say_nothing_of_the_words_that_others_hold(whole: Engram) -> None:
    agent = whole.seen_by(Access(Scope("alpha", agent="rex"), Role.AGENT), "rex")
    agent.remember("The mark stands beside a samovar")
    agent.remember("The mark stands beside a bellows")

    def told() -> list[object]:
        found = [agent.recall(word, explain=True) for word in ("samovar", "bellows", "a warm teapot")]
        return [(hit.memory.id, hit.score, hit.relevance, hit.evidence) for one in found for hit in one]

    before = told()
    for place in (Scope("beta"), Scope("alpha", agent="ada")):
        for number in range(40):
            whole.remember(f"Samovar number {number} boils water for a warm teapot", scope=place)

    assert before
    assert told() == before


PLACES = [
    Scope(namespace, project, agent=agent, user=user)
    for namespace in ("alpha", "beta")
    for project in ("", "p1")
    for agent in ("", "rex")
    for user in ("", "u1", "u2")
]


@pytest.mark.slow
@every("role", list(Role))
def test_looking_from_a_place_never_shows_more(role: Role) -> None:
    """What is read from a place is read by the caller too, and seen from there."""
    for own, named in product(PLACES, repeat=2):
        caller = Access(own, role)
        look = caller.at(named)
        for scope in PLACES:
            seen_there = scope.is_seen_from(named) or (look.sees_below and scope.lies_below(named))
            assert look.may_read(scope) == (caller.may_read(scope) and seen_there)
            assert not look.may_write(scope) or caller.may_write(scope)


@pytest.mark.parametrize("role", ["owner", "orchestrator"])
def test_naming_a_user_below_shows_nothing_of_the_user_above(whole: Engram, role: str) -> None:
    whole.remember("Prefers green tea over coffee", scope=Scope("alpha", user="u1"))
    whole.remember("Green tea is in the kitchen of the project", scope=Scope("alpha", "p1"))
    project = whole.seen_by(Access(Scope("alpha", "p1"), Role(role)), "somebody")
    place = Scope("alpha", "p1", user="u1")

    assert [hit.memory.scope for hit in project.recall("green tea", scope=place)] == [Scope("alpha", "p1")]
    assert project.count(scope=place) == 1
    assert "coffee" not in project.resume(scope=place).text
    with project.session(scope=place) as session, session.turn("Do we have green tea?") as turn:
        assert "coffee" not in str(turn.context)


def test_the_owner_of_the_file_sees_of_a_place_what_belongs_there(whole: Engram) -> None:
    anna, bob = Scope(user="anna"), Scope(user="bob")
    whole.remember("Anna likes teal", scope=anna)
    whole.remember("Bob likes red", scope=bob)
    whole.remember("The house has a blue door", scope=Scope())
    whole.remember("The office has a green door", scope=Scope("work"))

    seen = {one.content for one in whole.list(scope=bob).memories}
    assert seen == {"Bob likes red", "The house has a blue door"}
    assert whole.count(scope=bob) == 2
    assert whole.count(scope=Scope()) == 3
    assert whole.count() == 4
    assert [hit.memory.scope for hit in whole.recall("teal", scope=bob)] == []


def test_who_may_not_read_a_place_may_not_look_from_it(whole: Engram) -> None:
    whole.remember("The door of the project is green", scope=Scope("alpha", "p1"))
    agent = whole.seen_by(Access(Scope("alpha", "p1", agent="rex"), Role.AGENT), "rex")

    assert agent.count(scope=Scope("alpha", "p1")) == 1
    for place in (Scope("alpha", "p2"), Scope("beta"), Scope("alpha", "p1", agent="ada"), Scope()):
        with pytest.raises(AccessDenied):
            agent.count(scope=place)


def test_the_owner_of_a_place_is_told_of_a_run_what_concerns_it(whole: Engram, clock: FakeClock) -> None:
    for place in (Scope("alpha"), Scope("beta")):
        whole.observe("I live in Oslo and my dog is called Bo.", scope=place)
        whole.flush(scope=place)
    clock.advance(days=400)
    run = whole.consolidate().run.id
    alpha = whole.seen_by(Access(Scope("alpha")), "alpha")
    beta = {one.id for one in whole.list(scope=Scope("beta"), filters=ANY_STATUS).memories}

    reports = [alpha.maintenance.report(run), alpha.consolidate(dry=True), alpha.consolidate()]
    told = {id_ for report in reports for one in report.decided for id_ in (one.memory, one.related)}
    assert beta & {one.memory for one in whole.maintenance.report(run).decided}
    assert not beta & told
    for report in reports:
        assert report.changes <= len(report.decided)
    with pytest.raises(AccessDenied, match="owner of the file"):
        alpha.undo(run)
    with pytest.raises(AccessDenied, match="owner of the file"):
        alpha.drift("/")
    with pytest.raises(AccessDenied, match="owner of the file"):
        alpha.recall_health()
    assert whole.undo(run).run.id == run


def test_names_that_an_agent_joins_are_one_in_its_own_place(whole: Engram) -> None:
    whole.remember("Ada Lovelace met Tom Baker in Rome", scope=Scope("alpha"))
    rex = whole.seen_by(Access(Scope("alpha", agent="rex"), Role.AGENT), "rex")
    below = whole.seen_by(Access(Scope("alpha", agent="rex", user="u1"), Role.AGENT), "rex")
    ada = whole.seen_by(Access(Scope("alpha", agent="ada"), Role.AGENT), "ada")
    owner = whole.seen_by(Access(Scope("alpha")), "owner")

    joined = rex.entities.merge("Ada Lovelace", "Tom Baker")
    assert (joined.name, set(joined.aliases) >= {"ada lovelace", "tom baker"}) == ("Ada Lovelace", True)
    for one in (rex, below):
        found = one.entities.get("Tom Baker")
        assert found is not None
        assert found.entity.name == "Ada Lovelace"
    for one in (ada, owner, whole):
        found = one.entities.get("Tom Baker")
        assert found is not None
        assert found.entity.name == "Tom Baker"
        assert "ada lovelace" not in found.entity.aliases
    with pytest.raises(AccessDenied):
        ada.entities.split("Tom Baker")
    parted = rex.entities.split("Tom Baker")
    assert parted is not None
    assert parted.name == "Tom Baker"

    owner.entities.merge("Ada Lovelace", "Tom Baker")
    found = ada.entities.get("Tom Baker")
    assert found is not None
    assert found.entity.name == "Ada Lovelace"


def test_names_of_which_only_others_speak_are_not_told(whole: Engram) -> None:
    whole.remember("Ada Lovelace lives in Rome", scope=Scope("alpha"))
    whole.remember("Grace Hopper lives in Oslo", scope=Scope("alpha", agent="ada"))
    owner = whole.seen_by(Access(Scope("alpha")), "owner")
    rex = whole.seen_by(Access(Scope("alpha", agent="rex"), Role.AGENT), "rex")
    owner.entities.merge("Grace Hopper", "Ada Lovelace")

    [seen] = [one for one in rex.entities.list() if "ada lovelace" in one.aliases]
    assert (seen.name, [*seen.aliases], seen.mentions) == ("Ada Lovelace", ["ada lovelace"], 1)
    assert rex.entities.get("Grace Hopper") is None
    assert rex.entities.list(prefix="grace") == []
    whole_look = owner.entities.get("Ada Lovelace")
    assert whole_look is not None
    assert "grace hopper" in whole_look.entity.aliases


def test_erasing_forgets_the_names_that_were_joined(whole: Engram, tmp_path: Path) -> None:
    rex = whole.seen_by(Access(Scope("alpha", agent="rex"), Role.AGENT), "rex")
    kept = [rex.remember(f"{name} lives in Rome").memory.id for name in ("Ada Lovelace", "Tom Zebraman")]
    rex.entities.merge("Ada Lovelace", "Tom Zebraman")

    rex.erase(kept[1])
    assert b"zebraman" not in b"".join(path.read_bytes() for path in tmp_path.iterdir()).lower()
