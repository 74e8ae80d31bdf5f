"""The door: a tool's name and what an agent sent come in, an answer goes out. Nothing here waits for a wire.

Errors of the engine are answers too: a tool that fails says its code and what to do, and the agent goes on.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from engram.errors import EngramError, UnknownValue
from engram.server.mcp.arguments import understood
from engram.server.mcp.tool import Call, Tell, Tool, silent
from engram.server.refusals import KeyReused

if TYPE_CHECKING:
    from engram.engine import Engram

KEPT_ANSWERS = 1_000
"""So many answers to calls with a request id are kept to be given again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool came to: its structured answer, or what went wrong."""

    fields: Mapping[str, Any] | None
    error: str = ""

    @property
    def text(self) -> str:
        """The same as text, for clients that read no structured content."""
        return self.error or json.dumps(self.fields, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class _Kept:
    """A call with a request id: what it asked, whoever carries it out, and what it came to."""

    mark: bytes
    lock: Lock = field(default_factory=Lock)
    answer: Answer | None = None


class Door:
    """Carries out calls. Any thread may use it; it owns nothing but the answers it may have to repeat."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._answers: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._lock = Lock()

    def call(
        self,
        memory: Engram,
        name: str,
        given: Mapping[str, Any],
        *,
        who: str = "",
        tell: Tell = silent,
    ) -> Answer:
        """Run a tool. A call that worked, repeated under its request id, is answered as it was before."""
        try:
            tool = self._tool(name)
            found = understood(tool.takes, tool.needs, given)
            call = Call(memory, found, tell)
            return self._once((who, name), tool, call) if "request_id" in found else Answer(tool.run(call))
        except EngramError as error:
            return Answer(None, str(error))
        except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
            traceback.print_exc(file=sys.stderr)
            return Answer(None, f"{EngramError.code}: A bug in engram: {type(error).__name__}: {error}")

    def _tool(self, name: str) -> Tool:
        if name not in self.tools:
            raise UnknownValue("tool", name, tuple(self.tools))
        return self.tools[name]

    def _once(self, place: tuple[str, str], tool: Tool, call: Call) -> Answer:
        """Carry out a call, or answer as before. Raises KeyReused for another call under the same id."""
        given = dict(call.given)
        request_id = given.pop("request_id")
        mark = sha256(json.dumps(given, sort_keys=True, default=str).encode("utf-8", "replace")).digest()
        key = (*place, request_id)
        with self._lock:
            kept = self._answers.setdefault(key, _Kept(mark))
            if len(self._answers) > KEPT_ANSWERS:
                self._answers.popitem(last=False)
        if kept.mark != mark:
            raise KeyReused(request_id)
        # One at a time: two copies of a request that cross each other must not both be carried out.
        with kept.lock:
            if kept.answer is None:
                try:
                    kept.answer = Answer(tool.run(call))
                except BaseException:
                    with self._lock:  # what failed may be tried again, also with other words
                        self._answers.pop(key, None)
                    raise
            return kept.answer


class Opened:
    """A memory that is opened when it is first needed, and once. Whoever made this closes it."""

    def __init__(self, open: Callable[[], Engram]) -> None:  # noqa: A002 (the word for it)
        self._open = open
        self._memory: Engram | None = None
        self._lock = Lock()

    def __call__(self) -> Engram:
        """The memory, opened by now."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def close(self) -> None:
        """Close what was opened, if anything was."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None
