"""How good the statements are that the rules take out of messages: precision and recall by language.

    python -m benchmarks.statements [--wrong]

Runs over the set written by hand, `tests/capture/data/messages.jsonl`; how a produced statement is compared
with an expected one stands in `tests/capture/scoring.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.capture.scoring import MESSAGES, Outcome, figures, outcomes

LANGUAGES = ("English", "Chinese", "mixed")


def main() -> None:
    """Print the table, and with --wrong every message that went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=MESSAGES)
    parser.add_argument("--wrong", action="store_true", help="list every miss and every false statement")
    options = parser.parse_args()
    results = outcomes(options.data)
    print("| language | messages | expected | found | recall | produced | true | precision |")
    print("|---|---|---|---|---|---|---|---|")
    for language in LANGUAGES:
        print(_row(language, [one for one in results if one.language == language]))
    print(_row("all", results))
    silent = [one for one in results if not one.expected]
    kept = sum(not one.produced for one in silent)
    print(f"\nOf {len(silent)} messages that say nothing worth keeping, {kept} gave nothing.")
    if options.wrong:
        _print_wrong(results)


def _row(name: str, results: list[Outcome]) -> str:
    part = figures(results)
    return (
        f"| {name} | {part.messages} | {part.expected} | {part.found} | {part.recall:.3f} "
        f"| {part.produced} | {part.true} | {part.precision:.3f} |"
    )


def _print_wrong(results: list[Outcome]) -> None:
    for one in results:
        if not (one.missed or one.false):
            continue
        print(f"\n{one.message!r}")
        for text in one.missed:
            print(f"  missed: {text}")
        for text in one.produced:
            print(f"  {'FALSE: ' if text in one.false else 'true:  '} {text}")


if __name__ == "__main__":
    main()
