"""Edges and facts bring to mind what shares no word with the question, as far as the caller may see."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.capture.pipeline import remember
from engram.config import Config, overlay
from engram.index import SignatureIndex
from engram.model.capture import Draft
from engram.model.facts import Edge, EdgeType
from engram.model.recall import USED_ABOVE, Question, Recall
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools
from engram.recall.channels import WEIGHTS
from engram.recall.pipeline import recall
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock, HashEmbedder, sequential_ids

WORLD = Path(__file__).parent / "data" / "two_hops.txt"


def put(tools: Tools, *contents: str, scope: Scope = Scope()) -> list[str]:
    drafts = [Draft(content, scope=scope) for content in contents]
    return [receipt.memory.id for receipt in remember(drafts, tools, "tester")]


def relate(tools: Tools, source: str, target: str, edge_type: EdgeType, confidence: float = 1.0) -> None:
    edge = Edge(source, target, edge_type, confidence=confidence)
    tools.store.write(lambda unit: unit.relate(edge, ""), "tester")


def draw(tools: Tools, edge: Edge) -> None:
    tools.store.write(lambda unit: unit.add_edges([edge], 20), "tester")


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found if hit.score > 0]


def ask(tools: Tools, text: str, **fields: object) -> Recall:
    return recall(Question(text, min_relevance=0.0, dry=True, **fields), tools)  # type: ignore[arg-type]


def plain(tools: Tools, **more: object) -> Tools:
    """Without edges that come by themselves."""
    settings = {"capture.links": "off", **{name.replace("__", "."): value for name, value in more.items()}}
    return replace(tools, config=overlay(tools.config, settings))


# ---------------------------------------------------------------- edges


def test_a_linked_memory_comes_to_mind(tools: Tools) -> None:
    bare = plain(tools)
    cause, effect = put(bare, "the valve in the cellar was stuck", "guests complained about cold showers")
    relate(tools, effect, cause, EdgeType.CAUSED_BY)

    assert contents(ask(bare, "why were the showers cold?")) == [
        "guests complained about cold showers",
        "the valve in the cellar was stuck",
    ]


@pytest.mark.parametrize("edge_type", sorted(set(EdgeType) - set(WEIGHTS) - {EdgeType.NEXT}))
def test_what_stands_against_a_memory_is_not_brought_by_it(tools: Tools, edge_type: EdgeType) -> None:
    one, two = put(plain(tools), "the valve in the cellar was stuck", "guests complained about cold showers")
    relate(tools, two, one, edge_type)

    assert contents(ask(tools, "cold showers")) == ["guests complained about cold showers"]


def test_edges_that_nobody_is_sure_of_bring_nothing(tools: Tools) -> None:
    one, two = put(plain(tools), "the valve in the cellar was stuck", "guests complained about cold showers")
    relate(tools, two, one, EdgeType.RELATED_TO, confidence=0.15)

    assert len(contents(ask(tools, "cold showers"))) == 1


def test_an_association_fades_with_time(tools: Tools, clock: FakeClock) -> None:
    one, two = put(plain(tools), "the valve in the cellar was stuck", "guests complained about cold showers")
    relate(tools, two, one, EdgeType.RELATED_TO, confidence=0.5)
    scores = []
    for _ in range(5):
        scores.append(ask(tools, "cold showers")[1].score)
        clock.advance(days=45)

    assert scores[1] > scores[2] > scores[-1] == 0.0


def test_the_x_ray_tells_the_edges_walked(tools: Tools) -> None:
    one, two = put(plain(tools), "the valve in the cellar was stuck", "guests complained about cold showers")
    relate(tools, two, one, EdgeType.CAUSED_BY, confidence=0.8)
    (walked,) = (
        found for found in ask(tools, "cold showers", explain=True).hits[1].evidence if found.step == "graph"
    )

    assert walked.note == f"{two[:8]} → caused_by, confidence 0.80"
    assert walked.value > 0


def test_edges_between_what_is_recalled_together_prove_themselves(tools: Tools) -> None:
    one, two = put(plain(tools), "guests complained about cold showers", "cold showers again today")
    relate(tools, two, one, EdgeType.RELATED_TO, confidence=0.5)
    found = recall(Question("cold showers"), tools)
    tools.store.flush()

    assert all(hit.relevance > USED_ABOVE for hit in found)
    (edge,) = tools.store.relations.of(one, Access.everything())
    assert edge.confidence == pytest.approx(0.6)


def test_a_dry_recall_confirms_nothing(tools: Tools) -> None:
    one, two = put(plain(tools), "guests complained about cold showers", "cold showers again today")
    relate(tools, two, one, EdgeType.RELATED_TO, confidence=0.5)
    recall(Question("cold showers", dry=True), tools)
    tools.store.flush()

    assert tools.store.relations.of(one, Access.everything())[0].confidence == 0.5


# ---------------------------------------------------------------- facts


def test_facts_lead_to_an_answer_that_shares_no_word(tools: Tools) -> None:
    put(tools, "My boss is Carla Reyes", "Carla Reyes lives in Porto", "The clock in the hall is slow")

    assert contents(ask(tools, "Which town is home to my boss?"))[:2] == [
        "Carla Reyes lives in Porto",
        "My boss is Carla Reyes",
    ]


def test_the_x_ray_tells_the_facts_that_led_there(tools: Tools) -> None:
    put(tools, "My boss is Carla Reyes", "Carla Reyes lives in Porto")
    notes = {
        found.note
        for hit in ask(tools, "Which town is home to my boss?", explain=True)
        for found in hit.evidence
        if found.step == "facts"
    }

    assert "user — boss → carla reyes · carla reyes — live in → porto" in notes


def questions() -> tuple[list[str], list[tuple[str, list[str]]]]:
    rows = WORLD.read_text(encoding="utf-8").splitlines()
    statements = [row[2:] for row in rows if row.startswith("- ")]
    asked: list[tuple[str, list[str]]] = []
    for row in rows:
        if row.startswith("? "):
            asked.append((row[2:], []))
        elif row.startswith("> "):
            (meant,) = [one for one in statements if one.startswith(row[2:])][:1]
            asked[-1][1].append(meant)
    return statements, asked


def share_found(memory: Engram, asked: Sequence[tuple[str, list[str]]]) -> float:
    shares = []
    for text, wanted in asked:
        found = contents(memory.recall(text, limit=5, dry=True))
        shares.append(sum(one in found for one in wanted) / len(wanted))
    return sum(shares) / len(shares)


@pytest.mark.slow
def test_questions_that_take_two_facts_find_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements, asked = questions()
    found = []
    for draw in ("off", "on"):
        with (
            Engram.open(tmp_path / draw, config={"capture.links": draw}) as memory,
            monkeypatch.context() as alone,
        ):
            if draw == "off":
                alone.setattr("engram.recall.channels.GRAPH_SHARE", 0.0)
                alone.setattr("engram.recall.channels.FACT_SHARE", 0.0)
            for one in statements:
                memory.remember(one)
            found.append(share_found(memory, asked))

    assert len(asked) >= 40
    assert found[1] >= 0.95
    assert found[1] > found[0] + 0.15


# ---------------------------------------------------------------- who may see what

SCOPES = (
    Scope(),
    Scope(project="red"),
    Scope(project="blue"),
    Scope(project="red", agent="a"),
    Scope(namespace="other"),
    Scope(project="red", user="u"),
)
SAID = (
    "My boss is Carla Reyes",
    "Carla Reyes lives in Porto",
    "Carla Reyes reports to Gideon Stern",
    "Gideon Stern works at Corvix",
    "Corvix is located in Munich",
    "the office in Munich has a new boss",
)
scopes = st.sampled_from(SCOPES)
placed = st.lists(st.tuples(st.sampled_from(SAID), scopes), min_size=1, max_size=10)
links = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(sorted(WEIGHTS))), max_size=12
)
roles = st.sampled_from(list(Role))


@pytest.mark.slow
@given(said=placed, edges=links, where=scopes, role=roles)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_no_channel_shows_what_the_caller_may_not_see(
    said: list[tuple[str, Scope]],
    edges: list[tuple[int, int, EdgeType]],
    where: Scope,
    role: Role,
) -> None:
    clock = FakeClock()
    with closing(SqliteStore.open(":memory:", clock)) as store:
        tools = Tools(store, SignatureIndex(store), HashEmbedder(), clock, Config(), sequential_ids(), len)
        look_at_everything(tools, said, edges, Access(where, role))


def look_at_everything(
    tools: Tools, said: list[tuple[str, Scope]], edges: list[tuple[int, int, EdgeType]], access: Access
) -> None:
    ids = [put(tools, content, scope=scope)[0] for content, scope in said]
    for source, target, edge_type in edges:
        ends = ids[source % len(ids)], ids[target % len(ids)]
        if ends[0] != ends[1] and edge_type is not EdgeType.CAUSED_BY:
            draw(tools, Edge(*ends, edge_type))
    for text in ("In which city is the company of the boss of my boss?", "Carla Reyes", "Munich office"):
        for hit in ask(tools, text, access=access, limit=20):
            assert access.may_read(hit.memory.scope)
