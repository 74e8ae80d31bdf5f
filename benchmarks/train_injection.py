"""Train the model of `engram.rules.injection` on texts that are all in this repository.

    PYTHONPATH=src python benchmarks/train_injection.py [--check]

With `--check` nothing is written: the development half is scored by models that have not seen the text
(three parts by chance), then by models that have not seen its whole family of attacks.

Texts come from the development half (`injection_dev.jsonl`), from `injection_grammar.txt` (frames and what
may stand in them, by families of attacks; benign ones of the same words), and, all of them ordinary, from
the sentences of `train_assertion.py`, `everyday_unseen.json`, the project's own pages and the descriptions
in Python's own library. A word's weight is a direction in the space of the base install's embedding model
times the word's vector, so that words which no text holds have one too. The test half is never read.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zlib import compress

import numpy as np

from engram.embed.static import WEIGHTS, read_table
from engram.rules.injection import CALM, FEW, LIKELY, SentencePair, known_wordings, windows, without_unseen

ROOT = Path(__file__).parents[1]
DATA = ROOT / "benchmarks" / "data"
FILE = ROOT / "src/engram/text/data/injection.bin"
EACH = 3
"""Texts made of each frame."""
TYPED, DESCRIBED = 4000, 3000
"""Sentences that people typed, and paragraphs of Python's own descriptions, that are taken."""
COUNTS = {"development": 3.0, "grammar": 0.5, "ordinary": 0.7}
"""What a text counts by where it comes from."""
OFTEN = 10
"""In so many windows a sign must stand to have a weight."""
PULL_ONE, PULL_TWO, PULL_WORDS = 2.0, 6.0, 60.0
"""How much the weights of signs, of two signs together and of words are held back."""
VECTORS = 3.0
STEPS = 7
OWN = ("user", "agent")
FEWEST, MOST = 15, 1500
"""How long an ordinary text may be."""
UNWANTED = {"antigravity", "this", "idlelib", "turtledemo", "tkinter", "turtle"}
"""Modules that do something when they are imported, or need a screen."""
ENCODED = ("hidden", "encoded")
STEP_COUNT = 120
"""A word's weight is kept in so many steps on either side of zero."""


class Text(NamedTuple):
    """One text of the training."""

    text: str
    attack: bool
    foreign: bool
    family: str
    origin: str


def main() -> None:
    """Train, tell, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    texts = [*development(), *frames(), *ordinary()]
    table = Table(texts)
    if given.check:
        check(texts, table)
        return
    weights = table.fit(np.ones(len(texts), dtype=bool))
    found = written(table, weights)
    FILE.write_bytes(compress(json.dumps(found, ensure_ascii=False).encode(), 9))
    print(f"{len(texts)} texts, {len(found['signs'])} signs, {FILE.name}: {FILE.stat().st_size // 1024} KB")


def development() -> Iterator[Text]:
    """The development half, without what is encoded."""
    for line in (DATA / "injection_dev.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        one = json.loads(line)
        if not one["family"].startswith(ENCODED):
            yield Text(one["text"], one["attack"], one["source"] not in OWN, one["family"], "development")


def frames() -> Iterator[Text]:
    """Texts made of frames, the same ones every time; half of them are a stranger's."""
    chance, found = random.Random(3), dict[tuple[str, bool], None]()
    text = (DATA / "injection_grammar.txt").read_text(encoding="utf-8")
    for body in re.split(r"^\[\w+\]$", text, flags=re.MULTILINE)[1:]:
        choices = {
            name.strip(): [one.strip() for one in row.split("|")]
            for name, row in re.findall(r"^@(\w+) =(.*)$", body, re.MULTILINE)
        }

        def chosen(match: re.Match[str], choices: dict[str, list[str]] = choices) -> str:
            return chance.choice(choices[match.group(1)]) if match.group(1) in choices else match.group()

        for sign, frame in re.findall(r"^([+-]) (.*)$", body, re.MULTILINE):
            for _ in range(EACH):
                found[re.sub(r"\{(\w+)\}", chosen, re.sub(r"\{(\w+)\}", chosen, frame)), sign == "+"] = None
    for sentence, attack in found:
        yield Text(sentence, attack, chance.random() < 0.5, "frames", "grammar")


def ordinary() -> Iterator[Text]:
    """What people type, as `train_assertion.py` has it, and paragraphs of this project's pages."""
    typed = []
    for path in sorted(DATA.glob("assertion_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = line.partition("\t")[2]
            if text and not line.startswith("#"):
                typed.append(text.replace("\\n", "\n"))
    for text in random.Random(4).sample(typed, TYPED):
        yield Text(text, attack=False, foreign=False, family="typed", origin="ordinary")
    told = json.loads((DATA / "everyday_unseen.json").read_text(encoding="utf-8"))
    for text in dict.fromkeys(strings(told)):
        yield Text(text, attack=False, foreign=False, family="everyday", origin="ordinary")
    for text in random.Random(5).sample(described(), DESCRIBED):
        yield Text(text, attack=False, foreign=True, family="described", origin="ordinary")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            if paragraph.strip() and "```" not in paragraph:
                text = paragraph.replace("\n", " ")
                yield Text(text, attack=False, foreign=True, family="pages", origin="ordinary")


def strings(told: object) -> Iterator[str]:
    """Every text in a tree of JSON that is long enough to say something."""
    if isinstance(told, str):
        if FEWEST < len(told) < MOST:
            yield told
    elif isinstance(told, dict | list):
        for one in told.values() if isinstance(told, dict) else told:
            yield from strings(one)


def described() -> list[str]:
    """Paragraphs of the descriptions in Python's own library."""
    found: dict[str, None] = {}
    for name in sorted(sys.stdlib_module_names - UNWANTED):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        public = (one for at, one in sorted(vars(module).items()) if not at.startswith("_"))
        for one in (module, *filter(lambda one: inspect.isclass(one) or inspect.isfunction(one), public)):
            for paragraph in (inspect.getdoc(one) or "").split("\n\n"):
                if FEWEST < len(paragraph) < MOST and ">>>" not in paragraph:
                    found[paragraph.replace("\n", " ")] = None
    return list(found)


class Table:
    """The windows of all texts as rows of numbers: signs, then the vector of their words."""

    def __init__(self, texts: list[Text]) -> None:
        rows: list[SentencePair] = []
        of: list[int] = []
        for at, one in enumerate(texts):
            lower = without_unseen(one.text).lower().replace("’", "'")
            found = list(windows(lower, foreign=one.foreign)) or [SentencePair(frozenset(), ())]
            rows += found
            of += [at] * len(found)
        self.of, self.texts = np.array(of), texts
        often = Counter(sign for row in rows for sign in row.signs)
        self.signs = sorted(sign for sign, count in often.items() if count >= OFTEN)
        places = {sign: at for at, sign in enumerate(self.signs)}
        self.words, self.vectors = vectors()
        self.rows = np.zeros((len(rows), 1 + len(places) + self.vectors.shape[1]), dtype=np.float32)
        self.rows[:, 0] = 1
        for at, row in enumerate(rows):
            self.rows[at, [1 + places[sign] for sign in row.signs if sign in places]] = 1
            known = [self.words[word] for word in row.words if word in self.words]
            self.rows[at, 1 + len(places) :] = (
                VECTORS * self.vectors[known].sum(axis=0) / max(len(known), FEW) ** 0.5
            )

    def fit(self, seen: np.ndarray) -> np.ndarray:
        """Logistic regression by Newton's method on the texts that are seen."""
        kept = seen[self.of]
        rows, of = self.rows[kept], self.of[kept]
        wanted = np.array([one.attack for one in self.texts], dtype=np.float64)[of]
        counts = np.array([COUNTS[one.origin] for one in self.texts])[of]
        pull = np.full(rows.shape[1], PULL_WORDS)
        pull[0] = 1e-6
        pull[1 : 1 + len(self.signs)] = [PULL_TWO if "&" in sign else PULL_ONE for sign in self.signs]
        weights = np.zeros(rows.shape[1])
        for _ in range(STEPS):
            share = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
            slope = rows.T @ (counts * (share - wanted)) + pull * weights
            bend = (rows * (counts * share * (1 - share))[:, None].astype(np.float32)).T @ rows
            weights -= np.linalg.solve(bend + np.diag(pull), slope)
        return weights

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """What each text weighs: its surest window."""
        found = np.full(len(self.texts), -10.0)
        np.maximum.at(found, self.of, self.rows @ weights)
        return found - CALM * np.log(np.bincount(self.of, minlength=len(found)))


def vectors() -> tuple[dict[str, int], np.ndarray]:
    """The whole words of the base install's embedding model, and their vectors."""
    table = read_table(WEIGHTS)
    words = {word: row for word, row in table.pieces.vocabulary.items() if word.isalpha() and len(word) > 1}
    rows = np.array(list(words.values()))
    found = table.rows[rows].astype(np.float32) * table.scales[rows][:, None]
    return {word: at for at, word in enumerate(words)}, found / np.linalg.norm(found, axis=1).mean()


def written(table: Table, weights: np.ndarray) -> dict[str, object]:
    """The weights as the engine reads them; words that weigh next to nothing are left out."""
    signs = weights[1 : 1 + len(table.signs)]
    each = VECTORS * table.vectors @ weights[1 + len(table.signs) :]
    scale = float(np.abs(each).max()) / STEP_COUNT
    steps = np.round(each / scale).astype(int)
    kept = [(word, int(steps[at])) for word, at in table.words.items() if abs(steps[at]) > 1]
    return {
        "begins": round(float(weights[0]), 4),
        "signs": {
            name: round(float(one), 3)
            for name, one in zip(table.signs, signs, strict=True)
            if abs(one) > 0.01
        },
        "scale": scale,
        "words": " ".join(word for word, _ in kept),
        "weights": [step for _, step in kept],
    }


def check(texts: list[Text], table: Table, parts: int = 3) -> None:
    """Figures on what was not seen: by chance, then family by family."""
    near = np.array([one.origin == "development" for one in texts])
    attack = np.array([one.attack for one in texts])
    part = np.random.default_rng(1).integers(0, parts, len(texts))
    sums = np.zeros(len(texts))
    for fold in range(parts):
        unseen = part == fold
        sums[unseen] = table.sums(table.fit(~unseen))[unseen]
    alone = sums.copy()
    sums[[bool(known_wordings(one.text.lower())) for one in texts]] = 10
    for least in (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5):
        caught, false = (sums[near & attack] >= least).mean(), (sums[near & ~attack] >= least).mean()
        model = (alone[near & attack] >= least).mean(), (alone[near & ~attack] >= least).mean()
        print(f"from {least}: caught {caught:.3f}, false alarms {false:.3f}", end="")
        print(f"; the model alone {model[0]:.3f}, {model[1]:.3f}")
    families = np.array([one.family.split(":")[0] for one in texts])
    for family, count in Counter(families[near & attack]).most_common():
        unseen = near & attack & (families == family)
        if count >= OFTEN:
            found = table.sums(table.fit(~unseen))
            caught, nearly = ((found[unseen] >= least).mean() for least in (LIKELY[0], 0.0))
            print(f"{family} ({count}) never seen: {caught:.2f}, {nearly:.2f} from 0")


if __name__ == "__main__":
    main()
