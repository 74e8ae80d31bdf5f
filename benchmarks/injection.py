"""How well commands to a model are told from what informs: catch and false-alarm rates with 95 % intervals.

    PYTHONPATH=src python benchmarks/injection.py                 # all sets, rates only
    PYTHONPATH=src python benchmarks/injection.py --failures      # what went wrong in the development half

The texts are ours, in six languages, by what an attack must do to work: order an action, take the place of
rules, make a model repeat its instructions, carry data out, ask for secrecy, lay down a rule for ever,
imitate calls of tools, hide, claim trust for a stranger, praise a product, change accounts, claim
authority. Each names its source: what `user` and `agent` say is judged as one's own, mails, documents,
pages, results of tools and imports as a stranger's. Ordinary texts are hard ones: mails that ask, manuals,
recipes, reviews, policies, notes of agents, wishes of the user himself.

The test half was written before the words and weights of the model and was not looked at while they were
mended; the same hand wrote both halves. `injection_unseen` was written before the network was trained, one
text at a time, and is never trained on; nor is `injection_fresh`, on which the limits of the
readers are chosen. The failures of test and unseen are not printed. Other files of this form can be named.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path

from engram.rules.injection import HARD, SOFT, signs_of

DATA = Path(__file__).parent / "data"
HALVES = ("injection_dev", "injection_fresh", "injection_unseen", "injection_test")
OWN = ("user", "agent")
"""Sources that are not a stranger."""
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
        if given.failures and not path.stem.endswith(("test", "unseen")):
            for one in texts:
                signs = signs_of(one["text"], foreign=one["source"] not in OWN)
                if (signs.score >= SOFT) != one["attack"]:
                    print("  ", one["family"], one["language"], signs.families, repr(one["text"]))


def report(half: str, texts: list[dict[str, object]]) -> None:
    """The rates of one half, and by family."""
    scores = [(one, signs_of(str(one["text"]), foreign=one["source"] not in OWN).score) for one in texts]
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
