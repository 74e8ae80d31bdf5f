"""The crew: processes that recall beside this one, so that several questions are computed at once."""

from __future__ import annotations

import asyncio
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
    from collections.abc import Callable, Iterator

    from engram.config import Config
    from engram.model.recall import Question, Recall, Traces
    from engram.ports import ConversationBias


# ---------------------------------------------------------------- frames
# Frames: values go through a pipe one after the other, each with its length before it.
#
# Both ends are this program, started by the same person, so values go as pickles.


HEAD = struct.Struct("<I")


def framed(value: Any) -> bytes:
    """A value as it goes through a pipe."""
    raw = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(raw)) + raw


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises OSError when nobody is there."""
    pipe.write(framed(value))
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """The next value. Raises EOFError when there is none any more."""
    (length,) = HEAD.unpack(_whole(pipe, HEAD.size))
    return pickle.loads(_whole(pipe, length))  # noqa: S301 (our own process sent it)


def whole_values(came: bytearray) -> Iterator[Any]:
    """The values that came whole, one after the other; they are taken out of what came.

    >>> came = bytearray(framed("tea") + framed("milk")[:5])
    >>> list(whole_values(came)), len(came)
    (['tea'], 5)
    """
    while len(came) >= HEAD.size and len(came) >= (end := HEAD.size + HEAD.unpack_from(came)[0]):
        raw = bytes(came[HEAD.size : end])
        del came[:end]
        yield pickle.loads(raw)  # noqa: S301 (as above)


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
"""As much as a pipe mostly holds: an answer is read in one go."""
SURELY_FITS = 4_096
"""So much every pipe takes at once: an event loop hands over no more than this, for it must never wait."""


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
        self._loop: asyncio.AbstractEventLoop | None = None
        """What receives the answers of members that start now; None: a thread for each of them."""

    def find(
        self, question: Question, lean: ConversationBias | None, here: Callable[[], Recall]
    ) -> tuple[Recall, bool]:
        """The answer, and whether a process beside this one gave it."""
        member = self._take()
        if member is not None:
            answers: SimpleQueue[Recall | None] = SimpleQueue()
            self._post(member, (question, lean, False), answers.put)
            if (answer := answers.get()) is not None:
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

        What it is handed must fit into a pipe beside the rest, so that nobody waits here.
        `then` is called by the event loop that asks, by a thread of the crew, or by whoever ends it. None:
        nobody could answer.
        """
        with suppress(RuntimeError):  # no loop asks
            self._loop = asyncio.get_running_loop() if sys.platform != "win32" else None  # it reads no pipes
        with self._changed:
            member = self._with_room(ahead)
        return member is not None and self._post(member, (question, None, True), then, waits=False)

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
                if self._here < (1 if any(other.ready for other in self._all) else MOST_HERE):
                    self._here += 1
                    return None
                self._changed.wait()
            return member

    def _with_room(self, ahead: int) -> Member | None:
        """The member that has least to do, if that is less than so many questions; it has one more then."""
        ready = [member for member in self._all if member.ready and member.asked < ahead]
        member = min(ready, key=lambda free: free.asked, default=None)
        if member is not None:
            member.asked += 1
        return member

    def _post(
        self, member: Member, asked: object, then: Callable[[Any], object], *, waits: bool = True
    ) -> bool:
        def answered(answer: Any) -> None:
            self._give_back(member)
            then(answer)

        if member.post(framed(asked), answered, waits=waits):
            return True
        self._give_back(member)
        return False

    def _give_back(self, member: Member) -> None:
        with self._changed:
            member.asked -= 1
            self._changed.notify()

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
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.add_reader, member.answers, self._receive, member)
                return
            while True:
                member.receive()
        except (*BROKEN, RuntimeError):  # it is gone, or the loop is
            self._lose(member)

    def _receive(self, member: Member) -> None:
        """Something came from a member, or it is gone. Called by the event loop."""
        try:
            member.receive()
        except BROKEN:
            asyncio.get_running_loop().remove_reader(member.answers)
            threading.Thread(target=self._lose, args=(member,), name="engram-crew", daemon=True).start()

    def _lose(self, member: Member) -> None:
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
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: deque[tuple[Callable[[Any], None], int]] | None = deque()
        """Who is told the next answers, and how long the question was; None: it is gone."""
        self._unread = 0
        """How much it may not have read of what it was sent."""
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
        self.answers = self._answers.fileno()
        """Where its answers come from: it can be read when something came."""
        self._came = bytearray()
        """What came of an answer that is not whole yet."""

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def begin(self, path: str, settings: Config, key: bytes | None = None) -> None:
        """Have it open the file, and wait until it has."""
        write(self._questions, (path, settings, key))
        read(self._answers)

    def post(self, asked: bytes, then: Callable[[Any], None], *, waits: bool) -> bool:
        """Ask, unless that might take a while and one does not wait; whether it is asked.

        `then` is told the answer, None when there is none.
        """
        if not self._sending.acquire(blocking=waits):
            return False
        try:
            with self._lock:
                if not waits and self._unread + len(asked) > SURELY_FITS:
                    return False
                is_gone = self._waiting is None
                if self._waiting is not None:
                    self._waiting.append((then, len(asked)))
                    self._unread += len(asked)
            if not is_gone:
                with suppress(OSError, ValueError):  # nobody is there any more: whoever receives notices
                    self._questions.write(asked)
                    self._questions.flush()
        finally:
            self._sending.release()
        if is_gone:
            then(None)
        return True

    def receive(self) -> None:
        """Wait until something comes and tell the answers in it. Raises EOFError when nothing will."""
        came = os.read(self.answers, PIPE_BYTES)
        if not came:
            raise EOFError
        self._came += came
        for answer in whole_values(self._came):
            with self._lock:
                then, length = self._waiting.popleft() if self._waiting else (None, 0)
                self._unread -= length
            if then is not None:
                then(answer)

    def end(self) -> None:
        """Let it go; it ends when nobody speaks to it any more. Safe to call twice."""
        with self._lock:
            waiting, self._waiting = self._waiting or (), None
        for then, _ in waiting:
            then(None)
        with suppress(OSError):
            self._questions.close()
        try:
            self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
