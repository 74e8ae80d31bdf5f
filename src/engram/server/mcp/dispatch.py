"""The door: a tool's name and what an agent sent come in, an answer goes out. Nothing here waits for a wire.

Errors of the engine are answers too: a tool that fails says its code and what to do, and the agent goes on.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from engram.api.caller import told_to_a_model
from engram.errors import EngramError
from engram.lazily import dataclass
from engram.operations.aliases import ARGUMENTS
from engram.server.limits import IdempotentAnswer, Keys
from engram.server.mcp.tools import Tell, Tool, find_tool

if TYPE_CHECKING:
    from engram.engine import Engram

REQUEST_ID = "request_id"
"""The argument by which an agent says that a call repeats another."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool came to: its structured answer, or what went wrong."""

    fields: Mapping[str, Any] | None
    error: str = ""

    @property
    def text(self) -> str:
        """The same as text, for clients that read no structured content."""
        alone = self.fields is not None and set(self.fields) == {"result"}
        told = self.fields["result"] if alone and self.fields is not None else self.fields
        return self.error or json.dumps(told, ensure_ascii=False, separators=(",", ":"), default=str)


def silent(_done: float, _total: float | None, _words: str) -> None:
    """Nobody wants to know."""


class ToolDispatcher:
    """Carries out calls of the tools that a client is shown. Any thread may use it; it owns nothing."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools

    def call(self, memory: Engram, name: str, given: Mapping[str, Any], *, tell: Tell = silent) -> ToolAnswer:
        """Run a tool."""
        try:
            action, said = find_tool(name, self.tools).chosen(given)
            if REQUEST_ID not in action.reader.names:
                said = {word: value for word, value in said.items() if word not in _REQUEST_IDS}
            with told_to_a_model():
                return ToolAnswer(action.run(memory, said, tell))
        except EngramError as error:
            return ToolAnswer(None, str(error))
        except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
            traceback.print_exc(file=sys.stderr)
            return ToolAnswer(None, f"{EngramError.code}: A bug in engram: {type(error).__name__}: {error}")


class _NotKept(Exception):
    def __init__(self, answer: ToolAnswer) -> None:
        self.answer = answer


_REQUEST_IDS = (REQUEST_ID, *ARGUMENTS[REQUEST_ID])


async def once(
    keys: Keys, who: str, name: str, given: Mapping[str, Any], work: Callable[[], Awaitable[ToolAnswer]]
) -> ToolAnswer:
    """Carry out a call; one that worked, repeated under its request id, is answered as it was before.

    Another call under the same id is refused.
    """
    key = next((str(given[word]) for word in _REQUEST_IDS if given.get(word)), "")
    if not key:
        return await work()
    said = {word: value for word, value in given.items() if word not in _REQUEST_IDS}
    asked = json.dumps([name, said], sort_keys=True, default=str).encode("utf-8", "replace")

    async def keep() -> IdempotentAnswer:
        answer = await work()
        if answer.fields is None:
            raise _NotKept(answer)
        return IdempotentAnswer(200, answer.text.encode())

    try:
        answer, _ = await keys.once(f"mcp {who}", key, asked, keep)
    except _NotKept as failed:
        return failed.answer
    except EngramError as error:
        return ToolAnswer(None, str(error))
    return ToolAnswer(json.loads(answer.body))
