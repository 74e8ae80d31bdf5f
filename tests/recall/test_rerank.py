"""The list is put in order once more: without crowding, without surprises, and saying why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engram import Engram, Filters, Scope, Status
from engram.capture.pipeline import remember
from engram.config import RERANKS, Config, overlay
from engram.embed import open_reranker
from engram.embed.transformer import CrossEncoder, PairModel
from engram.errors import RerankerDown
from engram.llm import open_advisor
from engram.model.capture import Draft
from engram.model.recall import Evidence, Hit, Question, Recall
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.pipeline import recall
from engram.recall.rerank import K, RankingOrder, fuse_ranks
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import Reply, fails, says, says_json
from tests.tables import every

TEA = (
    "Anna drinks green tea in the morning",
    "Anna buys her tea in a small shop in Bremen",
    "The tea kettle is broken again",
    "Ben prefers coffee to tea",
)


class Longest:
    """A cross-encoder that finds longer texts better."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) / 10 for text in texts]


@pytest.fixture
def tea(tools: Tools) -> Tools:
    remember([Draft(one) for one in TEA], tools, "tester")
    return tools


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]


def told(hit: Hit, name: str) -> list[Evidence]:
    return [one for one in hit.evidence if one.name == name]


@every("mode", [mode for mode in RERANKS if mode != "cross_encoder"])
def test_every_mode_shows_the_same_memories_in_the_same_order_twice(tea: Tools, mode: str) -> None:
    question = Question("what tea does Anna drink?", rerank=mode, min_relevance=0.0, dry=True)
    plain = recall(replace(question, rerank="none"), tea)

    first, second = recall(question, tea), recall(question, tea)

    assert contents(first) == contents(second)
    assert sorted(contents(first)) == sorted(contents(plain))
    assert first.quality.rerank == mode


def test_rank_fusion_adds_up_what_the_channels_say() -> None:
    both = Candidate(1, text_rank=2, vector_rank=3)
    words = Candidate(2, text_rank=1)
    nobody = Candidate(3, lent=0.5)
    order = fuse_ranks([nobody, words, both])

    assert [one.key for one in order.ordered] == [1, 3, 2]
    worth = 1 / (K + 2) + 1 / (K + 3)
    assert order.scores == {1: 1.0, 2: 1 / (K + 1) / worth, 3: 1 / (K + 1) / worth}


def test_what_says_just_the_same_goes_to_the_end_but_another_number_does_not(tools: Tools) -> None:
    same = ["Anna drinks green tea", "Anna, she drinks green tea!", "So Anna drinks green tea"]
    other = ["Anna drinks 3 cups of green tea", "The kettle for the tea is broken"]
    remember([Draft(one, speaker="Ben", session="s") for one in (*same, *other)], tools, "tester")

    found = recall(Question("Anna green tea", min_relevance=0.0), tools)

    assert [one in same for one in contents(found)] == [True, False, False, True, True]
    assert told(found[-1], "says just the same as")[0].note.startswith(found[0].memory.id[:8])


def test_without_vectors_shared_words_tell_what_is_the_same(tools: Tools) -> None:
    said = ["Anna drinks green tea", "Anna drinks green tea, really", "The green kettle is broken"]
    tools.embedder.down = True  # type: ignore[attr-defined]
    remember([Draft(one, speaker="Ben", session="s") for one in said], tools, "tester")

    found = recall(Question("Anna drinks green tea", min_relevance=0.0), tools)
    assert contents(found)[1] == said[2]


def test_the_same_words_of_another_kind_or_place_are_shown_once_and_named(memory: Engram) -> None:
    memory.remember("The staging server is heron")
    memory.remember("The staging server is heron", scope=Scope(project="apollo"))
    memory.remember("The staging server is heron", scope=Scope(agent="rex"))

    found = memory.recall("staging server")

    assert len(found) == 1
    places = {one.note.split(", ")[1] for one in told(found[0], "also kept as")}
    assert places | {str(found[0].memory.scope)} == {"default", "default agent=rex", "default project=apollo"}


@pytest.mark.parametrize("mode", [mode for mode in RERANKS if mode != "model"])
def test_what_was_superseded_never_rises_above_what_holds(tools: Tools, mode: str) -> None:
    old = "My favourite editor is vim, the best editor of all editors for my editor files"
    remember([Draft(old), Draft("My favourite editor is Helix"), Draft("Editors are many")], tools, "tester")
    asked = Question("editor", filters=Filters(statuses=frozenset(Status)), rerank=mode, min_relevance=0.0)

    statuses = [hit.memory.status for hit in recall(asked, replace(tools, reranker=Longest()))]
    assert statuses[-1] is Status.SUPERSEDED
    assert Status.SUPERSEDED not in statuses[:-1]


# ---------------------------------------------------------------- the cross-encoder


def test_a_cross_encoder_puts_the_head_in_its_own_order(tea: Tools) -> None:
    found = recall(
        Question("tea", rerank="cross_encoder", min_relevance=0.0), replace(tea, reranker=Longest())
    )

    assert contents(found) == sorted(TEA, key=len, reverse=True)
    assert told(found[0], "cross-encoder")[0].value == len(max(TEA, key=len)) / 10
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_without_a_folder_the_error_says_which_setting(memory: Engram) -> None:
    memory.remember("The kettle is broken")

    with pytest.raises(RerankerDown, match=r"rerank\.path"):
        memory.recall("kettle", rerank="cross_encoder")


def test_a_folder_without_a_model_or_without_the_extra_is_told(tmp_path: Any, monkeypatch: Any) -> None:
    with pytest.raises(RerankerDown, match=r"has no model\.onnx"):
        CrossEncoder(tmp_path).score("q", ["a"])
    (tmp_path / "model.onnx").write_bytes(b"weights")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    reranker = open_reranker(overlay(Config(), {"rerank.path": str(tmp_path)}).rerank)
    assert reranker is not None
    with pytest.raises(RerankerDown, match=r"engram-cortex\[embed\]"):
        reranker.score("q", ["a"])
    assert open_reranker(Config().rerank) is None


class Words:
    """A tokenizer that makes a token of each word."""

    def encode_batch(self, pairs: Sequence[tuple[str, str]]) -> list[SimpleNamespace]:
        return [self._encode(question.split(), text.split()) for question, text in pairs]

    def _encode(self, question: list[str], text: list[str]) -> SimpleNamespace:
        ids = [len(word) for word in (*question, *text)]
        kinds = [0] * len(question) + [1] * len(text)
        return SimpleNamespace(ids=ids, attention_mask=[1] * len(ids), type_ids=kinds)


class Session:
    """A runtime session that adds up the word lengths of the text, as one logit or two."""

    def __init__(self, outputs: int) -> None:
        self._outputs = outputs
        self.widths: list[int] = []

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in ("input_ids", "attention_mask", "token_type_ids")]

    def run(self, _: None, feeds: dict[str, Any]) -> list[Any]:
        assert set(feeds) == {"input_ids", "attention_mask", "token_type_ids"}
        self.widths.append(feeds["input_ids"].shape[1])
        value = (feeds["input_ids"] * feeds["token_type_ids"] * feeds["attention_mask"]).sum(axis=1)
        column = value.astype(np.float32)[:, None]
        return [column if self._outputs == 1 else np.hstack([-column, column])]


@every(("outputs", "factor"), [(1, 1.0), (2, 2.0)])
def test_pairs_are_scored_in_their_own_order_whatever_their_length(outputs: int, factor: float) -> None:
    session = Session(outputs)
    texts = ["a " * 300, "tea", "green tea", "b " * 2_000]

    assert PairModel(session, Words()).score("which tea", texts) == [
        300 * factor, 3 * factor, 8 * factor, 2_000 * factor,
    ]  # fmt: skip
    assert len(session.widths) > 1, "a long text goes in a batch of its own"
    assert PairModel(session, Words()).score("which tea", []) == []


# ---------------------------------------------------------------- the model


def asked(tools: Tools, *replies: Reply) -> tuple[Recall, int]:
    with ScriptedServer(*replies) as server:
        config = overlay(tools.config, {"llm.base_url": server.url, "llm.model": "m", "llm.retries": 0})
        advisor = open_advisor(config.llm, tools.store.spending, FakeClock())
        found = recall(
            Question("tea", rerank="model", min_relevance=0.0), replace(tools, advisor=advisor, config=config)
        )
        return found, len(server.requests)


def test_the_model_puts_the_head_in_its_own_order(tea: Tools) -> None:
    plain = contents(recall(Question("tea", rerank="none", min_relevance=0.0), tea))

    found, calls = asked(tea, says_json({"order": [3, 1]}))

    assert contents(found) == [plain[2], plain[0], plain[1], plain[3]]
    assert calls == 1
    assert told(found[0], "the model's place")[0].value == 1.0


@every("reply", [fails(500), says("I cannot say"), says_json({"order": [99]})])
def test_a_model_that_gives_no_order_is_replaced_by_mmr_and_the_plan_says_so(
    tea: Tools, reply: Reply
) -> None:
    plain = contents(recall(Question("tea", rerank="mmr", min_relevance=0.0), tea))

    found, _ = asked(tea, reply)

    assert contents(found) == plain
    assert any("mmr" in note for note in found.plan.notes)


# ---------------------------------------------------------------- the trial


def test_a_tried_reranking_is_measured_and_changes_nothing(tea: Tools) -> None:
    plain = Question("what tea does Anna drink?", min_relevance=0.0, dry=True)

    tried = recall(replace(plain, trial="rrf"), tea)

    assert tried.quality.rerank_gain is not None
    assert [(hit.memory.id, hit.score, hit.evidence) for hit in tried] == [
        (hit.memory.id, hit.score, hit.evidence) for hit in recall(plain, tea)
    ]


def test_a_kind_it_has_helped_is_reranked_by_it_and_the_plan_says_so(tea: Tools) -> None:
    plain = Question("what tea does Anna drink?", min_relevance=0.0, dry=True, trial="rrf")
    kind = str(recall(plain, tea).plan.intent or "")

    found = recall(replace(plain, trial_for=frozenset({kind})), tea)

    assert found.quality.rerank == "rrf"
    assert any("reranked by rrf" in note for note in found.plan.notes)


def test_an_order_is_graded_by_how_relevant_its_beginning_is() -> None:
    good, bad = Candidate(1, relevance=0.9), Candidate(2, relevance=0.1)

    assert RankingOrder([good, bad]).ndcg(1) == 1.0
    assert RankingOrder([bad, good]).ndcg(1) == pytest.approx(1 / 9)
    assert RankingOrder([]).ndcg(5) == 0.0
