"""The worker: while a server is up, one thread maintains the memory when it is due and nobody is asking."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Thread

from engram.errors import EngramError, UpkeepBusy
from engram.lifecycle.schedule import due
from engram.model.upkeep import Report, RunKind, RunState
from engram.nouns.upkeep import Upkeep

LOOKS_EVERY_S = 15.0
AFTER_FAILURE = timedelta(minutes=10)
"""After something went wrong the worker waits so long: a full disk does not mend itself in a second."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """How the worker is."""

    last: datetime | None
    """When it last finished something."""
    trouble: str = ""
    """What went wrong the last time, in words; empty when nothing did."""


class Worker:
    """Maintains one memory. `tick` decides and works; `start` lets a thread tick until `stop`."""

    def __init__(self, upkeep: Upkeep, idle: Callable[[], timedelta]) -> None:
        self._upkeep = upkeep
        self._idle = idle
        self._stopping = Event()
        self._thread: Thread | None = None
        self._rests_until: datetime | None = None
        self._told = Told(None)

    @property
    def told(self) -> Told:
        """How it is; also that its thread has died of something nobody foresaw."""
        died = self._thread is not None and not self._thread.is_alive() and not self._stopping.is_set()
        return Told(self._told.last, "its thread has died; restart the server") if died else self._told

    def start(self) -> None:
        """Begin to look every few seconds whether something is due."""
        self._thread = Thread(target=self._live, name="engram-upkeep", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let a run that is under way pause after its slice, and end. Safe to call twice."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def tick(self) -> Report | None:
        """Do what is due, if anything is; a run pauses as soon as somebody asks or the worker is to stop."""
        now = self._upkeep.clock.now()
        if self._rests_until is not None and now < self._rests_until:
            return None
        kind = due(now, self._idle(), *self._last(), self._upkeep.settings)
        if kind is None:
            return None
        try:
            return self._run(kind, now)
        except UpkeepBusy:
            return None  # another process maintains this file: it is in good hands
        except EngramError as error:
            log.warning("Maintenance failed and is tried again later: %s", error.message)
            self._rests_until = now + AFTER_FAILURE
            self._told = Told(self._told.last, error.message)
            return None

    def _run(self, kind: RunKind, now: datetime) -> Report:
        work = self._upkeep.consolidate if kind is RunKind.CONSOLIDATE else self._upkeep.dream
        report = work(stopping=self._stopping.is_set)
        if report.run.state is RunState.DONE:
            log.info("%s %s: %d changes", kind.value, report.run.id, report.changes)
            self._told = Told(now)
        return report

    def _last(self) -> tuple[datetime | None, datetime | None]:
        kinds = (RunKind.CONSOLIDATE, RunKind.DREAM)
        return self._upkeep.last(kinds[0]), self._upkeep.last(kinds[1])

    def _live(self) -> None:
        while not self._stopping.wait(LOOKS_EVERY_S):
            self.tick()
