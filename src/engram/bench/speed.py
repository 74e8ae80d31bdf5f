"""How fast, how large, how it grows: sizes come in, figures for each and the exponent come out.

Every size gets a file of its own, built once by one process and served by others (`workload`): what one
size leaves in memory never counts for another. `first_answer_s` is the wall time from starting an
interpreter to its first answer on a file of that size, the middle one of three.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import engram
from engram.bench import metrics
from engram.bench.sentences import queries
from engram.bench.workload import WARM_UP
from engram.errors import EngramError

SEED = 20_240_229
QUERIES = 200
WRITES = 300
STARTS = 3

Figures = dict[str, Any]
Report = Callable[[str, int, int], None]
"""Told what is being done, how far, of how much."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all sizes share."""

    settings: Mapping[str, Any]
    report: Report
    queries: int = QUERIES
    writes: int = WRITES
    """Single writes by one thread; eight threads write four times as many."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a measured process said in the end, and how long after its start."""

    figures: Figures
    seconds: float


def measure(sizes: Sequence[int], bench: Bench, keep: Path | None = None) -> Figures:
    """All figures for all sizes. With `keep`, the files stay there, and those found there are used again."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        return _measure(sizes, bench, keep)
    with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
        return _measure(sizes, bench, Path(folder))


def _measure(sizes: Sequence[int], bench: Bench, folder: Path) -> Figures:
    ordered = sorted(set(sizes))
    figures = {size: _measure_size(size, bench, folder / f"speed-{size}.engram") for size in ordered}
    points = [(size, figures[size]["recall_ms"]["p50"]) for size in ordered]
    exponent = metrics.growth(points[-2], points[-1]) if len(points) > 1 else None
    return {
        "sizes": {str(size): figures[size] for size in ordered},
        "exponent": None if exponent is None else round(exponent, 3),
    }


def _measure_size(size: int, bench: Bench, path: Path) -> Figures:
    job = {
        "path": str(path),
        "settings": dict(bench.settings),
        "seed": SEED,
        "size": size,
        "writes": bench.writes,
    }
    asked = [asdict(query) for query in queries(SEED, size, bench.queries + WARM_UP)]
    built = Work({}, 0.0)
    if not path.exists():
        built = _work({**job, "do": "build"}, bench.report, f"{size:,}: import", size)
    firsts = [{**job, "do": "first", "query": query["text"]} for query in asked[:STARTS]]
    starts = [_work(first, bench.report, f"{size:,}: start", STARTS).seconds for first in firsts]
    served = _work({**job, "do": "serve", "queries": asked}, bench.report, f"{size:,}: recall", bench.queries)
    return {**served.figures, **built.figures, "first_answer_s": round(median(starts), 3)}


def _work(job: Mapping[str, Any], report: Report, name: str, total: int) -> Work:
    """Start a process for the job, pass on how far it is, and bring back its figures."""
    report(name, 0, total)
    started = time.perf_counter()
    # The command is this very interpreter and a module of this package.
    process = subprocess.Popen(
        [sys.executable, "-m", "engram.bench.workload"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": _import_path()},
    )
    work: Work | None = None
    with process:
        _tell(process, job)
        for line in process.stdout or ():
            said = json.loads(line)
            if "figures" in said:
                work = Work(said["figures"], time.perf_counter() - started)
            report(name, said.get("done", total), total)
    if process.returncode or work is None:
        raise EngramError(f"The measured process ended with {process.returncode} while at {name!r}.")
    return work


def _tell(process: subprocess.Popen[str], job: Mapping[str, Any]) -> None:
    if process.stdin is not None:
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.close()


def _import_path() -> str:
    """The running package first, wherever it was imported from."""
    here = str(Path(engram.__file__).parents[1])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
