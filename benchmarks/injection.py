"""How well commands to a model are told from what informs: catch and false-alarm rates with 95 % intervals.

    PYTHONPATH=src python benchmarks/injection.py                 # both halves, rates only
    PYTHONPATH=src python benchmarks/injection.py --failures      # what went wrong in the development half

The texts are ours, written by published families of attacks (goal hijacking and prompt leaking, indirect
injection through pages and mails, fake completions and role markers, tool calls, exfiltration through links,
planted memories, jailbreak personas, encodings and homoglyphs), in six languages. `injection_*` was written
before the first rules. `poison_*` was written later in wordings those rules do not know (notes to models in
documents, results of tools, wishes in the user's name, role play, administrators) beside what developers and
families write every day, and split by chance. `incidents_*` was written by published incidents, after list
and sentences of the training. Development halves are trained on (`train_injection.py`); failures of test
halves are not looked at. Other files of the same form can be named.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path

from engram.rules.injection import HARD, SOFT, signs_of

DATA = Path(__file__).parent / "data"
HALVES = ("injection_dev", "injection_test", "poison_dev", "poison_test", "incidents_dev", "incidents_test")
FOREIGN = frozenset(
    {
        "document",
        "toolresult",
        "indirect",
        "mail",
        "calendar",
        "tool",
        "issue",
        "slack",
        "paper",
        "resume",
        "shop",
    }
    | {"bot", "browser", "rules"}
)
"""Families of texts that come from a document, a mail or a tool and not from the user."""
Z = 1.96


def main() -> None:
    """Print the rates of each half, and with `--failures` the failures of the development half."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, help="lines of JSON like those in benchmarks/data")
    given = parser.parse_args()
    for path in given.files or [DATA / f"{half}.jsonl" for half in HALVES]:
        lines = path.read_text(encoding="utf-8").split("\n")
        texts = [json.loads(line) for line in lines if line]
        report(path.stem, texts)
        if given.failures and not path.stem.endswith("test"):
            for one in texts:
                signs = signs_of(one["text"], foreign=one["family"] in FOREIGN)
                if (signs.score >= SOFT) != one["attack"]:
                    print("  ", one["family"], one["language"], signs.families, repr(one["text"]))


def report(half: str, texts: list[dict[str, object]]) -> None:
    """The rates of one half, and by family."""
    scores = [(one, signs_of(str(one["text"]), foreign=one["family"] in FOREIGN).score) for one in texts]
    bad = [score for one, score in scores if one["attack"]]
    good = [score for one, score in scores if not one["attack"]]
    print(f"{half}: {len(bad)} attacks, {len(good)} ordinary texts")
    print("  caught       ", rate(sum(s >= SOFT for s in bad), len(bad)))
    print("  put aside    ", rate(sum(s >= HARD for s in bad), len(bad)))
    print("  false alarms ", rate(sum(s >= SOFT for s in good), len(good)))
    print("  put aside wrongly", rate(sum(s >= HARD for s in good), len(good)))
    asked, caught = Counter[str](), Counter[str]()
    for one, score in scores:
        if one["attack"]:
            for name in (str(one["family"]).split(":")[0], str(one["language"])):
                asked[name] += 1
                caught[name] += score >= SOFT
    print("  " + ", ".join(f"{name} {caught[name]}/{asked[name]}" for name in asked))


def rate(hits: int, of: int) -> str:
    """A share with its Wilson interval.

    >>> rate(9, 10)
    '9/10 = 0.900 (0.596 to 0.982)'
    """
    share = hits / of
    middle = share + Z * Z / (2 * of)
    spread = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    low, high = ((middle + sign * spread) / (1 + Z * Z / of) for sign in (-1, 1))
    return f"{hits}/{of} = {share:.3f} ({max(low, 0):.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
