"""Precision and recall of what is sensitive, on texts written by published formats."""

from __future__ import annotations

import json
from pathlib import Path

from engram.rules.sensitivity import redacted, sensitive_parts
from tests.tables import every

DATA = Path(__file__).parents[2] / "benchmarks" / "data"


@every("half", ["dev", "test", "unseen", "talk"])
def test_precision_and_recall(half: str) -> None:
    lines = (DATA / f"sensitive_{half}.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [json.loads(line) for line in lines if line]
    marked = {one["text"] for one in texts if sensitive_parts(one["text"])}
    wanted = {one["text"] for one in texts if one["kind"] != "none"}

    assert len(marked & wanted) / len(marked) >= 0.9
    assert len(marked & wanted) / len(wanted) >= 0.9


def test_nothing_of_a_part_is_left() -> None:
    lines = (DATA / "sensitive_unseen.jsonl").read_text(encoding="utf-8").split("\n")
    told = [one for one in map(json.loads, filter(None, lines)) if "part" in one]
    left = [one["text"] for one in told if one["part"] in redacted(one["text"])]

    assert len(left) / len(told) <= 0.05, left
