"""Checking: the file is looked at once a day; what can be rebuilt is mended, what cannot is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room
from engram.model.upkeep import Judgement

NAME: Final = "integrity"
CHECK: Final = "check"
"""The kind of judgement that says when the file was looked at."""
FILE: Final = "file"


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Look at pages, references, text index and counters; only what is wrong is touched."""
    store = room.tools.store
    known = store.upkeep.judged(CHECK, [FILE]).get(FILE)
    rests = known is not None and known.again_at is not None and known.again_at > room.now
    if cursor or rests:
        return
    wrong = [one for one in store.check() if not one.ok]
    mended = [one for one in store.check(repair=True) if one.mended] if wrong else []
    names = {one.name for one in mended}
    decisions = [Decision("file.mended", f"{one.name}: {one.mended:,} put right", ()) for one in mended]
    decisions += [
        Decision("file.damaged", f"{one.name}: `engram doctor` says what to do", ())
        for one in wrong
        if one.name not in names
    ]
    again = room.now + timedelta(days=room.tools.config.doubt.check_days)
    mark = Judge(Judgement(CHECK, FILE, "wrong" if wrong else "sound", room.now, again))
    yield Batch((*decisions, Decision("file.checked", "", (mark,), quiet=True)), "done")
