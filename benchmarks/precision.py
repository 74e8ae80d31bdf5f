"""What fewer bits for the vectors of cold memories would save, and what they would cost.

    python benchmarks/precision.py ../shared/bench/locomo_dev.json

The turns of LoCoMo's conversations are kept in a file; nearest ten of every twentieth turn by full precision
against those by 8, 4 and 2 bits a number (own scale for each vector), with half of the vectors, the older
ones, at the lower precision: distances are then of mixed precision, as they would be.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import apsw
import numpy as np

from engram import Engram
from engram.config import EmbedConfig
from engram.embed import open_embedder

NEAREST = 10


def turns(path: str) -> list[str]:
    """Every turn of every conversation."""
    found = []
    for one in json.loads(Path(path).read_text("utf-8")):
        talk = one["conversation"]
        for name in talk:
            if name.startswith("session_") and isinstance(talk[name], list):
                found += [f"{turn['speaker']}: {turn['text']}" for turn in talk[name]]
    return list(dict.fromkeys(found))


def rounded(vectors: np.ndarray, bits: int) -> np.ndarray:
    """Vectors as they come back from so many bits a number."""
    most = 2 ** (bits - 1) - 1 if bits > 2 else 1.5
    scale = np.abs(vectors).max(axis=1, keepdims=True) / most
    steps = np.round(vectors / scale) if bits > 2 else np.clip(np.floor(vectors / scale) + 0.5, -1.5, 1.5)
    back = steps * scale
    return (back / np.linalg.norm(back, axis=1, keepdims=True)).astype(np.float32)


def main() -> None:
    """Print both tables."""
    texts = turns(sys.argv[1])
    vectors = np.asarray(open_embedder(EmbedConfig()).embed(texts)[1], dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    asked = vectors[::20]
    true = np.argsort(-(asked @ vectors.T), axis=1)[:, 1 : NEAREST + 1]
    print(f"{len(texts):,} turns, {vectors.shape[1]} numbers each")
    for bits in (8, 4, 2):
        kept = vectors.copy()
        kept[: len(kept) // 2] = rounded(vectors[: len(kept) // 2], bits)
        kept[len(kept) // 2 :] = rounded(vectors[len(kept) // 2 :], 8)
        begun = time.process_time()
        found = np.argsort(-(asked @ kept.T), axis=1)[:, 1 : NEAREST + 1]
        took = (time.process_time() - begun) / len(asked) * 1_000
        same = np.mean([len({*a} & {*b}) / NEAREST for a, b in zip(true, found, strict=True)])
        size = vectors.shape[1] * (bits + 8) / 16
        print(
            f"half at {bits} bits: {same:.3f} of the nearest ten stay, {size:.0f} bytes each, {took:.2f} ms"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        with Engram.open(path) as memory:
            memory.remember_many([{"content": one, "apart": True} for one in texts])
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        sizes = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall())
        whole, own = sum(sizes.values()), sum(size for name, size in sizes.items() if "embedding" in name)
        each, of_vectors = whole / len(texts), own / len(texts)
        print(f"file {each:,.0f} bytes a memory, {of_vectors:,.0f} of them vectors ({own / whole:.1%})")


if __name__ == "__main__":
    main()
