"""One measured process: a job comes in on stdin, lines of JSON come out on stdout, the last with the figures.

    python -m engram.bench.workload < job.json

Runs in a process of its own, so that memory and start-up are those of the engine and of nothing else.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from engram.bench import metrics
from engram.bench.sentences import drafts
from engram.engine import Engram
from engram.model.draft import Draft

REPORT_EVERY = 1_000
THREADS = 8
KNOWN_ITEM_DEPTH = 10
WARM_UP = 5

Job = dict[str, Any]
Say = Callable[[Job], None]


def main() -> None:
    """Do the job that stdin describes."""
    job = json.loads(sys.stdin.readline())
    with Engram.open(job["path"], config=job["settings"]) as engine:
        WORKLOADS[job["do"]](engine, job, _say)


def build(engine: Engram, job: Job, say: Say) -> None:
    """Import so many made-up memories and tell how fast."""
    reported = 0

    def progress(done: int) -> None:
        nonlocal reported
        if done - reported >= REPORT_EVERY:
            reported = done
            say({"done": done})

    batch = list(drafts(job["seed"], job["size"]))
    started, busy = time.perf_counter(), time.process_time()
    receipts = engine.remember_many(batch, partial=True, progress=progress)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    outcomes: dict[str, int] = {}
    for receipt in receipts:
        name = str(getattr(receipt, "outcome", "refused"))
        outcomes[name] = outcomes.get(name, 0) + 1
    figures: Job = {"import_per_s": round(len(batch) / seconds, 1), "import_rss_mb": rss_mb("VmHWM")}
    say({"figures": {**figures, "import_cpu_ms": round(busy * 1000 / len(batch), 2), "outcomes": outcomes}})


def first(engine: Engram, job: Job, say: Say) -> None:
    """Answer one question; the clock is read by whoever started this process."""
    say({"figures": {"hits": len(engine.recall(job["query"]))}})


def serve(engine: Engram, job: Job, say: Say) -> None:
    """Answer questions and take single writes, and tell how fast and at what size in memory."""
    for query in job["queries"][:WARM_UP]:
        engine.recall(query["text"])
    figures: Job = {**_recalls(engine, job["queries"][WARM_UP:], say), "rss_mb": rss_mb("VmRSS")}
    # What a kept file already holds decides the seed: a second run does not write the first one's sentences.
    seed = job["seed"] + 1 + engine.stats().memories
    alone, together = list(drafts(seed, job["writes"])), list(drafts(seed + 1, 4 * job["writes"]))
    figures["writes_per_s_1"] = _writes_per_s(engine, alone, 1)
    figures["writes_per_s"] = _writes_per_s(engine, together, THREADS)
    say({"figures": {**figures, "rss_after_writes_mb": rss_mb("VmRSS"), "file_mb": _file_mb(engine.path)}})


def rss_mb(line: str) -> float | None:
    """Memory of this process from /proc: VmRSS is now, VmHWM was the most. None without a /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    found = [row.split()[1] for row in status.splitlines() if row.startswith(f"{line}:")]
    return round(int(found[0]) / 1024, 1) if found else None


def _recalls(engine: Engram, queries: Iterable[Job], say: Say) -> Job:
    milliseconds, known, found = [], 0, 0
    busy = time.process_time()
    for query in queries:
        started = time.perf_counter()
        hits = engine.recall(query["text"])
        milliseconds.append((time.perf_counter() - started) * 1000)
        if query["target"] is not None:
            known += 1
            found += any(hit.memory.content == query["target"] for hit in hits.hits[:KNOWN_ITEM_DEPTH])
        say({"done": len(milliseconds)})
    return {
        "recall_cpu_ms": round((time.process_time() - busy) * 1000 / max(1, len(milliseconds)), 2),
        "recall_ms": {
            "p50": round(metrics.percentile(milliseconds, 0.50), 2),
            "p95": round(metrics.percentile(milliseconds, 0.95), 2),
        },
        f"known_item@{KNOWN_ITEM_DEPTH}": round(found / known, 4) if known else None,
    }


def _writes_per_s(engine: Engram, batch: list[Draft], threads: int) -> float:
    """Single durable writes, each acknowledged before its thread sends the next."""
    shares = [batch[start::threads] for start in range(threads)]
    workers = [threading.Thread(target=_write_all, args=(engine, share)) for share in shares]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return round(len(batch) / (time.perf_counter() - started), 1)


def _write_all(engine: Engram, batch: list[Draft]) -> None:
    for draft in batch:
        engine.remember(
            draft.content,
            session=draft.session,
            speaker=draft.speaker,
            source=draft.source,
            event_time=draft.event_time,
        )


def _file_mb(path: str) -> float:
    return round(Path(path).stat().st_size / 1024**2, 1)


def _say(line: Job) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


WORKLOADS: dict[str, Callable[[Engram, Job, Say], None]] = {"build": build, "first": first, "serve": serve}

if __name__ == "__main__":
    main()
