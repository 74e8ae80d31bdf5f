"""The host: one open memory, a facade for each caller, threads for their calls, a worker that maintains it.

`check_health` looks at all of that and says in words how it is, and what to do.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from engram._version import __version__
from engram.crew import AHEAD
from engram.errors import (
    AccessDenied,
    ConfigError,
    EngramError,
    InvalidInput,
    StoreClosed,
    TooManyRecalls,
    TooMuchWritten,
    UpkeepBusy,
    WorkCancelled,
)
from engram.lazily import dataclass
from engram.model.clock import Cancellation, cancelled_by
from engram.model.event import Audited
from engram.model.maintenance import Report, RunKind, RunState
from engram.model.memory import Status
from engram.model.plain import plain
from engram.model.scope import Access
from engram.pressure import give_back_memory
from engram.rules.maintenance import due
from engram.server import caller
from engram.server.caller import NOBODY, Caller, Links
from engram.server.limits import Keys
from engram.server.problems import TookTooLong
from engram.store.sqlite.connection import QUEUE_LIMIT

if TYPE_CHECKING:
    from engram.config import ServerConfig
    from engram.engine import Engram
    from engram.model.event import Stats
    from engram.model.scope import Token
# ---------------------------------------------------------------- host
# The host: one open memory, a facade for each caller, and the threads in which calls are carried out.

T = TypeVar("T")
log = logging.getLogger(__name__)

FACADES = 256
"""Callers whose facades are kept; the one unused for longest is settled and let go."""
COUNTED_EVERY_S = 5.0
COUNTED_SHARE = 10
"""Counting takes at most a tenth of the time."""
THREADS_A_CORE = 4
LEAST_QUICK = 2
"""More threads that compute at once than cores make each other wait: measured, a third fewer answers."""
STILL_S = 2.0
"""So long calls that were ended are waited for: each ends at its next step."""
TICK_S = 0.1
"""So soon a pause notices that the server is to stop."""


class MemoryHost:
    """Owns the memory from `open` to `close`. Used by the event loop; the engine runs in its threads."""

    def __init__(self, opener: Callable[[], Engram], settings: ServerConfig) -> None:
        self.settings = settings
        self.started = time.monotonic()
        self.links = Links()
        self.keys = Keys(memory=lambda: self.memory)
        self._opener = opener
        self._root: Engram | None = None
        self._facades: OrderedDict[tuple[Access, str], Engram] = OrderedDict()
        self._changed = threading.Condition()
        self._running = 0
        self._counted: tuple[float, Stats] | None = None
        """Until when what was counted holds, and what that was."""
        self._closing = threading.Event()
        self._stopped_at: float | None = None
        self._under_way: set[Cancellation] = set()
        self._thread_limits: dict[bool, anyio.CapacityLimiter] = {}
        self._asked = self.started
        self._worker: Worker | None = None
        self.reload: Callable[[], Mapping[str, Any]] | None = None
        """Reads the settings anew, by name; None: there is no configuration to follow."""
        self._configured: Mapping[str, Any] = {}
        self.proxied = Counter({"requests": 0, "extracted": 0, "buffered_turns": 0})
        """What the proxy has passed on, made memories of, and still holds to be listened to."""
        self.projects: dict[tuple[str, str], str] = {}
        """The project that each session of a client of old works on, by namespace and session."""

    @property
    def is_closing(self) -> bool:
        """Whether the server is about to stop: streams end by themselves."""
        return self._closing.is_set()

    @property
    def running(self) -> int:
        """Calls that are being carried out."""
        return self._running

    @property
    def memory(self) -> Engram:
        """The memory as its owner sees it. Raises StoreClosed before `open` and after `close`."""
        if self._root is None:
            raise StoreClosed
        return self._root

    def login_path(self) -> str:
        """An address that lets the owner's browser in, once; the page itself where nobody needs to be."""
        return f"{caller.PATH}?{caller.CODE}={self.links.make()}" if self.settings.api_key else "/"

    def open(self) -> None:
        """Open the memory. Safe to call twice."""
        if self._root is None:
            self._root = self._opener()
            self._configured = self.reload() if self.reload is not None else {}
            self._worker = Worker(self._root, self.idle, self.follow_settings)
            self._worker.start()

    def follow_settings(self) -> None:
        """Bring in force what was changed in the configuration since the last look, as far as it can be."""
        if self.reload is None:
            return
        try:
            wanted = self.reload()
        except ConfigError as error:
            log.warning("The configuration is not followed: %s", error.message)
            return
        before, self._configured = self._configured, wanted
        for name, value in wanted.items():
            if before and before.get(name) != value:
                try:
                    self.memory.maintenance.configure({name: value})
                except InvalidInput as error:
                    log.warning("%s", error.message)

    def idle(self) -> timedelta:
        """How long nobody has asked for anything."""
        return timedelta(seconds=0 if self._running else time.monotonic() - self._asked)

    @property
    def upkeep(self) -> WorkerReport:
        """How the maintenance in the background is."""
        return WorkerReport(None) if self._worker is None else self._worker.report

    def stop(self) -> None:
        """Say that the server is about to stop. Safe in a signal handler."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
        self._closing.set()

    @property
    def left_s(self) -> float:
        """What is left of the time in which the server stops."""
        begun = time.monotonic() if self._stopped_at is None else self._stopped_at
        return max(0.0, begun + self.settings.drain_s - time.monotonic())

    def close(self) -> None:
        """Wait for calls that are under way, read what was heard, write what waits, let go of the file.

        Calls that take longer than half of the time there is are ended; what was heard and cannot be read in
        the rest is in the log, and is read the next time.
        """
        self.stop()
        root = self._root
        if root is None:
            return
        if self._worker is not None:
            self._worker.stop()
        self._wait_for_calls(self.left_s / 2)
        with self._changed:
            for cancellation in self._under_way:
                cancellation.cancel("the server stops")
        self._wait_for_calls(min(STILL_S, self.left_s))
        reading = Cancellation()
        in_time = threading.Timer(self.left_s / 4, reading.cancel, ["the server stops"])
        in_time.daemon = True
        in_time.start()
        try:
            with cancelled_by(reading), suppress(WorkCancelled):
                for facade in self._facades.values():
                    facade.settle()
        finally:
            self._facades.clear()
            self._root = None
            with cancelled_by(reading), suppress(WorkCancelled):
                root.close()
            in_time.cancel()

    def _wait_for_calls(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0, seconds)

    async def run(
        self,
        caller: Caller,
        work: Callable[[Engram], T],
        *,
        limit_s: float | None = None,
        quick: bool = False,
    ) -> T:
        """Carry out a piece of work for a caller, in a thread. Raises TookTooLong when it takes longer.

        Work that nobody waits for any more ends at its next step; what it was about to write is not written.
        `quick` work computes more than it waits, so no more of it runs at once than there are cores.
        """
        seconds = self.settings.time_limit_s if limit_s is None else limit_s
        cancellation, lane = Cancellation(), self._thread_limit(quick=quick)
        try:
            with anyio.fail_after(seconds):
                return await anyio.to_thread.run_sync(
                    self._work, caller, work, cancellation, abandon_on_cancel=True, limiter=lane
                )
        except TimeoutError as error:
            raise TookTooLong(seconds) from error
        finally:
            cancellation.cancel("nobody waits for it any more")

    async def beside(
        self, caller: Caller, ask: Callable[[Engram, Callable[[bytes | None], None], int], bool]
    ) -> bytes | None:
        """What a process beside this one answers an owner; no thread waits. None: nobody there could.

        Who has nothing to do is asked; who has, only while this process has as well.
        """
        if caller.access is not None:
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes | None] = loop.create_future()
        with self._changed:
            self._running += 1
            self._asked = time.monotonic()
        try:
            then = partial(_set_result_later, loop, threading.get_ident(), answer)
            if not ask(self.memory, then, AHEAD if self._under_way else 1):
                return None
            async with asyncio.timeout(self.settings.time_limit_s):
                return await answer
        except TimeoutError as error:
            raise TookTooLong(self.settings.time_limit_s) from error
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def facade(self, caller: Caller) -> Engram:
        """The memory as this caller sees it."""
        root = self.memory
        if caller.access is None:
            return root
        place, gone = (caller.access, caller.actor), None
        with self._changed:
            facade = self._facades.pop(place, None) or root.seen_by(caller.access, caller.actor)
            self._facades[place] = facade
            if len(self._facades) > FACADES:
                _, gone = self._facades.popitem(last=False)
        if gone is not None:
            gone.settle()
        return facade

    def owns_file(self, caller: Caller) -> bool:
        """Whether somebody may know how the whole file is."""
        return caller.access is None or caller.access.covers(self.memory.access)

    def is_welcome(self, caller: Caller) -> bool:
        """Whether somebody who was let in would be let in still."""
        return caller.token == "" or self.memory.tokens.is_valid(caller.token)

    def bearer(self, secret: str) -> Token | None:
        """The valid token with this secret."""
        return self.memory.tokens.bearer(secret)

    def stats(self) -> Stats:
        """How much is kept: counted anew after a few seconds, or sooner where that takes no time."""
        now = time.monotonic()
        if self._counted is None or now >= self._counted[0]:
            counted = self.memory.stats_of_open()
            took = time.monotonic() - now
            self._counted = now + min(COUNTED_EVERY_S, took * COUNTED_SHARE), counted
        return self._counted[1]

    async def pause(self, seconds: float) -> None:
        """Wait a while; less when the server is about to stop."""
        for _ in range(max(1, round(seconds / TICK_S))):
            if self.is_closing:
                return
            await anyio.sleep(TICK_S)

    def _work(self, caller: Caller, work: Callable[[Engram], T], cancellation: Cancellation) -> T:
        with self._changed:
            self._running += 1
            self._under_way.add(cancellation)
            self._asked = time.monotonic()
        try:
            with cancelled_by(cancellation):
                return work(self.facade(caller))
        except (AccessDenied, TooManyRecalls, TooMuchWritten) as error:
            self.refused(caller.actor, Audited.DENIED if isinstance(error, AccessDenied) else Audited.LIMITED)
            raise
        except WorkCancelled as error:
            raise error.with_traceback(None) from None  # its frames hold what the work was about
        finally:
            with self._changed:
                self._running -= 1
                self._under_way.discard(cancellation)
                self._changed.notify_all()
            if cancellation.is_cancelled:  # whoever asked has been answered: nobody else gives it back
                give_back_memory()

    def refused(self, actor: str, what: Audited) -> None:
        """Write down that somebody was not let."""
        self.memory.vault.refused(actor, what)

    def _thread_limit(self, *, quick: bool) -> anyio.CapacityLimiter:
        """Threads for work that computes, or for work that waits: for the disk, a model, a service."""
        if quick not in self._thread_limits:
            cores = os.cpu_count() or 1
            beside = self.memory.config.recall.processes
            most = max(cores, LEAST_QUICK) + beside * AHEAD if quick else cores * THREADS_A_CORE
            self._thread_limits[quick] = anyio.CapacityLimiter(self.settings.threads or most)
        return self._thread_limits[quick]


def _set_result_later(
    loop: asyncio.AbstractEventLoop, asker: int, answer: asyncio.Future[bytes | None], result: bytes | None
) -> None:
    """Tell, from the loop itself or from any thread, if anybody still waits for it."""
    with suppress(RuntimeError):  # the loop has ended
        if threading.get_ident() == asker:
            _set_result(answer, result)
        else:
            loop.call_soon_threadsafe(_set_result, answer, result)


def _set_result(answer: asyncio.Future[bytes | None], result: bytes | None) -> None:
    if not answer.done():
        answer.set_result(result)


# ---------------------------------------------------------------- worker
# One thread maintains the memory when it is due and nobody is asking.

LOOKS_EVERY_S = 15.0
AFTER_FAILURE = timedelta(minutes=10)
"""After something went wrong the worker waits so long: a full disk does not mend itself in a second."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """How the worker is."""

    last: datetime | None
    """When it last finished something."""
    trouble: str = ""
    """What went wrong the last time, in words; empty when nothing did."""


class Worker:
    """Maintains one memory. `tick` decides and works; `start` lets a thread tick until `stop`."""

    def __init__(
        self, memory: Engram, idle: Callable[[], timedelta], beside: Callable[[], None] = lambda: None
    ) -> None:
        self._memory = memory
        self._idle = idle
        self._beside = beside
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._rests_until: datetime | None = None
        self._report = WorkerReport(None)
        self._began = memory.maintenance.clock.now()

    @property
    def report(self) -> WorkerReport:
        """How it is; also that its thread has died of something nobody foresaw."""
        died = self._thread is not None and not self._thread.is_alive() and not self._stopping.is_set()
        trouble = "its thread has died; restart the server"
        return WorkerReport(self._report.last, trouble) if died else self._report

    def start(self) -> None:
        """Begin to look every few seconds whether something is due."""
        self._thread = threading.Thread(target=self._live, name="engram-upkeep", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let a run that is under way pause after its slice, and end. Safe to call twice."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def tick(self) -> Report | None:
        """Do what is due, if anything is; a run pauses as soon as somebody asks or the worker is to stop."""
        now = self._memory.maintenance.clock.now()
        if self._memory.pressure.is_tight:
            return None  # memory is short: whoever asks goes first
        if self._rests_until is not None and now < self._rests_until:
            return None
        last = self._memory.maintenance.last
        consolidated, dreamt = last(RunKind.CONSOLIDATE), last(RunKind.DREAM)
        kind = due(now, self._idle(), consolidated, dreamt, self._memory.config.maintain, self._began)
        if kind is None:
            return None
        try:
            return self._run(kind, now)
        except UpkeepBusy:
            return None  # another process maintains this file: it is in good hands
        except EngramError as error:
            log.warning("Maintenance failed and is tried again later: %s", error.message)
            self._rests_until = now + AFTER_FAILURE
            self._report = WorkerReport(self._report.last, error.message)
            return None

    def _run(self, kind: RunKind, now: datetime) -> Report:
        upkeep = self._memory.maintenance
        work = upkeep.consolidate if kind is RunKind.CONSOLIDATE else upkeep.dream
        report = work(stopping=self._stopping.is_set)
        if report.run.state is RunState.DONE:
            log.info("%s %s: %d changes", kind.value, report.run.id, report.changes)
            self._report = WorkerReport(now)
        return report

    def _live(self) -> None:
        while not self._stopping.wait(LOOKS_EVERY_S):
            self._beside()
            self.tick()


# ---------------------------------------------------------------- health

CROWDED = 0.8
"""The share of the line of writes from which on it is told."""


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """How the server is. Strangers are told whether it is up, and only the owner of the file is told all."""

    status: str
    version: str = __version__
    uptime_s: float = 0.0
    advice: tuple[str, ...] = ()
    """What to do, in words; empty when all is well."""
    memories: int | None = None
    writes_waiting: int | None = None

    @property
    def ok(self) -> bool:
        """Whether requests are answered."""
        return self.status != "down"


def check_health(memory_host: MemoryHost) -> ServerHealth:
    """How the server is now."""
    uptime = round(time.monotonic() - memory_host.started, 1)
    if memory_host.is_closing:
        return ServerHealth(
            "down", uptime_s=uptime, advice=("the server is stopping: try again in a moment",)
        )
    try:
        memory_host.memory.news()
        stats, waiting = memory_host.stats(), memory_host.memory.writes_waiting
    except EngramError as error:
        return ServerHealth("down", uptime_s=uptime, advice=(error.message, "run `engram doctor`"))
    advice = []
    if waiting > CROWDED * QUEUE_LIMIT:
        advice.append("many writes are waiting: send fewer at a time")
    if stats.pending:
        advice.append(f"{stats.pending:,} memories have no vector yet: POST /v1/reembed makes them")
    pressure = memory_host.memory.pressure
    if pressure.trouble:
        advice.append(pressure.trouble)
    if trouble := memory_host.memory.model_trouble:
        advice.append(f"no model helps, rules decide: {trouble}")
    if memory_host.upkeep.trouble:
        advice.append(f"maintenance failed and is tried again: {memory_host.upkeep.trouble}")
    believed = stats.memories - stats.by_status.get(Status.SAID.value, 0)  # as a list of them counts
    return ServerHealth("degraded" if advice else "ok", __version__, uptime, tuple(advice), believed, waiting)


def health_for(memory_host: MemoryHost, caller: Caller, health: ServerHealth) -> dict[str, Any]:
    """The health document as far as a caller may see it."""
    if not health.ok and caller is NOBODY:
        return {"status": health.status}
    if not health.ok or memory_host.owns_file(caller):
        return {**plain(health), "uptime_secs": int(health.uptime_s)}
    return {"status": "ok"} if caller is NOBODY else {"status": "ok", "version": health.version}
