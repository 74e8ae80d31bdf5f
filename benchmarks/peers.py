"""Peers side by side: the same memories with the same vectors in other stores and in ours, in one run.

    python benchmarks/peers.py --envs FOLDER --size 10000 --save benchmarks/results/peers.json

Each peer lives in an environment of its own, `FOLDER/NAME`, made beforehand with `python -m venv` and
`pip install` of what `PEERS` names; one that is missing or fails is listed with the reason. A peer is given
texts and vectors and never a model: its figures are those of adding and searching alone. Ours makes its
vectors itself and reads every text besides (names, dates, facts, contradictions), which its figures hold.

Processor time of a process counts, background threads included, so that figures of a busy machine can be
compared. Peers that promise nothing to the disk before they return are not told apart from those that do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

PEERS = {
    "chroma": "chromadb",
    "lance": "lancedb pyarrow",
    "langgraph": "langgraph-checkpoint-sqlite langgraph sqlite-vec pysqlite3-binary numpy",
    "mem0": "mem0ai qdrant-client",
    "txtai": "txtai",
    "mcpms": "mcp-memory-service pysqlite3-binary",
    "engram": "",
}
PATIENCE_S = 900
QUERIES = 200
FOUND = 10
BATCH = 1_000
SEED = 20_240_229

Search = Callable[[int], list[str]]
"""The texts that are found for the question at a place."""
Peer = tuple[Callable[[], None], Search, str]
"""How all memories are added, how one question is asked, and the version."""


class Data:
    """Texts, questions and their vectors, as the peers get them."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
        self.texts: list[str] = told["texts"]
        self.asked: list[str] = told["asked"]
        self.wanted: list[str] = told["wanted"]
        self.vectors = np.load(folder / "texts.npy")
        self.questions = np.load(folder / "asked.npy")
        both = zip([*self.texts, *self.asked], [*self.vectors, *self.questions], strict=True)
        self.known = {text: [float(one) for one in row] for text, row in both}
        self.dims = int(self.vectors.shape[1])


def chroma(data: Data, place: str) -> Peer:
    """A collection of Chroma on disk."""
    import chromadb

    made = chromadb.PersistentClient(place).create_collection("memories", metadata={"hnsw:space": "cosine"})

    def add() -> None:
        for at in range(0, len(data.texts), BATCH):
            part = slice(at, at + BATCH)
            ids = [str(one) for one in range(at, min(at + BATCH, len(data.texts)))]
            made.add(ids=ids, documents=data.texts[part], embeddings=data.vectors[part].tolist())

    def search(at: int) -> list[str]:
        found = made.query(query_embeddings=[data.questions[at].tolist()], n_results=FOUND)
        return list(found["documents"][0])

    return add, search, version("chromadb")


def lance(data: Data, place: str) -> Peer:
    """A table of LanceDB without an index, which it does not need at this size."""
    import lancedb

    base = lancedb.connect(place)
    held: list[Any] = []

    def add() -> None:
        rows = [
            {"vector": row, "text": text} for row, text in zip(data.vectors.tolist(), data.texts, strict=True)
        ]
        held.append(base.create_table("m", rows[:BATCH]))
        for at in range(BATCH, len(rows), BATCH):
            held[0].add(rows[at : at + BATCH])

    def search(at: int) -> list[str]:
        return [one["text"] for one in held[0].search(data.questions[at]).limit(FOUND).to_list()]

    return add, search, version("lancedb")


def _with_extensions() -> Any:
    """A sqlite3 that can load extensions; the one of many Pythons cannot, `pysqlite3-binary` can."""
    import sqlite3

    try:
        import pysqlite3
    except ImportError:
        return sqlite3
    sys.modules["sqlite3"] = pysqlite3
    return pysqlite3


def langgraph(data: Data, place: str) -> Peer:
    """LangGraph's SqliteStore with its vector index."""
    sqlite3 = _with_extensions()
    from langgraph.store.base import PutOp
    from langgraph.store.sqlite import SqliteStore

    base = sqlite3.connect(f"{place}/store.db", check_same_thread=False, isolation_level=None)
    index: Any = {
        "dims": data.dims,
        "embed": lambda texts: [data.known[_content(text)] for text in texts],
        "fields": ["text"],
    }
    store = SqliteStore(base, index=index)
    store.setup()

    def add() -> None:
        for at in range(0, len(data.texts), 100):
            part = enumerate(data.texts[at : at + 100], at)
            store.batch([PutOp(("m",), str(key), {"text": text}) for key, text in part])

    def search(at: int) -> list[str]:
        return [one.value["text"] for one in store.search(("m",), query=data.asked[at], limit=FOUND)]

    return add, search, version("langgraph-checkpoint-sqlite")


def _content(told: str) -> str:
    """The text of a value that is handed over as JSON."""
    return str(json.loads(told)["text"]) if told.startswith('{"text"') else told


def mem0(data: Data, place: str) -> Peer:
    """mem0 with its local vector store, storing what it is given (`infer=False`)."""
    os.environ |= {"OPENAI_API_KEY": "none", "MEM0_TELEMETRY": "False", "MEM0_DIR": place}
    from mem0 import Memory

    store = {"path": f"{place}/qdrant", "embedding_model_dims": data.dims, "on_disk": True}
    memory = Memory.from_config(
        {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": f"{place}/history.db"}
    )

    class Known:
        """The vectors that were made beforehand."""

        config = memory.embedding_model.config

        def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
            """One vector."""
            return data.known[text]

        def embed_batch(self, texts: list[str], *_: Any, **__: Any) -> list[list[float]]:
            """Many vectors."""
            return [data.known[text] for text in texts]

    memory.embedding_model = Known()

    def add() -> None:
        for text in data.texts:
            memory.add(text, user_id="u", infer=False)

    def search(at: int) -> list[str]:
        try:
            found = memory.search(data.asked[at], filters={"user_id": "u"}, top_k=FOUND)
        except TypeError:
            found = memory.search(data.asked[at], user_id="u", limit=FOUND)
        return [one["memory"] for one in found["results"]]

    return add, search, version("mem0ai")


def txtai(data: Data, place: str) -> Peer:
    """The embeddings database of txtai, with its content store, saved at the end."""
    import numpy as np
    from txtai.embeddings import Embeddings

    def vectors(texts: list[str]) -> Any:
        return np.array([data.known[text] for text in texts], dtype=np.float32)

    made = Embeddings({"method": "external", "transform": vectors, "content": True})

    def add() -> None:
        made.index([(str(at), text, None) for at, text in enumerate(data.texts)])
        made.save(f"{place}/saved")

    def search(at: int) -> list[str]:
        return [one["text"] for one in made.search(data.asked[at], FOUND)]

    return add, search, version("txtai")


def mcpms(data: Data, place: str) -> Peer:
    """mcp-memory-service with its sqlite-vec storage."""
    _with_extensions()
    os.environ |= {"MCP_MEMORY_BASE_DIR": place, "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec"}
    from mcp_memory_service.models.memory import Memory
    from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
    from mcp_memory_service.utils.hashing import generate_content_hash

    class Given(SqliteVecMemoryStorage):  # type: ignore[misc]
        """Takes its vectors from what was made beforehand."""

        async def _initialize_embedding_model(self) -> None:
            self.embedding_dimension = data.dims
            self.embedding_model = self

        def _generate_embedding(self, text: str) -> list[float]:
            return data.known[text]

    loop = asyncio.new_event_loop()
    storage = Given(f"{place}/m.db")
    loop.run_until_complete(storage.initialize())

    def add() -> None:
        for text in data.texts:
            one = Memory(content=text, content_hash=generate_content_hash(text), tags=[])
            loop.run_until_complete(storage.store(one))

    def search(at: int) -> list[str]:
        found = loop.run_until_complete(storage.retrieve(data.asked[at], n_results=FOUND))
        return [one.memory.content for one in found]

    return add, search, version("mcp-memory-service")


def engram(data: Data, place: str) -> Peer:
    """Ours, with everything it does by default."""
    from engram import Engram, __version__

    memory = Engram.open(f"{place}/memory.db")

    def add() -> None:
        memory.remember_many([{"content": text} for text in data.texts], partial=True)

    def search(at: int) -> list[str]:
        return [hit.memory.content for hit in memory.recall(data.asked[at], limit=FOUND)]

    return add, search, __version__


def measured(name: str, folder: Path) -> dict[str, Any]:
    """The figures of one peer, in this process."""
    data = Data(folder)
    open_peer: Callable[[Data, str], Peer] = globals()[name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        add, search, number = open_peer(data, place)
        before, busy = time.perf_counter(), time.process_time()
        add()
        added, busy = time.perf_counter() - before, time.process_time() - busy
        for at in range(5):
            search(at)
        before, asked = time.perf_counter(), time.process_time()
        found = [search(at) for at in range(len(data.asked))]
        searched, asked = time.perf_counter() - before, time.process_time() - asked
        size = sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file())
    targets = [(want, hits) for want, hits in zip(data.wanted, found, strict=True) if want]
    return {
        "version": number,
        "add_cpu_ms": round(1_000 * busy / len(data.texts), 3),
        "add_ms": round(1_000 * added / len(data.texts), 3),
        "search_cpu_ms": round(1_000 * asked / len(data.asked), 2),
        "search_ms": round(1_000 * searched / len(data.asked), 2),
        f"known_item@{FOUND}": round(sum(want in hits for want, hits in targets) / len(targets), 3),
        "size_mb": round(size / 1024**2, 1),
    }


def prepare(folder: Path, size: int) -> None:
    """Texts, questions and vectors for all, made by our embedder."""
    import numpy as np

    from engram.bench.speed import drafts, queries
    from engram.config import Config
    from engram.embed import open_embedder
    from engram.model.clock import SystemClock

    texts = [draft.content for draft in drafts(SEED, size)]
    asked = queries(SEED, size, QUERIES)
    told = {"texts": texts, "asked": [text for text, _ in asked], "wanted": [want for _, want in asked]}
    (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
    embedder = open_embedder(Config().embed, SystemClock())
    np.save(folder / "texts.npy", np.asarray(embedder.embed(texts)[1], dtype=np.float32))
    np.save(folder / "asked.npy", np.asarray(embedder.embed(told["asked"])[1], dtype=np.float32))


def run(name: str, folder: Path, envs: Path) -> dict[str, Any]:
    """One peer in its own environment: its figures, or why there are none."""
    python = Path(sys.executable) if name == "engram" else envs / name / "bin" / "python"
    if not python.exists():
        return {"skipped": f"no environment {python.parent.parent.name}: pip install {PEERS[name]}"}
    try:
        done = subprocess.run(
            [str(python), __file__, "--run", name, "--data", str(folder)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1"},
        )
    except subprocess.TimeoutExpired:
        return {"skipped": f"took longer than {PATIENCE_S} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"version"')]
    if done.returncode or not lines:
        return {"skipped": (done.stderr.strip().splitlines() or ["nothing was said"])[-1][:200]}
    figures: dict[str, Any] = json.loads(lines[-1])
    return figures


def main() -> int:
    """Measure all and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--envs", type=Path, default=Path("peers"))
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", default=list(PEERS))
    parser.add_argument("--save", type=Path)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        sys.stdout.write("\n" + json.dumps(measured(given.run, given.data)) + "\n")
        return 0
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place), given.size)
        figures = {}
        for name in given.only:
            figures[name] = run(name, Path(place), given.envs)
            print(name, json.dumps(figures[name]), flush=True)
    if given.save:
        given.save.write_text(json.dumps({"size": given.size, "peers": figures}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
