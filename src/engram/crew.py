"""The crew: processes that recall beside this one, so that several questions are computed at once."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.config import Config
    from engram.model.recall import Question, Recall, Traces
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
AHEAD = 6
"""Questions that a process is handed at once while this one is busy: it never waits for the next one."""
MOST_HERE = 2
"""Questions that are answered here at once while nobody beside is ready."""
BROKEN = (OSError, EOFError, pickle.PickleError, ValueError)
# Several processes that each compute with all cores only wait for each other.
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PIPE_BYTES = 65_536
"""As much as a pipe holds: an answer is mostly read in one go."""


class RecallPool:
    """Computes several questions at once. Any thread may ask; one is answered here, the others beside."""

    def __init__(self, path: str, settings: Config, key: bytes | None = None) -> None:
        self._path = path
        self._key = key
        self._settings = replace(settings, recall=replace(settings.recall, processes=0))
        self._size = settings.recall.processes
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
            told: SimpleQueue[Recall | None] = SimpleQueue()
            self._post(member, (question, lean, False), told.put)
            if (answer := told.get()) is not None:
                return answer, True
            with self._changed:
                self._here += 1
        try:
            return here(), False
        finally:
            with self._changed:
                self._here -= 1
                self._changed.notify()

    def hand_over(
        self, question: Question, then: Callable[[tuple[bytes, Traces] | None], None], ahead: int = AHEAD
    ) -> bool:
        """Have a member answer in JSON, if one has fewer questions than `ahead`; whether one has.

        `then` is called in a thread of the crew, or of whoever ends it; None: nobody could answer.
        """
        with self._changed:
            member = self._with_room(ahead)
        if member is not None:
            self._post(member, (question, None, True), then)
        return member is not None

    @property
    def free(self) -> tuple[int, ...]:
        """The numbers of the processes that are ready and have nothing to do."""
        with self._changed:
            return tuple(member.pid for member in self._all if member.ready and not member.asked)

    @property
    def started(self) -> int:
        """How many processes there are, ready or not."""
        return len(self._all)

    def close(self) -> None:
        """End the processes. Safe to call twice."""
        with self._changed:
            self._closed = True
            members, self._all = self._all, []
            self._changed.notify_all()
        for member in members:
            member.end()

    def _take(self) -> Member | None:
        """A member that has taken the question, or None: then it is answered here, which is counted.

        Who has nothing to do comes first, then this process, then who has room.
        """
        with self._changed:
            if self._here or self._all:
                self._fill()
            while (member := self._with_room(AHEAD if self._here else 1)) is None:
                if self._here < (1 if any(one.ready for one in self._all) else MOST_HERE):
                    self._here += 1
                    return None
                self._changed.wait()
            return member

    def _with_room(self, ahead: int) -> Member | None:
        """The member that has least to do, if that is less than so many questions; it has one more then."""
        ready = [member for member in self._all if member.ready and member.asked < ahead]
        member = min(ready, key=lambda one: one.asked, default=None)
        if member is not None:
            member.asked += 1
        return member

    def _post(self, member: Member, asked: object, then: Callable[[Any], object]) -> None:
        def answered(found: Any) -> None:
            with self._changed:
                member.asked -= 1
                self._changed.notify()
            then(found)

        member.post(asked, answered)

    def _fill(self) -> None:
        """Start whoever is missing; each is asked from when it says that it is ready."""
        while len(self._all) < self._size and self._starts < self._size * MOST_STARTS and not self._closed:
            self._starts += 1
            member = Member()
            self._all.append(member)
            threading.Thread(target=self._run, args=(member,), name="engram-crew", daemon=True).start()

    def _run(self, member: Member) -> None:
        """Wait until a member is ready, then tell what it answers until it is gone."""
        try:
            member.begin(self._path, self._settings, self._key)
            with self._changed:
                member.ready = True
                self._changed.notify_all()
            while True:
                member.receive()
        except BROKEN:
            with self._changed:
                if member in self._all:
                    self._all.remove(member)
                self._changed.notify_all()
            member.end()


class Member:
    """One process. Any thread may ask; one receives what it answers, in the order in which it was asked."""

    def __init__(self) -> None:
        self.ready = False
        self.asked = 0
        """Questions that it was handed and has not answered. Kept by the crew."""
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[Any], None]] | None = deque()
        """Who is told the next answers; None: it is gone."""
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-m", MODULE],
            bufsize=PIPE_BYTES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ALONE},
        )
        assert self._process.stdin is not None  # noqa: S101 (it was started with pipes)
        assert self._process.stdout is not None  # noqa: S101 (as above)
        self._questions, self._answers = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def begin(self, path: str, settings: Config, key: bytes | None = None) -> None:
        """Have it open the file, and wait until it has."""
        write(self._questions, (path, settings, key))
        read(self._answers)

    def post(self, asked: object, then: Callable[[Any], None]) -> None:
        """Ask; `then` is told the answer, None when there is none."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.append(then)
                with suppress(OSError):  # nobody is there any more: whoever receives notices
                    write(self._questions, asked)
                return
        then(None)

    def receive(self) -> None:
        """Wait for the next answer and tell it. Raises EOFError when there is none any more."""
        found = read(self._answers)
        with self._lock:
            then = self._waiting.popleft() if self._waiting else None
        if then is not None:
            then(found)

    def end(self) -> None:
        """Let it go; it ends when nobody speaks to it any more. Safe to call twice."""
        with self._lock:
            waiting, self._waiting = self._waiting or (), None
        for then in waiting:
            then(None)
        with suppress(OSError):
            self._questions.close()
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
