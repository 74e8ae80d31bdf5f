"""One thread writes at a time: whoever comes while nobody does, at once; what came meanwhile goes in groups.

A group is one transaction; each piece of work but the first is a savepoint in it, so that one that fails
leaves nothing behind and does not harm the others. Nobody is told "done" before the commit.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar, Generic, TypeVar

import apsw

from engram.errors import EngramError, Overloaded, StoreClosed, StoreError
from engram.lazily import dataclass
from engram.store.sqlite.connection import DISK_TROUBLE, GROUP_LIMIT, Opener, translate

# ---------------------------------------------------------------- line
# A line of waiting work: many threads put in, one takes out in groups. It has a limit and can be closed.


T = TypeVar("T")


class WorkQueue(Generic[T]):
    """First in, first out. Once closed, nothing more comes in, and what waits can still be taken."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: deque[T] = deque()
        self._closed = False
        lock = threading.Lock()
        self._room = threading.Condition(lock)
        self._work = threading.Condition(lock)

    def put(self, item: T, patience_s: float) -> None:
        """Wait for room, then join the line. Raises Overloaded or StoreClosed."""
        with self._room:
            self._room.wait_for(lambda: self._closed or len(self._items) < self._limit, patience_s)
            if self._closed:
                raise StoreClosed
            if len(self._items) >= self._limit:
                raise Overloaded(len(self._items))
            self._items.append(item)
            self._work.notify()

    def wait(self) -> bool:
        """Wait for work; whether some may still come."""
        with self._work:
            self._work.wait_for(lambda: self._closed or self._items)
            return bool(self._items) or not self._closed

    def take(self, most: int) -> list[T]:
        """Take what is there, up to `most`."""
        with self._room:
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._room.notify(len(taken))
            return taken

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and more may come."""
        return not self._items and not self._closed

    def close(self) -> None:
        """Let nobody in any more."""
        with self._work:
            self._closed = True
            self._work.notify_all()
            self._room.notify_all()

    def __len__(self) -> int:
        return len(self._items)


Task = Callable[[apsw.Connection], Any]
Outcome = tuple[Exception | None, Any]
"""What went wrong, or what came out."""

TOKENS, ANSWERS, TRIGGERS, SPENDING = " tokens", " answers", " triggers", " spending"
RECALLS, SNAPSHOTS, AUDIT, BLOCKS, QUEUE = " recalls", " snapshots", " audit", " blocks", " queue"
"""What jobs keep to that are about no namespace: one kind of record, or none. No namespace begins so."""
LONG_WORK = 1_000
"""Changed rows after which a transaction takes in no further job."""


class Promise:
    """What one thread waits for and another settles, once. A bare lock: a quarter of a `Future`."""

    __slots__ = ("_outcome", "_settled")

    def __init__(self) -> None:
        self._outcome: Outcome = (None, None)
        self._settled = threading.Lock()
        self._settled.acquire()

    def settle(self, outcome: Outcome) -> None:
        """Say what came out, and wake who waits."""
        self._outcome = outcome
        self._settled.release()

    def result(self) -> Any:
        """Wait for what comes out; raises what went wrong."""
        with self._settled:
            fault, result = self._outcome
        self._outcome = (None, None)
        try:
            if fault is not None:
                raise fault
            return result
        finally:
            del fault  # it holds this frame already: no circle


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A task and the promise to whoever waits for it."""

    task: Task
    alone: bool = False
    """Runs outside of any transaction and group: for upkeep."""
    within: str = ""
    """What it keeps to, a namespace or a kind of record; empty: it may be about anything."""
    first: bool = False
    """Begins a transaction: it looks at what is known, and that must stay whatever becomes of others."""
    done: Promise = field(default_factory=Promise)


class Writer:
    """Owns the write connection, which one thread uses at a time: a caller, or its own for what had to wait.

    Its own thread starts at once and ends with `close`.
    """

    ends_group: ClassVar[tuple[type[Exception], ...]] = DISK_TROUBLE
    """What is no fault of a single job: the whole transaction is taken back."""

    def __init__(self, opener: Opener, db: apsw.Connection) -> None:
        self._opener = opener
        self._db = self.connection = db
        self._line: WorkQueue[Job] = WorkQueue(opener.settings.queue_limit)
        self._turn = threading.Lock()
        self._whose = 0
        """The thread that writes now."""
        self.rolled_back = 0
        """How often a transaction was taken back: what was written in it is not there."""
        self._thread = threading.Thread(target=self._run, name="engram-writer", daemon=True)
        self._thread.start()

    def run(self, task: Task, *, alone: bool = False, within: str = "", first: bool = False) -> Any:
        """Carry out a task, or hand it over, and wait until it is on disk."""
        if self._whose == threading.get_ident():
            raise StoreError("A piece of work may not write by itself: use the unit it was given.")
        job = Job(task, alone, within, first)
        # What this thread handed over before has been done when nothing waits and nobody writes.
        if self._line.is_idle and self._turn.acquire(blocking=False):
            try:
                if self._line.is_idle:
                    self._carry_out([job])
                    return job.done.result()
            finally:
                self._turn.release()
        self._line.put(job, self._opener.settings.busy_timeout_s)
        return job.done.result()

    def run_later(self, task: Task, within: str = "") -> Promise:
        """Hand over a task without waiting. Raises Overloaded when the line is full."""
        job = Job(task, within=within)
        self._line.put(job, 0)
        return job.done

    def close(self) -> None:
        """Finish what is waiting, then close the connection."""
        self._line.close()
        if self._whose != threading.get_ident():
            self._thread.join()

    def own_connection(self) -> apsw.Connection | None:
        """The write connection, for what this very thread carries out; None for any other thread."""
        return self._db if self._whose == threading.get_ident() else None

    @property
    def waiting(self) -> int:
        """How much work waits."""
        return len(self._line)

    def _run(self) -> None:
        while self._line.wait():
            with self._turn:
                self._carry_out(self._line.take(GROUP_LIMIT))
        with self._turn:
            self._db.close()

    def _carry_out(self, jobs: list[Job]) -> None:
        self._whose = threading.get_ident()
        try:
            for group in self._split(jobs):
                self._settle(group)
        finally:
            self._whose = 0

    def _settle(self, group: list[Job]) -> None:
        """Carry out a group, in as many transactions as it takes, and keep the promises whatever happens."""
        while group:
            try:
                outcomes = self._alone(group[0]) if group[0].alone else self._together(group)
            except (apsw.Error, EngramError) as error:
                outcomes = [(self._spoken(error), None) for _ in group]
            for job, outcome in zip(group, outcomes, strict=False):
                job.done.settle(outcome)
            group = group[len(outcomes) :]

    def _together(self, group: list[Job]) -> list[Outcome]:
        """One transaction, with as many jobs from the front as fit well; what became of them."""
        self._begin(group[0])
        try:
            start = self._db.total_changes()
            outcomes = [self._first(group[0])]
            for job in group[1:]:
                if not self._db.in_transaction or self._db.total_changes() - start > LONG_WORK:
                    break
                outcomes.append(self._further(job))
            if self._db.in_transaction:
                self._commit()
        except BaseException:  # a caller may be interrupted while it writes
            self._roll_back()
            raise
        return outcomes

    def _begin(self, first: Job) -> None:
        """Begin a transaction for the group that begins with this job."""
        del first
        self._db.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._db.execute("COMMIT")

    def _first(self, job: Job) -> Outcome:
        """The first job needs no savepoint: nothing stands before it that a rollback could harm.

        That matters for long work. Inside a savepoint SQLite goes through a list of all pages changed so far,
        at the end of nearly every statement: a thousand memories would take several times as long.
        """
        try:
            return None, job.task(self._db)
        except self.ends_group:
            raise
        except Exception as error:  # noqa: BLE001 - the worker loop: the caller gets it, the thread lives on
            self._roll_back()
            return self._spoken(error), None

    def _further(self, job: Job) -> Outcome:
        """One more job, all of it or nothing. A full disk ends the whole group."""
        self._db.execute("SAVEPOINT work")
        try:
            result = job.task(self._db)
        except self.ends_group:
            raise
        except Exception as error:  # noqa: BLE001 - the worker loop
            self._db.execute("ROLLBACK TO work")
            self._db.execute("RELEASE work")
            return self._spoken(error), None
        self._db.execute("RELEASE work")
        return None, result

    def _alone(self, job: Job) -> list[Outcome]:
        try:
            return [(None, job.task(self._db))]
        except Exception as error:  # noqa: BLE001 - the worker loop
            self._roll_back()
            return [(self._spoken(error), None)]

    def _spoken(self, error: Exception) -> Exception:
        if not isinstance(error, apsw.Error):
            return error
        fault = translate(error, self._opener.path, self._opener.settings.busy_timeout_s)
        fault.__cause__ = error
        return fault

    def _roll_back(self) -> None:
        self.rolled_back += 1
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _split(self, jobs: list[Job]) -> list[list[Job]]:
        """The jobs in their order, those that run alone by themselves."""
        groups: list[list[Job]] = []
        for job in jobs:
            if job.alone or job.first or not groups or groups[-1][0].alone:
                groups.append([job])
            else:
                groups[-1].append(job)
        return groups
