"""An event that is changed or taken out of the ledger shows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from engram import Engram
from engram.model.event import Finding
from engram.testing import HashEmbedder

TRIGGERS = ("events_stay", "events_stay_there", "reasons_only_go")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "memory.db"
    with Engram.open(made, embedder=HashEmbedder()) as memory:
        told = [memory.remember(f"boat {number} is blue").memory for number in range(4)]
        memory.forget(told[0].id, "sold")
        memory.erase(told[1].id, "asked to")
        memory.update(told[2].id, importance=0.9)
    return made


def ledger(path: Path) -> Finding:
    with Engram.open(path, embedder=HashEmbedder()) as memory:
        return next(one for one in memory.doctor() if one.name == "ledger")


def tamper(path: Path, sql: str) -> None:
    with closing(apsw.Connection(str(path))) as db:
        for name in TRIGGERS:
            db.execute(f"DROP TRIGGER {name}")
        db.execute(sql)


def test_what_nobody_touched_is_whole_also_after_erasing(path: Path) -> None:
    found = ledger(path)
    assert found.ok
    assert not found.detail.startswith("0 ")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE events SET actor = 'mallory' WHERE seq = 2",
        "UPDATE events SET verb = 'restored' WHERE seq = 3",
        "DELETE FROM events WHERE seq = 2",
        "UPDATE events SET chain = x'00' WHERE seq = 1",
        "DELETE FROM events WHERE seq > 3",
        "DELETE FROM events",
    ],
)
def test_what_somebody_changed_shows(path: Path, sql: str) -> None:
    tamper(path, sql)

    assert not ledger(path).ok
