"""Memory pressure: what this process holds is measured against what it may hold; caches give way, then work.

The limit is the setting, else that of the container (cgroup), else the memory of the machine. From 70 % of it
what can be read again is let go of and maintenance waits; from 90 % heavy new work is refused. Asking and
single writes go on. Where the system does not tell what a process holds (it is read from `/proc`), nothing
is ever refused.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from engram.errors import MemoryFull
from engram.lazily import ctypes, dataclass

TIGHT: Final = 0.7
"""The share of the limit from which caches are let go of and maintenance waits."""
FULL: Final = 0.9
"""The share from which heavy new work is refused."""
MEASURED_EVERY_S: Final = 1.0
RELIEVED_EVERY_S: Final = 10.0
"""Caches that were let go of fill again with the next questions: not at every one of them."""
UNLIMITED: Final = 1 << 60
"""A container without a limit of its own tells a number like this."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """How much this process holds, and how much it may."""

    resident: int
    """Bytes; 0 where the system does not tell."""
    limit: int
    """Bytes; 0 where nobody knows one."""

    @property
    def share(self) -> float:
        """The part of the limit that is in use."""
        return self.resident / self.limit if self.limit else 0.0

    @property
    def is_tight(self) -> bool:
        """Whether caches give way and maintenance waits."""
        return self.share >= TIGHT

    @property
    def trouble(self) -> str:
        """What is the matter, in words; empty when nothing is."""
        if not self.is_tight:
            return ""
        gives_way = (
            "heavy work is refused" if self.share >= FULL else "caches are kept small, maintenance waits"
        )
        return f"{self.share:.0%} of {self.limit // 2**20:,} MB of memory is in use: {gives_way}"


class PressureGauge:
    """Measures now and then, and lets go of what can be read again. Any thread may use it."""

    def __init__(
        self,
        limit_mb: int = 0,
        let_go: Iterable[Callable[[], None]] = (),
        resident: Callable[[], int] | None = None,
    ) -> None:
        self._limit = limit_mb * 2**20 or memory_limit()
        self._let_go = tuple(let_go)
        self._resident = resident or resident_bytes
        self._lock = Lock()
        self._measured = (-MEASURED_EVERY_S, Pressure(0, self._limit))
        self._relieved = -RELIEVED_EVERY_S

    def relieve(self) -> Pressure:
        """How it is, after caches were let go of where that was due. Cheap: measures once a second."""
        now = time.monotonic()
        with self._lock:
            at, pressure = self._measured
            if now - at < MEASURED_EVERY_S:
                return pressure
            pressure = Pressure(self._resident(), self._limit)
            if pressure.is_tight and now - self._relieved >= RELIEVED_EVERY_S:
                self._relieved = now
                for let_go in self._let_go:
                    let_go()
                give_back_memory()
                pressure = Pressure(self._resident(), self._limit)
            self._measured = (now, pressure)
            return pressure

    def check_room(self, work: str) -> None:
        """Whether there is room for heavy work. Raises MemoryFull, before anything was changed."""
        pressure = self.relieve()
        if pressure.share >= FULL:
            raise MemoryFull(work, pressure.resident, pressure.limit)


def resident_bytes() -> int:
    """What this process holds in memory now; 0 where the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def memory_limit() -> int:
    """What the container allows this process, or the machine has; 0 where nobody knows."""
    limits = [*_of_container(Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")), _of_machine()]
    return min((limit for limit in limits if 0 < limit < UNLIMITED), default=0)


def _of_container(mount: Path, own: Path) -> list[int]:
    """The limits of the control groups above this process, of either version."""
    found: list[int] = []
    lines: list[str] = []
    with suppress(OSError):
        lines = own.read_text("utf-8").splitlines()
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        root, name = (mount / kinds, "memory.limit_in_bytes") if kinds else (mount, "memory.max")
        here = root / path.strip("/")
        for folder in (here, *here.parents):
            with suppress(OSError, ValueError):  # no such folder, or "max"
                found.append(int((folder / name).read_text("ascii")))
            if folder == root:
                break
    return found


def _of_machine() -> int:
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0


def give_back_memory() -> None:
    """Let the system have what was freed. Python and the C library would keep it."""
    gc.collect()
    _glibc("malloc_trim", 0)


def keep_few_arenas() -> None:
    """Let all threads share two pools of memory: with one for each, what one gave back serves no other."""
    _glibc("mallopt", ARENA_MAX, ARENAS)


ARENA_MAX, ARENAS = -8, 2  # as glibc names and numbers its setting


def _glibc(name: str, *arguments: int) -> None:
    """Call it where there is one: others have no such function and need it less."""
    if sys.platform == "linux":
        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*arguments)
