"""What comes back for a question."""

from __future__ import annotations

import pytest

from engram import Access, Engram, Filters, Role, Scope, Status
from engram.errors import AccessDenied
from engram.model.memory import Kind, Type
from engram.testing import FakeClock
from tests.engine.conftest import contents
from tests.tables import every

HOUSE = (
    "The boiler was serviced in March by Mr Okafor",
    "Our cat Mia is allergic to chicken",
    "I prefer window seats on trains",
    "The Wi-Fi router stands behind the piano",
    "Grandma's apple pie recipe needs two cups of flour",
)


@pytest.fixture
def house(memory: Engram) -> Engram:
    memory.remember_many(HOUSE)
    return memory


def test_the_right_memory_comes_first(house: Engram) -> None:
    assert contents(house.recall("where is the router?"))[0] == HOUSE[3]
    assert contents(house.recall("what food makes the cat ill?"))[0] == HOUSE[1]


def test_nothing_comes_back_rather_than_noise(house: Engram) -> None:
    assert contents(house.recall("quarterly revenue of the Belgian subsidiary")) == []


def test_an_empty_file_answers_with_nothing(memory: Engram) -> None:
    assert len(memory.recall("anything at all?")) == 0


@every(
    "query",
    [
        '"',
        "AND OR NOT",
        "NEAR(a b)",
        "content:cat*",
        "'; DROP TABLE memories; --",
        "🙂",
        "مرحبا",
        "*" * 500,
    ],
)
def test_a_question_is_data_never_syntax(house: Engram, query: str) -> None:
    house.recall(query)

    assert house.stats().memories == len(HOUSE)


@every(
    ("stored", "query"),
    [
        ("The login bug is in src/auth.ts line 40", "auth.ts"),
        ("Never run rm -rf on the build server", "rm -rf"),
        ("Bjarne wrote the parser in C++", "C++"),
        ("The variable user_id must not be null", "user_id"),
        ("会议在上海举行", "上海"),
        ("Release v2.1 broke the importer", "v2.1"),
    ],
)
def test_code_words_and_chinese_are_found(house: Engram, stored: str, query: str) -> None:
    house.remember(stored)

    assert contents(house.recall(query))[0] == stored


def test_a_neighbouring_turn_is_found_without_a_shared_word(memory: Engram) -> None:
    turns = [
        ("Ann", "Which instrument does your daughter play these days?"),
        ("Ben", "The cello, since last May."),
    ]
    for speaker, said in turns:
        memory.remember(said, speaker=speaker, session="s1", source="session")
    memory.remember("Lovely weather, isn't it", speaker="Ann", session="s2", source="session")

    found = memory.recall("What instrument does the daughter play?", explain=True)

    assert "The cello, since last May." in contents(found)[:2]
    hit = next(hit for hit in found if hit.memory.speaker == "Ben")
    assert any(row.step == "neighbours" for row in hit.evidence)


def test_the_explanation_tells_plan_channels_and_drops(house: Engram) -> None:
    found = house.recall("where is the router?", explain=True)

    steps = {row.step for row in found[0].evidence}
    assert {"text", "vector", "fuse", "judge", "rank"} <= steps
    assert "router" in found.plan.terms
    assert found.plan.space
    assert found.dropped
    assert all(drop.why for drop in found.dropped)
    assert "plan" in found.timings


def test_quality_is_measured(house: Engram) -> None:
    quality = house.recall("where is the router?").quality

    assert quality.returned >= 1
    assert quality.top_relevance > 0.5
    assert 0 < quality.ndcg <= 1


@every("budget", [0, 1, 5, 12, 30, 1_000])
def test_the_budget_is_never_exceeded(house: Engram, budget: int) -> None:
    found = house.recall("cat router boiler pie trains", budget=budget, min_relevance=0.0)

    assert sum(hit.tokens for hit in found) <= budget


def test_a_small_budget_brings_shorter_forms(memory: Engram) -> None:
    long = (
        "The boiler was serviced in March. " + "The engineer also looked at every radiator of the house. " * 5
    )
    memory.remember(long)

    whole = memory.recall("boiler service", min_relevance=0.0)[0]
    short = memory.recall("boiler service", budget=whole.tokens // 2, min_relevance=0.0)[0]

    assert whole.form == "content"
    assert short.form != "content"
    assert short.text in (short.memory.forms.summary, short.memory.forms.key_fact, short.memory.forms.label)


def test_use_is_counted_only_when_relevant_and_not_dry(house: Engram) -> None:
    dry = house.recall("where is the router?", dry=True)[0].memory
    house.recall("where is the router?")
    house.recall("where is the router?", session="s1")
    house._tools.store.flush()  # noqa: SLF001 - use is counted behind the caller's back

    again = house.get(dry.id)
    assert again is not None
    assert (again.usage.accessed, again.usage.sessions) == (2, 1)


def test_what_did_not_help_stays_away_from_like_questions_only(house: Engram, clock: FakeClock) -> None:
    cat = house.recall("what food makes the cat ill?")[0].memory
    house.feedback(cat.id, helpful=False, query="what food makes the cat ill?")

    assert cat.content not in contents(house.recall("which food makes the cat ill?"))
    assert cat.content in contents(house.recall("who is Mia?"))
    clock.advance(days=91)
    assert cat.content in contents(house.recall("which food makes the cat ill?"))


def test_the_same_words_are_shown_once(memory: Engram) -> None:
    for speaker in ("Ann", "Ben", "Cem"):
        memory.remember("The concert starts at eight", speaker=speaker, source="session")

    assert len(memory.recall("when does the concert start?")) == 1


def test_pinned_wins_a_tie(memory: Engram) -> None:
    for name in ("A1", "A2", "A3"):
        memory.remember(f"The password hint of server {name} is purple")
    middle = next(m for m in memory.list() if "A2" in m.content)
    memory.pin(middle.id)

    assert memory.recall("password hint server", min_relevance=0.0)[0].memory.id == middle.id


def test_filters_hold_in_every_channel(house: Engram) -> None:
    rule = house.remember("Always feed the cat at seven", category="procedure", tags=["pets"]).memory

    for query in ("cat", "feeding time of the pet", "router"):
        for filters in (
            Filters(tags_any=frozenset({"pets"})),
            Filters(kinds=frozenset({Kind.PROCEDURAL}))
            if rule.kind is Kind.PROCEDURAL
            else Filters(types=frozenset({Type.PROCEDURE})),
            Filters(categories=frozenset({"procedure"})),
        ):
            assert {hit.memory.id for hit in house.recall(query, filters=filters, min_relevance=0.0)} <= {
                rule.id
            }


def test_modes_choose_types(house: Engram) -> None:
    house.remember("Always feed the cat at seven", type="procedure")

    for hit in house.recall("cat", mode="facts_only", min_relevance=0.0):
        assert hit.memory.type is Type.FACT


def test_archived_comes_back_only_on_request(house: Engram) -> None:
    router = house.recall("where is the router?")[0].memory
    house.forget(router.id)

    assert router.content not in contents(house.recall("where is the router?"))
    found = house.recall("where is the router?", include_archived=True)
    assert found[0].memory.status is Status.ARCHIVED


def test_a_challenged_memory_is_shown_with_its_mark(house: Engram) -> None:
    router = house.recall("where is the router?")[0].memory
    house.set_status(router.id, "challenged", "moved house")

    found = house.recall("where is the router?")
    assert found[0].memory.status is Status.CHALLENGED
    assert any(row.name == "challenged" for row in found[0].evidence)


def test_a_superseded_memory_never_stands_above_the_current_one(memory: Engram) -> None:
    memory.remember("My favourite editor is vim, the best editor for editing my editor settings")
    memory.remember("My favourite editor is Helix")
    everything = Filters(statuses=frozenset(Status))

    statuses = [hit.memory.status for hit in memory.recall("editor", filters=everything, min_relevance=0.0)]
    assert statuses == sorted(statuses, key=lambda status: status is not Status.ACTIVE)


def test_the_same_question_gets_the_same_answer(house: Engram) -> None:
    first = house.recall("cat and router", dry=True, min_relevance=0.0)
    second = house.recall("cat and router", dry=True, min_relevance=0.0)

    assert [(hit.memory.id, hit.score) for hit in first] == [(hit.memory.id, hit.score) for hit in second]


def test_an_agent_sees_its_own_place_and_those_above(file: object, clock: FakeClock) -> None:
    with Engram.open(str(file), clock=clock) as owner:
        owner.remember("The office router is blue")
        owner.remember("The router password is in rex's drawer", scope=Scope(agent="rex"))
        owner.remember("The router password is in ada's drawer", scope=Scope(agent="ada"))
    rex = Access(Scope(agent="rex"), Role.AGENT)
    with Engram.open(str(file), clock=clock, access=rex, actor="rex") as memory:
        found = contents(memory.recall("router password", min_relevance=0.0))
        assert any("rex" in content for content in found)
        assert any("office" in content for content in found)
        assert not any("ada" in content for content in found)
        with pytest.raises(AccessDenied):
            memory.recall("router", scope=Scope(agent="ada"))
        with pytest.raises(AccessDenied):
            memory.remember("mine now", scope=Scope(agent="ada"))


@every("profile", ["default", "trust", "layered"])
def test_every_profile_puts_the_right_memory_first(house: Engram, profile: str) -> None:
    assert house.recall("where is the router?", profile=profile)[0].memory.content == HOUSE[3]


def test_a_single_result_has_the_full_score(memory: Engram) -> None:
    memory.remember("The Wi-Fi router stands behind the piano")
    only = memory.recall("where is the router?")

    assert len(only) == 1
    assert only[0].score == 1.0


def test_sessions_are_ranked_by_their_best_turns(memory: Engram) -> None:
    for session, said in (
        ("s1", "The cello is old"),
        ("s1", "We tuned the cello"),
        ("s2", "A cello!"),
        ("s3", "Tea"),
    ):
        memory.remember(said, speaker="Ann", session=session, source="session")

    names = [name for name, _ in memory.recall("cello", min_relevance=0.0, limit=50).sessions]
    assert names[:2] == ["s1", "s2"]


def test_a_long_winded_question_is_still_answered(house: Engram) -> None:
    talk = (
        "I was wondering about so many things this morning, the weather, my cousin, the old bridge, lunch. "
    )

    assert contents(house.recall(talk * 3 + "Anyway, where does the Wi-Fi router stand?"))[0] == HOUSE[3]


def test_a_chinese_question_finds_its_answer(house: Engram) -> None:
    house.remember("我舅舅的单位是青岛华银储蓄银行。")

    assert contents(house.recall("舅舅的单位叫什么名字来着？"))[0] == "我舅舅的单位是青岛华银储蓄银行。"


def test_quoted_words_that_stand_together_come_first(memory: Engram) -> None:
    memory.remember("The red house has a green door and a garden")
    memory.remember("A green house was built behind the red door")

    found = memory.recall('"green house"', min_relevance=0.0)
    assert found[0].memory.content.startswith("A green house")
    assert any(row.name == "quoted words stand together" for row in found[0].evidence)


def test_a_rare_name_in_a_long_memory_brings_nothing_else_along() -> None:
    clauses = " ".join(f"clause {number} concerns delivery terms and liability" for number in range(110))
    with Engram.open(":memory:") as opened:
        for firm in ("Westhafen", "Ostermann"):
            opened.remember(f"Contract with {firm} Logistics. {clauses}", apart=True)
        for number in range(30):
            opened.remember(f"short note number {number} about tasks and meetings", apart=True)
        assert [one.memory.content[14:23] for one in opened.recall("Ostermann")] == ["Ostermann"]
