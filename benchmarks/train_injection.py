"""Train the network of `engram.rules.injection` on texts that are all in this repository.

    PYTHONPATH=src python benchmarks/train_injection.py [--check]

With `--check` nothing is written: the development half is scored by networks that have not seen the text
(three parts by chance), and `injection_unseen.jsonl`, which is never trained on, by all three together.

Texts come from the development half (`injection_dev.jsonl`), from `injection_grammar.txt` and
`injection_frames.txt` (frames and what may stand in them, by families of attacks; ordinary ones of the same
words), from `injection_written.txt` (whole texts), and, all of them ordinary, from the sentences of
`train_assertion.py`, `everyday_unseen.json`, the project's own pages and the descriptions in Python's own
library. A word is its vector in the base install's embedding model and what it stands for
(`injection_senses.txt`); words of other languages have the vector of an English one
(`injection_glossary.txt`). numpy alone, some minutes. The test half is never read.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engram.embed.static import WEIGHTS, read_table
from engram.rules.injection import (
    CALM,
    PAD,
    UNKNOWN,
    WordRows,
    beside,
    known_wordings,
    weighed,
    without_unseen,
)

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]
ROOT = Path(__file__).parents[1]
DATA = ROOT / "benchmarks" / "data"
FILE = ROOT / "src/engram/text/data/injection.npz"
EACH = {"injection_grammar": 3, "injection_frames": 14, "injection_written": 1}
"""Texts made of each frame."""
TYPED, DESCRIBED = 6500, 2500
"""Sentences that people typed, and paragraphs of Python's own descriptions, that are taken."""
COUNTS = {
    "development": 3.0,
    "injection_grammar": 0.5,
    "injection_frames": 1.0,
    "injection_written": 2.0,
    "ordinary": 0.7,
}
"""What a text counts by where it comes from."""
WIDTH, SUMS, MIDDLE = 32, 64, 48
"""Numbers of a word, of a convolution, and of the layer between them and the answer."""
EPOCHS, BATCH, RATE, PULL, SMOOTH = 6, 64, 2e-3, 2e-3, 0.02
LOST_WORDS, LOST_NUMBERS, LOST = 0.08, 0.1, 0.3
"""Shares of words, of a word's numbers and of sums that are left out by chance while it learns."""
KEPT = 0.995
"""What is written is a running mean of the weights, of which so much stays at each step."""
VECTORS, SENSES = 3.0, 1.0
OWN = ("user", "agent")
DIMS = 256
"""Numbers of a vector of the embedding model."""
FEW = 2
"""Words of other languages that stand more often than so in the texts are known."""
ALIKE = 0.55
"""From this share of common words on two texts are alike."""
COMMON = 22_000
"""So many English words of the embedding model are known, the commonest first."""
FEWEST, MOST = 15, 1500
"""How long an ordinary text may be."""
UNWANTED = {"antigravity", "this", "idlelib", "turtledemo", "tkinter", "turtle"}
"""Modules that do something when they are imported, or need a screen."""
ENCODED = ("hidden:", "encoded")
KINDS = 6
"""Rows that are no words."""


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
    print(f"{len(texts)} texts, {len(table.windows)} windows, {len(table.places)} words", flush=True)
    if given.check:
        check(texts, table)
        return
    network = Network(table, seed=0)
    network.fit(np.ones(len(texts), dtype=bool))
    network.write()
    print(f"{FILE.name}: {FILE.stat().st_size // 1024} KB")


def read_lines(name: str) -> list[str]:
    """The lines of a file without blank ones and comments."""
    rows = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [row for row in rows if row and not row.startswith("# ")]


def development(name: str = "injection_dev") -> Iterator[Text]:
    """The development half, without what is encoded."""
    for line in read_lines(f"{name}.jsonl"):
        one = json.loads(line)
        if not one["family"].startswith(ENCODED):
            yield Text(one["text"], one["attack"], one["source"] not in OWN, one["language"], "development")


def frames() -> Iterator[Text]:
    """Texts made of frames, or written whole, always the same; who speaks is chance where it is not noted."""
    chance = random.Random(3)
    for name, count in EACH.items():
        found: dict[tuple[str, bool, bool, str], None] = {}
        language, choices = "", dict[str, list[str]]()
        for row in read_lines(f"{name}.txt"):
            if re.fullmatch(r"\[\w+\]", row):
                language, choices = row[1:-1], {}
            elif row[0] == "@":
                slot, _, values = row[1:].partition("=")
                choices[slot.strip()] = [one.strip() for one in values.split(" | ")]
            else:
                who, _, frame = row[1:].partition(" ")
                for _ in range(count):
                    foreign = who == "f" or (who != "o" and chance.random() < 0.5)
                    found[filled(frame, choices, chance), row[0] == "+", foreign, language] = None
        for text, attack, foreign, language in found:
            yield Text(text, attack, foreign, language, name)


def filled(frame: str, choices: dict[str, list[str]], chance: random.Random) -> str:
    """A frame with a choice made wherever there is one."""
    before = ""
    while before != frame:
        before = frame
        frame = re.sub(r"\[([^\[\]]*\|[^\[\]]*)\]", lambda found: chance.choice(found[1].split("|")), frame)
        frame = re.sub(
            r"\{(\w+)\}",
            lambda found: chance.choice(choices[found[1]]) if found[1] in choices else found[0],
            frame,
        )
    text = re.sub(r" ([,.;!?])", r"\1", re.sub(r" +", " ", frame)).strip().replace("\\n", "\n")
    return text[:1].upper() + text[1:]


def ordinary() -> Iterator[Text]:
    """What people type, as `train_assertion.py` has it, and paragraphs of this project's pages."""
    typed = []
    for path in sorted(DATA.glob("assertion_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = line.partition("\t")[2]
            if text and not line.startswith("#"):
                typed.append((text.replace("\\n", "\n"), path.stem.removeprefix("assertion_")))
    chance = random.Random(4)
    for text, language in chance.sample(typed, TYPED):
        yield Text(text, attack=False, foreign=chance.random() < 0.5, family=language, origin="ordinary")
    told = json.loads((DATA / "everyday_unseen.json").read_text(encoding="utf-8"))
    for text in dict.fromkeys(strings(told)):
        yield Text(text, attack=False, foreign=False, family="everyday", origin="ordinary")
    for text in random.Random(5).sample(described(), DESCRIBED):
        yield Text(text, attack=False, foreign=True, family="en", origin="ordinary")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            if paragraph.strip() and "```" not in paragraph:
                text = paragraph.replace("\n", " ")
                yield Text(text, attack=False, foreign=True, family="en", origin="ordinary")


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


def lower(text: str) -> str:
    """As `signs_of` reads it."""
    return without_unseen(text).lower().replace("’", "'")


# ---------------------------------------------------------------- words


class Table:
    """The words with what is known of each, and the windows of all texts as rows of words."""

    def __init__(self, texts: list[Text]) -> None:
        self.texts = texts
        self.places: dict[str, int] = {}
        self.features = self.read_words()
        self.words = WordRows(self.places)
        self.windows: list[list[int]] = []
        of: list[int] = []
        for at, one in enumerate(texts):
            read = self.words.windows(lower(one.text)) or [[UNKNOWN]]
            self.windows += read
            of += [at] * len(read)
        self.of = np.array(of)

    def read_words(self) -> Floats:
        """A row for each word: its vector, or that of the English word it stands for, and its senses."""
        static, stands_for, senses = read_table(WEIGHTS), glossary(), by_word()
        names = sorted(set().union(*senses.values()))
        english = {word for word, count in self.counted(english=True).items() if count > 1}
        others = [
            word
            for word, count in self.counted(english=False).items()
            if count > FEW and not is_chinese(word)
        ]
        common = [
            word
            for word, row in static.pieces.vocabulary.items()
            if is_chinese(word) or (word.isascii() and len(word) > 1 and row < COMMON)
        ]
        found = [np.zeros((KINDS, DIMS + len(names)), dtype=np.float32)]
        for name in dict.fromkeys((*stands_for, *senses, *sorted(english), *common, *others)):
            bare = name.removesuffix("*") or name
            meant = bare if bare in english else translated(bare, stands_for)
            stood_for = senses_of(bare, senses)
            if not (bare in english or is_word(bare)) or (bare != name and not meant and not stood_for):
                continue
            rows = static.pieces.rows(meant or bare)
            vector = (
                (static.rows[rows] * static.scales[rows][:, None]).sum(axis=0) if rows else np.zeros(DIMS)
            )
            row = np.zeros((1, DIMS + len(names)), dtype=np.float32)
            row[0, :DIMS] = VECTORS * vector / (np.linalg.norm(vector) or 1.0)
            row[0, [DIMS + names.index(one) for one in stood_for]] = SENSES
            self.places[name] = len(found) + KINDS - 1
            found.append(row)
        return np.concatenate(found)

    def counted(self, *, english: bool) -> Counter[str]:
        """How often words and signs stand in English texts, or in the others."""
        return Counter(
            word
            for one in self.texts
            if (one.family == "en") is english
            for word in re.findall(r"[^\W\d_]+|'\w+|[^\w\s]", lower(one.text))
        )


def is_chinese(word: str) -> bool:
    """Whether a word is written in Chinese."""
    return "\u3400" <= word[0] <= "\u9fff"


def is_word(name: str) -> bool:
    """Whether letters alone make a name up."""
    return name.removesuffix("*").removeprefix("'").isalpha()


def glossary(name: str = "injection_glossary") -> dict[str, str]:
    """The English word that a word or a stem of another language stands for; stems end in `*`."""
    found: dict[str, str] = {}
    for row in read_lines(f"{name}.txt"):
        english, *columns = row.split("|")
        for word in " ".join(columns).split():
            found.setdefault(word, english)
    return found


def translated(word: str, stands_for: dict[str, str]) -> str | None:
    """The English word for a word of another language, by itself or by how it begins."""
    if word in stands_for:
        return stands_for[word]
    beginnings = (word[:end] + "*" for end in range(len(word), 2, -1))
    return next((stands_for[one] for one in beginnings if one in stands_for), None)


def by_word() -> dict[str, set[str]]:
    """What words and stems stand for."""
    found: dict[str, set[str]] = {}
    sense = ""
    for row in read_lines("injection_senses.txt"):
        if row[0] == "[":
            sense = row[1:-1]
        else:
            for phrase in row.split(", "):
                if " " not in phrase:
                    found.setdefault(phrase, set()).add(sense)
    return found


def senses_of(word: str, senses: dict[str, set[str]]) -> set[str]:
    """What a word stands for, by itself or by how it begins."""
    begins = (senses.get(word[:end] + "*", set()) for end in range(2, len(word) + 1))
    return senses.get(word, set()).union(*begins)


# ---------------------------------------------------------------- learning


class Network:
    """The weights while they are learned: Adam, word by word and sum by sum left out by chance."""

    def __init__(self, table: Table, seed: int) -> None:
        self.table, self.chance = table, np.random.default_rng(seed)
        inside = table.features.shape[1]
        self.own = np.zeros((len(table.features), WIDTH), dtype=np.float32)
        self.layers = [
            self.start(inside, WIDTH) * 0.7,
            self.start(3 * WIDTH, SUMS),
            np.zeros(SUMS, dtype=np.float32),
            self.start(3 * SUMS, SUMS),
            np.zeros(SUMS, dtype=np.float32),
            self.start(2 * SUMS + 1, MIDDLE),
            np.zeros(MIDDLE, dtype=np.float32),
            self.start(MIDDLE, 1)[:, 0],
            np.zeros((), dtype=np.float32),
        ]
        self.means = [one.copy() for one in (self.own, *self.layers)]

    def start(self, inside: int, outside: int) -> Floats:
        """Weights by chance."""
        found: Floats = (self.chance.standard_normal((inside, outside)) * (2 / inside) ** 0.5).astype(
            np.float32
        )
        return found

    def fit(self, seen: NDArray[np.bool_]) -> None:
        """Learn the windows of the texts that are seen."""
        table = self.table
        shares = np.bincount(table.of) ** 0.5
        taken = np.flatnonzero(seen[table.of])
        lengths = np.array([len(window) for window in table.windows])
        self.moments = [(np.zeros_like(one), np.zeros_like(one)) for one in (self.own, *self.layers)]
        steps, total, began = 0, EPOCHS * (len(taken) // BATCH), time.time()
        for epoch in range(EPOCHS):
            order = self.chance.permutation(taken)
            pools = np.array_split(order, max(1, len(order) // (BATCH * 20)))
            order = np.concatenate([pool[np.argsort(lengths[pool], kind="stable")] for pool in pools])
            batches = [order[at : at + BATCH] for at in range(0, len(order) - BATCH + 1, BATCH)]
            loss = 0.0
            for at in self.chance.permutation(len(batches)):
                steps += 1
                rate = RATE * min(1.0, steps / 100) * (0.05 + 0.475 * (1 + np.cos(np.pi * steps / total)))
                loss += self.step(batches[at], shares, rate, steps)
            spent = time.time() - began
            print(f"  epoch {epoch}: {loss / len(batches):.4f}, {spent:.0f} s", flush=True)

    def step(self, batch: NDArray[np.int64], shares: Floats, rate: float, steps: int) -> float:
        """One step down the slope of a batch of windows."""
        table, chance = self.table, self.chance
        inward, first, first_bias, second, second_bias, third, third_bias, last, last_bias = self.layers
        texts = table.of[batch]
        places = padded([table.windows[at] for at in batch])
        places[chance.random(places.shape) < LOST_WORDS] = PAD
        known = (places > PAD)[..., None]
        foreign = np.array([[table.texts[at].foreign] for at in texts], dtype=np.float32)
        rows, back = np.unique(places, return_inverse=True)
        back = back.reshape(places.shape)
        kept_words = self.kept((*places.shape, WIDTH), LOST_NUMBERS) * known
        words = (table.features[rows] @ inward + self.own[rows])[back] * kept_words
        near_in = beside(words)
        near = np.maximum(near_in @ first + first_bias, 0) * known
        far_in = beside(near)
        far = np.maximum(far_in @ second + second_bias, 0) * known
        highest = np.concatenate([near.max(axis=1), far.max(axis=1), foreign], axis=1)
        kept = self.kept(highest.shape, LOST)
        kept[:, -1] = 1
        highest *= kept
        kept_middle = self.kept((len(batch), MIDDLE), LOST)
        middle = np.maximum(highest @ third + third_bias, 0) * kept_middle
        slope, loss = self.slope(texts, middle @ last + last_bias, shares)

        to_middle = np.outer(slope, last) * kept_middle * (middle > 0)
        to_highest = (to_middle @ third.T) * kept
        to_far = given_back(to_highest[:, SUMS : 2 * SUMS], far)
        to_near = given_back(to_highest[:, :SUMS], near) + gathered(to_far @ second.T, SUMS) * (near > 0)
        to_words = gathered(to_near @ first.T, WIDTH) * kept_words
        to_rows = np.zeros((len(rows), WIDTH), dtype=np.float32)
        np.add.at(to_rows, back.ravel(), flat(to_words))
        slopes = [
            table.features[rows].T @ to_rows,
            flat(near_in).T @ flat(to_near),
            flat(to_near).sum(axis=0),
            flat(far_in).T @ flat(to_far),
            flat(to_far).sum(axis=0),
            highest.T @ to_middle,
            to_middle.sum(axis=0),
            middle.T @ slope,
            slope.sum(),
        ]
        self.descend(rows, to_rows, slopes, rate, steps)
        return loss

    def kept(self, shape: tuple[int, ...], lost: float) -> Floats:
        """Nothing for what is left out by chance, somewhat more than one for what stays."""
        return (self.chance.random(shape) > lost).astype(np.float32) / np.float32(1 - lost)

    def slope(self, texts: NDArray[np.int64], found: Floats, shares: Floats) -> tuple[Floats, float]:
        """How far each sum is from what it should be, by what its text counts; and the loss."""
        read = [self.table.texts[at] for at in texts]
        aim = np.array([one.attack for one in read]) * (1 - 2 * SMOOTH) + SMOOTH
        counts = np.array([COUNTS[one.origin] for one in read]) / shares[texts]
        share = 1 / (1 + np.exp(-np.clip(found, -30, 30)))
        loss = -np.mean(counts * (aim * np.log(share + 1e-9) + (1 - aim) * np.log(1 - share + 1e-9)))
        return (counts * (share - aim) / len(texts)).astype(np.float32), float(loss)

    def descend(self, rows: Rows, to_rows: Floats, slopes: list[Floats], rate: float, steps: int) -> None:
        """Adam with weights that are pulled to nothing; of the words only those of the batch."""
        first, second = self.moments[0]
        first[rows] = 0.9 * first[rows] + 0.1 * to_rows
        second[rows] = 0.98 * second[rows] + 0.02 * to_rows**2
        self.own[rows] -= rate * (first[rows] / (np.sqrt(second[rows]) + 1e-6) + 30 * PULL * self.own[rows])
        self.own[PAD] = 0
        for at, slope in enumerate(slopes):
            first, second = self.moments[at + 1]
            first *= 0.9
            first += 0.1 * slope
            second *= 0.98
            second += 0.02 * slope**2
            moved = (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.98**steps)) + 1e-7)
            pull = PULL * self.layers[at] * 10 if slope.ndim > 1 else 0.0
            self.layers[at] = (self.layers[at] - rate * (moved + pull)).astype(np.float32)
        stays = min(KEPT, steps / (steps + 10))
        for at, one in enumerate((self.own, *self.layers)):
            if at or not steps % 10:
                much = stays if at else stays**10
                self.means[at] = self.means[at] * much + one * (1 - much)

    def narrowed(self) -> Floats:
        """The vectors of all words as the network takes them."""
        found: Floats = self.table.features @ self.means[1] + self.means[0]
        found[PAD] = 0
        return found

    def sums(self, texts: list[Text]) -> Floats:
        """What each text weighs: its surest window."""
        words, found = self.narrowed(), []
        for one in texts:
            read = self.table.words.windows(lower(one.text)) or [[UNKNOWN]]
            places = padded(read)
            foreign = np.full((len(read), 1), one.foreign)
            layers = tuple(self.means[2:])
            found.append(
                weighed(words[places], places > PAD, foreign, layers).max() - CALM * np.log(len(read))
            )
        return np.array(found)

    def write(self) -> None:
        """Write what the engine reads: words in 8 bits, the rest in 16."""
        words = self.narrowed()
        scale = np.abs(words).max(axis=0) / 127
        names = np.frombuffer("\n".join(self.table.places).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {
            "words": names,
            "rows": np.round(words / scale).astype(np.int8),
            "scale": scale.astype(np.float32),
        }
        for at, one in enumerate(self.means[2:]):
            arrays[f"layer{at}"] = one.astype(np.float16)
        np.savez(FILE, **arrays)


def padded(windows: list[list[int]]) -> Rows:
    """Windows as lines of one length."""
    found = np.zeros((len(windows), max(map(len, windows))), dtype=np.int32)
    for at, window in enumerate(windows):
        found[at, : len(window)] = window
    return found


def given_back(slopes: Floats, sums: Floats) -> Floats:
    """Slopes given back to the highest sums they came from."""
    found = np.zeros_like(sums)
    line, column = np.arange(len(sums))[:, None], np.arange(sums.shape[2])[None]
    found[line, sums.argmax(axis=1), column] = slopes
    return found * (sums > 0)


def gathered(slopes: Floats, width: int) -> Floats:
    """The slopes of what `beside` put side by side, each given back to its word."""
    found: Floats = slopes[..., width : 2 * width].copy()
    found[:, :-1] += slopes[:, 1:, :width]
    found[:, 1:] += slopes[:, :-1, 2 * width :]
    return found


def flat(rows: Floats) -> Floats:
    """One line a word."""
    return rows.reshape(-1, rows.shape[-1])


def check(texts: list[Text], table: Table, parts: int = 3) -> None:
    """Figures on what was not seen."""
    near = np.array([one.origin == "development" for one in texts])
    alike = like_a_frame(texts)
    print(f"{alike.sum()} texts of the development half are like one of a frame and are not measured")
    part = np.where(near, np.random.default_rng(1).integers(0, parts, len(texts)), parts)
    unseen = list(development("injection_unseen"))
    sums, fresh = np.zeros(len(texts), dtype=np.float32), []
    with ProcessPoolExecutor(parts) as pool:
        for fold, (own, others) in enumerate(
            pool.map(part_sums, [(table, part, fold, unseen) for fold in range(parts)])
        ):
            sums[part == fold] = own
            fresh.append(others)
    measured = near & ~alike
    tell("development half", [one for one, kept in zip(texts, measured, strict=True) if kept], sums[measured])
    for others in fresh:
        tell("fresh texts", unseen, others)


def like_a_frame(texts: list[Text]) -> NDArray[np.bool_]:
    """Which texts of the development half share most of their words with one that was made of a frame."""
    bags = [frozenset(re.findall(r"\w+", lower(one.text))) for one in texts]
    by_word: dict[str, list[int]] = {}
    for at, one in enumerate(texts):
        if one.origin.startswith("injection_"):
            for word in bags[at]:
                by_word.setdefault(word, []).append(at)
    found = np.zeros(len(texts), dtype=bool)
    for at, one in enumerate(texts):
        if one.origin == "development":
            shared = Counter(other for word in bags[at] for other in by_word.get(word, ()))
            found[at] = any(count / len(bags[at] | bags[other]) >= ALIKE for other, count in shared.items())
    return found


def part_sums(given: tuple[Table, Rows, int, list[Text]]) -> tuple[Floats, Floats]:
    """The sums of one part's texts and of fresh ones, by a network that has seen neither."""
    table, part, fold, unseen = given
    network = Network(table, seed=fold)
    network.fit(part != fold)
    return network.sums([table.texts[at] for at in np.flatnonzero(part == fold)]), network.sums(unseen)


def tell(name: str, texts: list[Text], sums: Floats) -> None:
    """What is caught at some shares of false alarms, by the network alone and with the known wordings."""
    attack = np.array([one.attack for one in texts])
    foreign = np.array([one.foreign for one in texts])
    known = sums.copy()
    known[[bool(known_wordings(lower(one.text))) for one in texts]] = 50
    for label, found, which in (
        ("alone", sums, attack | True),
        ("of strangers", sums, foreign),
        ("with wordings", known, attack | True),
    ):
        good = np.sort(found[~attack & which])[::-1]
        rates = []
        for share in (0.01, 0.015, 0.02, 0.03, 0.05):
            least = good[int(share * len(good))]
            rates.append(f"{share}: {(found[attack & which] > least).mean():.3f} from {least:.2f}")
        print(f"{name}, {label}: " + ", ".join(rates), flush=True)


if __name__ == "__main__":
    main()
