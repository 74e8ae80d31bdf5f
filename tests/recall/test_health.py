"""Recalls are watched: weak ones in a row raise a warning, what helps a kind of question is switched on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engram import Engram
from engram.api.recalling import GAIN, KEPT, TRIED, WEAK_IN_A_ROW, RecallRecord
from engram.model.recall import Intent, Plan, Quality, Question, Recall, Traces
from engram.ports import Tools
from engram.testing import FakeClock, HashEmbedder

ANSWER = Recall(
    Question("q"),
    Plan(intent=Intent.LOOKUP),
    (),
    Quality(top_relevance=0.8, mean_relevance=0.5, ndcg=0.9, returned=3, ms=2.0),
)


def tried(gain: float, intent: Intent = Intent.LOOKUP) -> Recall:
    quality = replace(ANSWER.quality, rerank_gain=gain)
    return replace(ANSWER, quality=quality, plan=Plan(intent=intent))


def test_ten_weak_recalls_in_a_row_are_told_by_the_doctor_and_a_good_one_ends_it(memory: Engram) -> None:
    memory.remember("The Wi-Fi router stands behind the piano")
    for _ in range(WEAK_IN_A_ROW - 1):
        memory.recall("quarterly revenue of the Belgian subsidiary")
    assert memory.recall_health().ok

    memory.recall("quarterly revenue of the Belgian subsidiary")
    health = memory.recall_health()
    assert health.weak_in_a_row == WEAK_IN_A_ROW
    assert "embeddings?" in health.warnings[0]
    found = next(one for one in memory.doctor() if one.name == "recalls")
    assert not found.ok
    assert "reembed" in found.advice

    memory.recall("where is the router?")
    assert memory.recall_health().weak_in_a_row == 0
    assert next(one for one in memory.doctor() if one.name == "recalls").ok


def test_dry_looks_empty_files_and_a_high_floor_are_no_bad_sign(memory: Engram) -> None:
    memory.recall("anything at all?")
    assert (memory.recall_health().overall.recalls, memory.recall_health().overall.weak) == (1, 0)
    memory.remember("The Wi-Fi router stands behind the piano")
    memory.recall("where is the router?", dry=True)
    memory.recall("where is the router?", min_relevance=1.0)
    memory.recall("where is the router?", as_of="2020-01-01")

    assert (memory.recall_health().overall.recalls, memory.recall_health().overall.weak) == (2, 0)


def test_figures_come_by_intent_with_times_and_are_bounded(tools: Tools) -> None:
    record = RecallRecord(tools.store.recalls)
    for ms in range(1, KEPT + 51):
        record.keep(Traces.of(replace(ANSWER, quality=replace(ANSWER.quality, ms=float(ms)))), weak=False)
    record.keep(Traces.of(replace(ANSWER, plan=Plan())), weak=True)

    health = record.health()
    assert health.overall.recalls == KEPT
    assert (health.by_intent["lookup"].recalls, health.by_intent["unclear"].recalls) == (KEPT - 1, 1)
    assert health.by_intent["lookup"].relevance == pytest.approx(0.8)
    assert health.by_intent["lookup"].hits == 3.0
    assert (health.weak_in_a_row, health.overall.weak) == (1, 1)
    assert health.p50_ms < health.p95_ms <= KEPT + 50


def test_little_relevance_on_average_is_told_once_there_is_an_average(tools: Tools) -> None:
    record = RecallRecord(tools.store.recalls)
    poor = replace(ANSWER, quality=replace(ANSWER.quality, top_relevance=0.3))
    for _ in range(19):
        record.keep(Traces.of(poor), weak=False)
    assert record.health().ok
    record.keep(Traces.of(poor), weak=False)
    assert "0.30" in record.health().warnings[0]


def test_a_reranking_is_switched_on_for_the_kind_it_helps_and_off_when_it_hurts(tools: Tools) -> None:
    record = RecallRecord(tools.store.recalls)
    for _ in range(TRIED - 1):
        record.keep(Traces.of(tried(2 * GAIN)), weak=False)
        record.keep(Traces.of(tried(-GAIN, Intent.CAUSAL)), weak=False)
    assert record.helped() == frozenset()

    record.keep(Traces.of(tried(2 * GAIN)), weak=False)
    record.keep(Traces.of(tried(-GAIN, Intent.CAUSAL)), weak=False)
    assert record.helped() == {"lookup"}
    assert record.health().reranked == ("lookup",)

    for _ in range(3):
        record.keep(Traces.of(tried(-0.1)), weak=False)
    assert record.helped() == frozenset()


def test_the_switch_shows_in_the_notes_and_a_named_mode_is_left_alone(file: Path, clock: FakeClock) -> None:
    config = {"recall.auto_rerank": "rrf", "recall.rerank": "none"}
    with Engram.open(file, clock=clock, embedder=HashEmbedder(), config=config) as memory:
        memory.remember_many(["Tea is green", "Anna drinks tea", "The kettle is broken"])
        found = memory.recall("who drinks tea?")
        assert found.quality.rerank_gain is not None
        memory._recalling._record._on.add(str(found.plan.intent or ""))  # noqa: SLF001 - as if it had helped

        assert any("reranked by rrf" in note for note in memory.recall("who drinks tea?").plan.notes)
        assert memory.recall("who drinks tea?", rerank="mmr").quality.rerank == "mmr"


def test_how_recalls_went_is_kept_with_the_file(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        memory.remember("The kettle is broken")
        memory.recall("kettle")
        kept = memory.recall_health()
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        assert memory.recall_health() == kept
        assert kept.overall.recalls == 1
        memory.recall("kettle")
        assert memory.recall_health().overall.recalls == 2
    with Engram.open(file, clock=clock, embedder=HashEmbedder(), read_only=True) as memory:
        memory.recall("kettle")
        assert memory.recall_health().overall.recalls == 3
