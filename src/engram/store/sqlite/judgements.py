"""Judgements: what was decided about a memory or a pair comes in, and is known the next time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engram.model.clock import from_micros, to_micros
from engram.model.upkeep import Judgement
from engram.store.sqlite import records
from engram.store.sqlite.query import Db, ask

JUDGE = """
INSERT INTO judgements (kind, key, verdict, at, again_at, times)
VALUES (:kind, :key, :verdict, :at, :again_at, :times)
ON CONFLICT (kind, key) DO UPDATE SET
  verdict = :verdict,
  at = :at,
  again_at = :again_at,
  times = :times
"""

KNOWN = """
SELECT j.kind, j.key, j.verdict, j.at, j.again_at, j.times
FROM json_each(:keys) AS k
CROSS JOIN judgements AS j ON j.kind = :kind AND j.key = k.value
"""

LAST = """
SELECT kind, key, verdict, at, again_at, times
FROM judgements
WHERE kind = :kind
  AND (:verdict = '' OR verdict = :verdict)
ORDER BY at DESC, key
LIMIT :limit
"""


def known(db: Db, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
    """Those of the keys about which something was decided."""
    lines = ask(db, KNOWN, {"kind": kind, "keys": records.as_list(keys)})
    return {line[1]: _judgement(line) for line in lines}


def last(db: Db, kind: str, limit: int, verdict: str) -> list[Judgement]:
    """What was decided last under a kind."""
    return [_judgement(line) for line in ask(db, LAST, {"kind": kind, "limit": limit, "verdict": verdict})]


def judge(db: Db, one: Judgement) -> None:
    """Keep a judgement in place of the former one."""
    values = {
        "kind": one.kind,
        "key": one.key,
        "verdict": one.verdict,
        "at": to_micros(one.at),
        "again_at": records.micros(one.again_at),
        "times": one.times,
    }
    db.execute(JUDGE, values)


def _judgement(line: tuple[Any, ...]) -> Judgement:
    kind, key, verdict, at, again, times = line
    return Judgement(
        kind, key, verdict, from_micros(at), None if again is None else from_micros(again), times
    )
