"""The crew: processes that recall beside this one, so that several questions are computed at once."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.config import Config
    from engram.model.recall import Question, Recall
    from engram.ports import ConversationBias


# ---------------------------------------------------------------- frames
# Frames: values go through a pipe one after the other, each with its length before it.
#
# Both ends are this program, started by the same person, so values go as pickles.


HEAD = struct.Struct("<I")


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises OSError when nobody is there."""
    raw = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(HEAD.pack(len(raw)) + raw)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """The next value. Raises EOFError when there is none any more."""
    (length,) = HEAD.unpack(_whole(pipe, HEAD.size))
    return pickle.loads(_whole(pipe, length))  # noqa: S301 (our own process sent it)


def _whole(pipe: IO[bytes], length: int) -> bytes:
    raw = pipe.read(length)
    if len(raw) < length:
        raise EOFError
    return raw


# ---------------------------------------------------------------- crew
# The crew: a question comes in, a process that is free answers it.
#
# A question that comes alone is answered here. The first that comes while another is being answered starts
# the processes: whoever serves one caller stays one process. Each opens the file for itself, only to read:
# what a recall leaves behind is written by this one. One that dies is replaced; while none is there the
# caller recalls by itself, so nothing ever depends on them.


MODULE = "engram.recall_worker"
ENDS_WITHIN_S = 5.0
MOST_STARTS = 5
"""A process that dies again and again is not started for ever."""
BROKEN = (OSError, EOFError, pickle.PickleError, ValueError)
# Several processes that each compute with all cores only wait for each other.
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class RecallPool:
    """Computes several questions at once. Any thread may ask; one is answered here, the others beside."""

    def __init__(self, path: str, settings: Config, key: bytes | None = None) -> None:
        self._path = path
        self._key = key
        self._settings = replace(settings, recall=replace(settings.recall, processes=0))
        self._size = settings.recall.processes
        self._free: list[Member] = []
        self._all: list[Member] = []
        self._starts = 0
        self._closed = False
        self._here = 0
        """Questions that are being answered in this process."""
        self._changed = threading.Condition()

    def find(
        self, question: Question, lean: ConversationBias | None, here: Callable[[], Recall]
    ) -> tuple[Recall, bool]:
        """The answer, and whether a process beside this one gave it."""
        member = self._take()
        if member is not None:
            try:
                answer = member.ask(replace(question, dry=True), lean)
            except BROKEN:
                self._lose(member)
            else:
                self._give_back(member)
                if answer is not None:
                    return replace(answer, question=question), True
            with self._changed:
                self._here += 1
        try:
            return here(), False
        finally:
            with self._changed:
                self._here -= 1
                self._changed.notify()

    @property
    def free(self) -> tuple[int, ...]:
        """The numbers of the processes that are ready and have nothing to do."""
        with self._changed:
            return tuple(member.pid for member in self._free)

    @property
    def started(self) -> int:
        """How many processes there are, ready or not."""
        return len(self._all)

    def close(self) -> None:
        """End the processes. Safe to call twice."""
        with self._changed:
            self._closed = True
            members, self._all, self._free = self._all, [], []
            self._changed.notify_all()
        for member in members:
            member.end()

    def _take(self) -> Member | None:
        """A member that is free, or None: then the question is answered here, which is counted.

        Members that work are waited for only while a question is answered here as well.
        """
        with self._changed:
            if self._here or self._all:
                self._fill()
            while self._here and not self._free and any(member.ready for member in self._all):
                self._changed.wait()
            if self._free:
                return self._free.pop()
            self._here += 1
            return None

    def _give_back(self, member: Member) -> None:
        with self._changed:
            if member in self._all:
                self._free.append(member)
                self._changed.notify()

    def _lose(self, member: Member) -> None:
        with self._changed:
            if member in self._all:
                self._all.remove(member)
            self._changed.notify_all()
        member.end()

    def _fill(self) -> None:
        """Start whoever is missing; each is free when it says that it is ready."""
        while len(self._all) < self._size and self._starts < self._size * MOST_STARTS and not self._closed:
            self._starts += 1
            member = Member()
            self._all.append(member)
            threading.Thread(target=self._begin, args=(member,), name="engram-crew", daemon=True).start()

    def _begin(self, member: Member) -> None:
        try:
            member.begin(self._path, self._settings, self._key)
        except BROKEN:
            self._lose(member)
            return
        with self._changed:
            member.ready = True
        self._give_back(member)


class Member:
    """One process. Whoever took it from the crew uses it alone."""

    def __init__(self) -> None:
        self.ready = False
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ALONE},
        )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def begin(self, path: str, settings: Config, key: bytes | None = None) -> None:
        """Have it open the file, and wait until it has."""
        self._send((path, settings, key))
        self._receive()

    def ask(self, question: Question, lean: ConversationBias | None) -> Recall | None:
        """Its answer; None when it cannot answer this."""
        self._send((question, lean))
        answer: Recall | None = self._receive()
        return answer

    def end(self) -> None:
        """Let it go; it ends when nobody speaks to it any more."""
        process = self._process
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None  # noqa: S101 (it was started with a pipe)
        write(self._process.stdin, value)

    def _receive(self) -> Recall | None:
        assert self._process.stdout is not None  # noqa: S101 (as above)
        found: Recall | None = read(self._process.stdout)
        return found
