from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from engram.cli.bench import bench
from tests.bench.made_up import EVERYDAY, LOCOMO, LONGMEMEVAL, MEMDAILY, write
from tests.tables import every


def run(*arguments: object) -> str:
    outcome = CliRunner().invoke(bench, [str(argument) for argument in arguments], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def answer(*arguments: object) -> dict[str, Any]:
    figures = json.loads(run(*arguments, "--json"))
    assert isinstance(figures, dict)
    return figures


def test_locomo_finds_the_turns_of_a_small_conversation(tmp_path: Path) -> None:
    figures = answer("locomo", "--data", write(tmp_path / "data.json", LOCOMO))

    assert (figures["n"], figures["left_out"], figures["haystacks"]) == (4, 1, 1)
    assert figures["recall@20"] == 1.0
    assert figures["by_category"]["single-hop"]["recall@1"] == 1.0
    assert set(figures["by_category"]) == {"single-hop", "multi-hop", "adversarial"}
    assert figures["outcomes"] == {"stored": 5}
    assert 0 <= figures["answerability"]["auroc"] <= 1
    assert figures["answerability"]["unanswerable"]["n"] == 1
    assert figures["latency_ms"]["p50"] <= figures["latency_ms"]["p95"]


def test_longmemeval_ranks_the_sessions_of_a_haystack(tmp_path: Path) -> None:
    figures = answer("longmemeval", "--data", write(tmp_path / "data.json.gz", LONGMEMEVAL))

    assert (figures["n"], figures["left_out"]) == (1, 1)
    assert figures["recall_any@1"] == figures["recall_all@5"] == figures["ndcg@10"] == 1.0
    assert figures["by_type"]["single-session-user"]["mrr"] == 1.0


def test_memdaily_finds_a_chinese_message(tmp_path: Path) -> None:
    figures = answer("memdaily", "--data", write(tmp_path / "data.json.gz", MEMDAILY))

    assert figures["recall@1"] == figures["mrr"] == 1.0
    assert list(figures["by_category"]) == ["01_simple_events"]


def test_a_person_gets_a_table(tmp_path: Path) -> None:
    table = run("locomo", "--data", write(tmp_path / "data.json", LOCOMO))

    assert "multi-hop" in table
    assert "answerability.answerable.empty_at_floor" in table or "empty_at_floor" in table


def test_a_saved_result_says_what_was_measured_and_how(tmp_path: Path) -> None:
    data, kept = write(tmp_path / "data.json", LOCOMO), tmp_path / "kept" / "one.json"

    shown = answer("locomo", "--data", data, "--save", kept, "--set", "recall.text_weight=0.7")

    saved = json.loads(kept.read_text(encoding="utf-8"))
    assert saved == shown
    assert saved["settings"] == {"recall.text_weight": 0.7}
    assert saved["benchmark"] == "locomo"
    assert saved["data"]["file"] == "data.json"
    assert "static" in saved["embedder"]
    assert str(tmp_path) not in kept.read_text(encoding="utf-8")


def test_everyday_talk_is_scored_part_by_part_and_language_by_language(tmp_path: Path) -> None:
    data = write(tmp_path / "data.json", EVERYDAY)

    figures = answer("everyday", "--data", data)

    assert figures["updates"]["en"]["n"] == 2
    assert figures["updates"]["en"].keys() == {"balanced", "all", "replace", "both", "n"}
    assert figures["nothing"]["en"] == {"nothing kept": 1.0, "n": 1}
    assert figures["keep"]["en"] == {"kept": 0.5, "n": 2}
    story = figures["stories"]["de"]
    assert story["n"] == {"gold": 1, "questions": 1, "unanswerable": 1}
    assert story["facts captured"] == story["answered@3"] == 1.0
    assert answer("everyday", "--data", data, "--only", "keep").keys() >= {"keep", "benchmark"}


def test_what_fails_in_everyday_talk_is_named_on_request(tmp_path: Path) -> None:
    data = write(tmp_path / "data.json", EVERYDAY)

    outcome = CliRunner().invoke(bench, ["everyday", "--data", str(data), "--only", "keep", "--verbose"])

    assert "NO k1" in outcome.stderr
    assert "kept 0.5" in outcome.stdout or "0.5" in outcome.stdout


@pytest.mark.slow
def test_speed_measures_each_size_in_processes_of_its_own(tmp_path: Path) -> None:
    figures = answer(
        "speed", "--sizes", "200,60", "--queries", "10", "--writes", "20", "--keep", tmp_path / "kept"
    )

    assert list(figures["sizes"]) == ["60", "200"]
    assert isinstance(figures["exponent"], float)
    for measured in figures["sizes"].values():
        assert measured["recall_ms"]["p50"] <= measured["recall_ms"]["p95"]
        for name in ("import_per_s", "writes_per_s", "writes_per_s_1", "first_answer_s"):
            assert measured[name] > 0
        assert measured["known_item@10"] > 0.5
        assert sum(measured["outcomes"].values()) in {60, 200}
    assert len(list((tmp_path / "kept").glob("speed-*.engram"))) == 2


@every("sizes", ["ten", "0", "10,,20", "-5"])
def test_sizes_that_are_no_sizes_are_refused(sizes: str) -> None:
    outcome = CliRunner().invoke(bench, ["speed", f"--sizes={sizes}"])

    assert outcome.exit_code == 2
    assert "--sizes" in outcome.output
