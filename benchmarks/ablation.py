"""What each idea of recall is worth: one part is switched off at a time, and LoCoMo is asked again.

    python benchmarks/ablation.py --data FILE

Runs `engram bench locomo` once a line, with the settings it names; what is in capitals is a constant of
the program, changed for that one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

VARIANTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("as shipped", ()),
    ("words only", ("recall.vector_weight=0",)),
    ("meaning only", ("recall.text_weight=0",)),
    (
        "no neighbouring turns",
        ("recall.channels._SHARES[:]=0", "recall.channels.ANSWER_SHARE=0"),
    ),
    ("a question lends no more than another turn", ("recall.channels.ANSWER_SHARE=0",)),
    ("turns lend to the one beside them only", ("recall.channels._SHARES[1::2]=0",)),
    ("long turns lend and borrow like short ones", ("recall.channels.LENDING_WORDS=100000",)),
    ("no help from the session", ("recall.judge.SESSION_SHARE=0",)),
    ("the speaker's name counts for nothing more", ("recall.judge.SPEAKER_GAIN=1",)),
    ("speaker and date are no cue words", ("text.bm25.CUE_WEIGHT=0",)),
    ("no reranking", ("recall.rerank=none",)),
    (
        "words only, none of the rest",
        (
            "recall.vector_weight=0",
            "recall.channels._SHARES[:]=0",
            "recall.channels.ANSWER_SHARE=0",
            "recall.judge.SESSION_SHARE=0",
            "recall.judge.SPEAKER_GAIN=1",
        ),
    ),
)
CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")


def main() -> None:
    """Run all variants and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    data = parser.parse_args().data
    print("| variant | R@5 | R@10 | R@20 | " + " | ".join(CATEGORIES) + " (R@10) | settings |")
    print("|---|---|---|---|" + "---|" * (len(CATEGORIES) + 1))
    for name, settings in VARIANTS:
        print(_row(name, settings, _run(data, settings)), flush=True)


def _run(data: str, settings: tuple[str, ...]) -> dict[str, Any]:
    constants = [one for one in settings if not one.islower()]
    switches = [word for setting in settings if setting not in constants for word in ("--set", setting)]
    changes = [f"import engram.{one.rpartition('.')[0]}; engram.{one}" for one in constants]
    code = "; ".join([*changes, "import engram.cli; engram.cli.main()"])
    command = [sys.executable, "-c", code, "bench", "locomo", "--data", data, "--json", *switches]
    answer: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer


def _row(name: str, settings: tuple[str, ...], found: dict[str, Any]) -> str:
    whole = [f"{found[f'recall@{k}']:.3f}" for k in (5, 10, 20)]
    parts = [f"{found['by_category'][category]['recall@10']:.3f}" for category in CATEGORIES]
    return f"| {name} | {' | '.join([*whole, *parts])} | {' '.join(f'`{one}`' for one in settings)} |"


if __name__ == "__main__":
    main()
