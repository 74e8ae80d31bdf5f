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
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engram.errors import EngramError, UnknownValue
from engram.server.mcp import knowing, reading, sessions, upkeep, writing
from engram.server.mcp import knowing as mcp_knowing
from engram.server.mcp import reading as mcp_reading
from engram.server.mcp import sessions as mcp_sessions
from engram.server.mcp import upkeep as mcp_upkeep
from engram.server.mcp import writing as mcp_writing
from engram.server.mcp.tool import Tell, Tool, ToolCall, silent, understood
from engram.server.problems import KeyReused

if TYPE_CHECKING:
    from engram.engine import Engram


# ---------------------------------------------------------------- toolset
# Which tools a client is shown: a dozen that every agent can use, or all of them.


_ORDER = (
    "memory_search", "memory_store", "memory_context", "memory_capture", "memory_get", "memory_list",
    "memory_update", "memory_delete", "memory_feedback", "memory_relate", "search", "fetch",
)  # fmt: skip
_PINNED = {tool.name: tool for tool in (*reading.PINNED, *writing.PINNED)}
_MORE = (
    *reading.MORE, *writing.MORE, *knowing.MORE, *mcp_knowing.LEARNED_MORE, *mcp_reading.BRIEFING_MORE,
    *mcp_writing.RESULTS_MORE, *upkeep.MORE,
    *mcp_upkeep.MAINTAINING_MORE, *mcp_knowing.DOUBTING_MORE, *mcp_sessions.BUS_MORE, *sessions.MORE,
)  # fmt: skip

PINNED: Mapping[str, Tool] = MappingProxyType({name: _PINNED[name] for name in _ORDER})
FULL: Mapping[str, Tool] = MappingProxyType({**PINNED, **{tool.name: tool for tool in _MORE}})
TOOLSETS: Mapping[str, Mapping[str, Tool]] = MappingProxyType({"pinned": PINNED, "full": FULL})


KEPT_ANSWERS = 1_000
"""So many answers to calls with a request id are kept to be given again."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool came to: its structured answer, or what went wrong."""

    fields: Mapping[str, Any] | None
    error: str = ""

    @property
    def text(self) -> str:
        """The same as text, for clients that read no structured content."""
        return self.error or json.dumps(self.fields, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class _KeptAnswer:
    """A call with a request id: what it asked, whoever carries it out, and what it came to."""

    mark: bytes
    lock: Lock = field(default_factory=Lock)
    answer: ToolAnswer | None = None


class ToolDispatcher:
    """Carries out calls. Any thread may use it; it owns nothing but the answers it may have to repeat."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._answers: OrderedDict[tuple[str, ...], _KeptAnswer] = OrderedDict()
        self._lock = Lock()

    def call(
        self,
        memory: Engram,
        name: str,
        given: Mapping[str, Any],
        *,
        who: str = "",
        tell: Tell = silent,
    ) -> ToolAnswer:
        """Run a tool. A call that worked, repeated under its request id, is answered as it was before."""
        try:
            tool = self._tool(name)
            found = understood(tool.takes, tool.needs, given)
            call = ToolCall(memory, found, tell)
            return (
                self._once((who, name), tool, call) if "request_id" in found else ToolAnswer(tool.run(call))
            )
        except EngramError as error:
            return ToolAnswer(None, str(error))
        except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
            traceback.print_exc(file=sys.stderr)
            return ToolAnswer(None, f"{EngramError.code}: A bug in engram: {type(error).__name__}: {error}")

    def _tool(self, name: str) -> Tool:
        if name not in self.tools:
            raise UnknownValue("tool", name, tuple(self.tools))
        return self.tools[name]

    def _once(self, place: tuple[str, str], tool: Tool, call: ToolCall) -> ToolAnswer:
        """Carry out a call, or answer as before. Raises KeyReused for another call under the same id."""
        given = dict(call.given)
        request_id = given.pop("request_id")
        mark = sha256(json.dumps(given, sort_keys=True, default=str).encode("utf-8", "replace")).digest()
        key = (*place, request_id)
        with self._lock:
            kept = self._answers.setdefault(key, _KeptAnswer(mark))
            if len(self._answers) > KEPT_ANSWERS:
                self._answers.popitem(last=False)
        if kept.mark != mark:
            raise KeyReused(request_id)
        # One at a time: two copies of a request that cross each other must not both be carried out.
        with kept.lock:
            if kept.answer is None:
                try:
                    kept.answer = ToolAnswer(tool.run(call))
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
