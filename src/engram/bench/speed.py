"""How fast, how large, how it grows: sizes come in, figures for each and the exponent come out.

Every size gets a file of its own, built by one process and served by others: what one size leaves in memory
never counts for another. `first_answer_s` is the wall time from starting an interpreter to its first answer
on a file of that size, the middle one of three.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from itertools import accumulate, islice
from pathlib import Path
from statistics import median
from typing import Any

import engram
from engram.bench.retrieval import latency
from engram.engine import Engram
from engram.errors import EngramError
from engram.model.capture import Draft

SEED = 20_240_229
QUERIES = 200
WRITES = 300
"""Single writes by one thread; eight threads write four times as many."""
STARTS, THREADS, KNOWN_ITEM_DEPTH, WARM_UP = 3, 8, 10, 5
YARDSTICK = 500
"""Sentences made up to tell how fast this machine is now."""

Figures = dict[str, Any]


def measure(
    sizes: Sequence[int], settings: Mapping[str, Any], asked: int, writes: int, keep: Path | None = None
) -> Figures:
    """All figures for all sizes. With `keep`, the files stay there, and those found there are used again."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
            return measure(sizes, settings, asked, writes, Path(folder))
    keep.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Figures] = {}
    for size in sorted(set(sizes)):
        path = keep / f"speed-{size}.engram"
        job = {"path": str(path), "settings": dict(settings), "size": size, "writes": writes}
        questions = queries(SEED, size, asked + WARM_UP)
        built = {} if path.exists() else _apart("build", job)[0]
        starts = [_apart("first", {**job, "query": text})[1] for text, _ in questions[:STARTS]]
        served, _ = _apart("serve", {**job, "queries": questions})
        figures[str(size)] = {**served, **built, "first_answer_s": round(median(starts), 3)}
    points = [(int(size), measured["recall_ms"]["p50"]) for size, measured in figures.items()]
    return {"sizes": figures, "exponent": growth(*points[-2:]) if len(points) > 1 else None}


def growth(smaller: tuple[int, float], larger: tuple[int, float]) -> float | None:
    """The exponent of cost against size between two points (size, cost): 1 is linear, 0 is flat.

    >>> growth((1_000, 2.0), (10_000, 2.0)), growth((1_000, 1.0), (10_000, 10.0)), growth((9, 0.0), (10, 1.0))
    (0.0, 1.0, None)
    """
    if min(smaller[1], larger[1]) <= 0:
        return None
    return round(math.log(larger[1] / smaller[1]) / math.log(larger[0] / smaller[0]), 3)


def rss_mb(line: str) -> float | None:
    """Memory of this process from /proc: VmRSS is now, VmHWM was the most. None without a /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    values = [row.split()[1] for row in status.splitlines() if row.startswith(f"{line}:")]
    return round(int(values[0]) / 1024, 1) if values else None


def _apart(task: str, job: Figures) -> tuple[Figures, float]:
    """Do a task in a process of its own; its figures, and how long after its start they came."""
    here = str(Path(engram.__file__).parents[1])
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    started = time.time()
    done = subprocess.run(
        [sys.executable, "-c", "from engram.bench import speed; speed.work()"],
        input=json.dumps({**job, "task": task}),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    if done.returncode:
        raise EngramError(f"The measured process ended with {done.returncode} at {job['size']:,} memories.")
    figures: Figures = json.loads(done.stdout)
    return figures, figures.pop("ready_at") - started


def work() -> None:
    """The measured process: a job comes from stdin, its figures go to stdout."""
    job: Figures = json.loads(sys.stdin.read())
    with Engram.open(job["path"], config=job["settings"]) as memory:
        if job["task"] == "first":
            figures: Figures = {"hits": len(memory.recall(job["query"]))}
        else:
            figures = (_build if job["task"] == "build" else _serve)(memory, job)
        sys.stdout.write(json.dumps({**figures, "ready_at": time.time()}))


def _build(memory: Engram, job: Figures) -> Figures:
    batch = list(drafts(SEED, job["size"]))
    started, busy = time.perf_counter(), time.process_time()
    receipts = memory.remember_many(batch, partial=True)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    return {
        "import_per_s": round(len(batch) / seconds, 1),
        "import_rss_mb": rss_mb("VmHWM"),
        "import_cpu_ms": round(busy * 1000 / len(batch), 2),
        "outcomes": Counter(str(getattr(receipt, "outcome", "refused")) for receipt in receipts),
    }


def _serve(memory: Engram, job: Figures) -> Figures:
    for text, _ in job["queries"][:WARM_UP]:
        memory.recall(text)
    asked, is_found, milliseconds = job["queries"][WARM_UP:], [], []
    busy = time.process_time()
    for text, target in asked:
        started = time.perf_counter()
        hits = memory.recall(text)
        milliseconds.append((time.perf_counter() - started) * 1000)
        if target:
            is_found.append(any(hit.memory.content == target for hit in hits.hits[:KNOWN_ITEM_DEPTH]))
    figures = {
        "yardstick_ms": _yardstick_ms(),
        "recall_cpu_ms": round((time.process_time() - busy) * 1000 / max(1, len(asked)), 2),
        "recall_ms": latency(milliseconds),
        f"known_item@{KNOWN_ITEM_DEPTH}": round(sum(is_found) / len(is_found), 4) if is_found else None,
        "rss_mb": rss_mb("VmRSS"),
    }
    # What a kept file already holds decides the seed: a second run does not write the first one's sentences.
    seed = SEED + 1 + memory.stats().memories
    figures["writes_per_s_1"] = _writes_per_s(memory, list(drafts(seed, job["writes"])), 1)
    figures["writes_per_s"] = _writes_per_s(memory, list(drafts(seed + 1, 4 * job["writes"])), THREADS)
    size = Path(memory.path).stat().st_size
    return {**figures, "rss_after_writes_mb": rss_mb("VmRSS"), "file_mb": round(size / 1024**2, 1)}


def _yardstick_ms() -> float:
    """The least processor time of a fixed piece of Python: two machines, or two days, compare by it."""
    least = math.inf
    for _ in range(STARTS):
        busy = time.process_time()
        for _ in islice(sentences(SEED), YARDSTICK):
            pass
        least = min(least, time.process_time() - busy)
    return round(least * 1000, 2)


def _writes_per_s(memory: Engram, batch: Sequence[Draft], threads: int) -> float:
    """Single durable writes, each acknowledged before its thread sends the next."""
    fields = ("session", "speaker", "source", "event_time")

    def write(draft: Draft) -> None:
        memory.remember(draft.content, **{name: getattr(draft, name) for name in fields})

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, batch))
    return round(len(batch) / (time.perf_counter() - started), 1)


# ---------------------------------------------------------------- sentences
# Made-up memories for measuring speed: a seed comes in, endless sentences come out, no two of them equal.
#
# Words are drawn as in real text: few are common, most are rare (Zipf). The rare end is made of invented
# names, so the vocabulary grows with the number of sentences as it does in life.

SESSION_TURNS = 12
NAMES_MAGNITUDE = 4
"""Ten to this power is how many names are invented."""
LONG_WORD, KNOWN_ITEM_WORDS = 4, 6
SECOND_CLAUSE, THIRD_CLAUSE, FAMILIAR = 0.7, 0.3, 0.8
"""Shares: sentences with more than one clause, and people who are no strangers."""


_TEXT = (resources.files(__package__) / "words.txt").read_text(encoding="utf-8")
_LINES = (line.partition(": ") for line in _TEXT.splitlines() if not line.startswith("#"))
WORDS = {name: words.split("|") if "|" in words else words.split() for name, _, words in _LINES}
TOPICS = [name for name in WORDS if name.startswith("topic ")]


def drafts(seed: int, amount: int) -> Iterator[Draft]:
    """So many sentences, a minute apart: by turns a conversation of two people and as many single notes."""
    people = WORDS["people"]
    for number, sentence in enumerate(islice(sentences(seed), amount)):
        session, turn = divmod(number, SESSION_TURNS)
        at = datetime(2024, 1, 1, 9, tzinfo=UTC) + timedelta(minutes=number)
        if session % 2:
            yield Draft(sentence, event_time=at)
        else:
            speaker, name = people[(session + turn % 2) % len(people)], f"{seed}-{session}"
            yield Draft(sentence, session=name, speaker=speaker, source="session", event_time=at)


def sentences(seed: int) -> Iterator[str]:
    """Endless different sentences of ten to thirty words."""
    rng = random.Random(seed)  # noqa: S311 - made-up text, not a secret
    seen: set[int] = set()
    while True:
        sentence = _sentence(rng)
        if hash(sentence) not in seen:
            seen.add(hash(sentence))
            yield sentence


def queries(seed: int, stored: int, amount: int) -> list[tuple[str, str]]:
    """Questions, and the sentence that each is to find.

    Half of them are made of some words of one of the first `stored` sentences; the others are about a topic
    and are to find nothing certain (an empty sentence).
    """
    rng = random.Random(f"queries {seed}")  # noqa: S311 - as above
    numbers = {rng.randrange(stored) for _ in range(amount // 2)}
    numbered = enumerate(islice(sentences(seed), stored))
    questions = []
    for text in (text for number, text in numbered if number in numbers):
        words = [word.strip(".") for word in text.split() if len(word) >= LONG_WORD]
        places = sorted(rng.sample(range(len(words)), min(len(words), KNOWN_ITEM_WORDS)))
        questions.append((" ".join(words[place] for place in places) + "?", text))
    for _ in range(amount - len(questions)):
        person, thing = _word(rng, "people"), rng.choice(WORDS[rng.choice(TOPICS)])
        questions.append((f"What did {person} do with the {thing} {rng.choice(WORDS['whens'])}?", ""))
    rng.shuffle(questions)
    return questions


def _sentence(rng: random.Random) -> str:
    topic = rng.choice(TOPICS)
    clauses = [_clause(rng, topic)]
    if rng.random() < SECOND_CLAUSE:
        clauses.append(f"{rng.choice(WORDS['reasons'])} {_clause(rng, topic)}")
    if rng.random() < THIRD_CLAUSE:
        clauses.append(f"and {_person(rng)} {rng.choice(WORDS['moods'])}")
    return " ".join(clauses) + "."


def _clause(rng: random.Random, topic: str) -> str:
    thing = f"{_word(rng, 'qualities')} {_word(rng, topic)}"
    tails = (
        f"in {_name(rng)}",
        f"for {_person(rng)} {_word(rng, 'whens')}",
        f"from the {_name(rng)} {_word(rng, topic)} {_word(rng, 'whens')}",
        f"for {rng.randint(2, 980)} euros",
        f"with the {_word(rng, topic)} of {_name(rng)}",
    )
    tail = rng.choice(tails)
    return f"{_person(rng)} {_word(rng, 'verbs')} the {thing} {tail}"


def _person(rng: random.Random) -> str:
    return _word(rng, "people") if rng.random() < FAMILIAR else _name(rng)


def _name(rng: random.Random) -> str:
    """One of some ten thousand invented names, the early ones far more often than the late ones."""
    return _invented(int(10 ** rng.uniform(0, NAMES_MAGNITUDE)))


@cache
def _invented(number: int) -> str:
    rng = random.Random(number)  # noqa: S311 - as above
    return "".join(rng.choice(WORDS[part]) for part in ("starts", "middles", "starts", "ends")).title()


def _word(rng: random.Random, kind: str) -> str:
    return rng.choices(WORDS[kind], cum_weights=_weights(len(WORDS[kind])))[0]


@cache
def _weights(amount: int) -> tuple[float, ...]:
    return tuple(accumulate(1 / (place + 2) for place in range(amount)))
