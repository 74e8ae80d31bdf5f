"""How good an embedder is by itself: benchmark files come in, one line of figures comes out.

    python benchmarks/measure_embedder.py --data FOLDER [--embedder static|transformer] [--path FILE]

Dense search alone, no text index, no neighbours: figures to choose a model by, not the engine's own.
LoCoMo: share of a question's evidence turns among the first 10 turns of its conversation. LongMemEval:
sessions by their best user turn. STS-B: rank correlation of the cosine with people's judgement.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engram.config import EmbedConfig
from engram.embed import open_embedder
from engram.ports import Embedder

EVERYDAY_CATEGORIES = (1, 2, 3, 4)
ADVERSARIAL = 5


def measure(embedder: Embedder, data: Path) -> dict[str, float]:
    """All figures of one embedder."""
    return {
        **locomo(embedder, data / "locomo_dev.json"),
        **longmemeval(embedder, data / "longmemeval_s_dev.json.gz"),
        "memdaily_zh_r10": memdaily(embedder, data / "memdaily_zh_dev.json.gz"),
        "sts_en": sts(embedder, data / "stsb-en-dev.csv"),
        "sts_zh": sts(embedder, data / "stsb-zh-dev.csv"),
        **speed(embedder, data / "stsb-en-dev.csv"),
    }


def locomo(embedder: Embedder, path: Path) -> dict[str, float]:
    """Evidence recall at 10 over the turns of each conversation."""
    shares: list[tuple[int, float]] = []
    for sample in json.loads(path.read_text(encoding="utf8")):
        ids, texts = zip(*_turns(sample["conversation"]), strict=True)
        vectors = documents(embedder, texts)
        for question in sample["qa"]:
            wanted = set(question["evidence"]) & set(ids)
            if wanted:
                best = np.argsort(-(vectors @ query(embedder, question["question"])), kind="stable")[:10]
                share = len(wanted & {ids[i] for i in best}) / len(wanted)
                shares.append((question["category"], share))
    everyday = [share for category, share in shares if category in EVERYDAY_CATEGORIES]
    return {"locomo_r10_1to4": _mean(everyday), "locomo_r10": _mean([share for _, share in shares])}


def _turns(conversation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, turns in conversation.items():
        if key.startswith("session_") and isinstance(turns, list):
            for turn in turns:
                caption = turn.get("blip_caption")
                shown = f" [shares {caption}]" if caption else ""
                yield turn["dia_id"], f"{turn['speaker']}: {turn['text']}{shown}"


def longmemeval(embedder: Embedder, path: Path) -> dict[str, float]:
    """Any and all of the answer's sessions among the first five, each session as good as its best turn."""
    seen: dict[str, Any] = {}
    any_found, all_found = [], []
    with gzip.open(path, "rt", encoding="utf8") as file:
        questions = [question for question in json.load(file) if not question["question_id"].endswith("_abs")]
    for question in questions:
        for name, session in zip(
            question["haystack_session_ids"], question["haystack_sessions"], strict=True
        ):
            if name not in seen:
                turns = [turn["content"] for turn in session if turn["role"] == "user"]
                seen[name] = documents(embedder, turns or [""])
        asked = query(embedder, question["question"])
        names = question["haystack_session_ids"]
        scores = np.array([float((seen[name] @ asked).max()) for name in names])
        best = {names[i] for i in np.argsort(-scores, kind="stable")[:5]}
        wanted = set(question["answer_session_ids"])
        any_found.append(bool(wanted & best))
        all_found.append(wanted <= best)
    return {"longmemeval_any5": _mean(any_found), "longmemeval_all5": _mean(all_found)}


def memdaily(embedder: Embedder, path: Path) -> float:
    """Chinese: share of a question's messages among the first 10 of all messages of its group."""
    shares = []
    with gzip.open(path, "rt", encoding="utf8") as file:
        groups = json.load(file).values()
    for group in groups:
        messages = [
            (talk["tid"], said["mid"], said["message"]) for talk in group for said in talk["message_list"]
        ]
        vectors = documents(embedder, [message for _, _, message in messages])
        for talk in group:
            for asked in talk["question_list"]:
                wanted = {(talk["tid"], step) for step in asked["target_step_id"]}
                best = np.argsort(-(vectors @ query(embedder, asked["question"])), kind="stable")[:10]
                shares.append(len(wanted & {messages[i][:2] for i in best}) / len(wanted))
    return _mean(shares)


def sts(embedder: Embedder, path: Path) -> float:
    """Spearman's rank correlation of cosine and human similarity."""
    with path.open(encoding="utf8", newline="") as file:
        rows = [(one, other, float(score)) for one, other, score in csv.reader(file)]
    ones, others = (documents(embedder, [row[side] for row in rows]) for side in (0, 1))
    return float(
        np.corrcoef(_ranks((ones * others).sum(axis=1)), _ranks(np.array([row[2] for row in rows])))[0, 1]
    )


def _ranks(values: Any) -> Any:
    """Ranks with ties shared."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def speed(embedder: Embedder, path: Path) -> dict[str, float]:
    """Milliseconds a question (median) and short documents a second, warm."""
    with path.open(encoding="utf8", newline="") as file:
        texts = [row[0] for row in csv.reader(file)][:500]
    times = []
    for text in texts[:200]:
        start = time.perf_counter()
        query(embedder, text)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    documents(embedder, texts)
    return {
        "query_ms": float(np.median(times)) * 1e3,
        "documents_per_s": len(texts) / (time.perf_counter() - start),
    }


def documents(embedder: Embedder, texts: Sequence[str]) -> Any:
    """The vectors of documents, their space left aside."""
    return embedder.embed(texts)[1]


def query(embedder: Embedder, text: str) -> Any:
    """The vector of a question, its space left aside."""
    return embedder.embed_query(text)[1]


def _mean(values: list[Any]) -> float:
    return float(np.mean(values)) if values else 0.0


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the benchmark files")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--path", default="", help="weights file or model folder other than the default")
    options = parser.parse_args()
    embedder = open_embedder(EmbedConfig(name=options.embedder, path=options.path))
    start = time.perf_counter()
    query(embedder, "load")
    loaded = (time.perf_counter() - start) * 1e3
    print(json.dumps({**measure(embedder, options.data), "load_ms": loaded}))


if __name__ == "__main__":
    main()
