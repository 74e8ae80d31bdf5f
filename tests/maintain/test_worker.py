"""The worker: a quiet server maintains its memory by itself, when it is due and nobody asks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from engram import Engram
from engram.model.maintenance import RunKind
from engram.rules.maintenance import due
from engram.server.host import Worker
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
IDLE, BUSY = timedelta(minutes=2), timedelta(minutes=1, seconds=59)


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


@every(
    ("idle", "consolidated", "dreamt", "expected"),
    [
        (IDLE, None, None, RunKind.CONSOLIDATE),
        (BUSY, None, None, None),
        (IDLE, ago(hours=24), None, RunKind.CONSOLIDATE),
        (IDLE, ago(hours=23, minutes=59), None, RunKind.DREAM),
        (BUSY, ago(hours=47), None, None),
        (BUSY, ago(hours=48), None, RunKind.CONSOLIDATE),
        (IDLE, ago(hours=1), ago(minutes=29), None),
        (IDLE, ago(hours=1), ago(minutes=30), RunKind.DREAM),
        (BUSY, ago(hours=1), ago(minutes=30), None),
    ],
)
def test_what_is_due(
    idle: timedelta, consolidated: datetime | None, dreamt: datetime | None, expected: RunKind | None
) -> None:
    assert due(NOW, idle, consolidated, dreamt) is expected


def test_a_server_that_is_never_quiet_is_maintained_all_the_same() -> None:
    assert due(NOW, BUSY, None, None, began=ago(hours=47)) is None
    assert due(NOW, BUSY, None, None, began=ago(hours=48)) is RunKind.CONSOLIDATE


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(":memory:", clock=clock, embedder=HashEmbedder()) as one:
        yield one


def test_a_day_of_a_quiet_server(memory: Engram, clock: FakeClock) -> None:
    worker = Worker(memory, lambda: IDLE)
    kinds = []
    for _ in range(50):
        report = worker.tick()
        kinds += [report.run.kind] if report else []
        clock.advance(minutes=30)
    assert kinds.count(RunKind.CONSOLIDATE) == 2
    assert kinds.count(RunKind.DREAM) == 48


def test_when_another_process_is_at_it_the_worker_waits_without_trouble(memory: Engram) -> None:
    worker = Worker(memory, lambda: IDLE)
    with memory.maintenance._caller.tools.store.lease("upkeep"):  # noqa: SLF001 - as another process would
        assert worker.tick() is None
    assert worker.report.trouble == ""
    assert worker.tick() is not None


def test_a_worker_that_is_told_to_stop_ends(memory: Engram) -> None:
    worker = Worker(memory, lambda: IDLE)
    worker.start()
    worker.stop()
    worker.stop()
