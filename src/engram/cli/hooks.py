"""`engram hook`: a coding agent tells on stdin what happens; what it should know goes to stdout.

At the start of a session and with each prompt a short brief goes out; when the agent stops, and before it
makes room, what was said is captured. A hook must never be in the way: whatever fails says so in a line on
stderr, and the agent goes on as if there were no memory.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from engram.lazily import dataclass
from engram.model.clock import SystemClock
from engram.model.scope import Access, Role, Scope
from engram.opening import open_store
from engram.ports import View
from engram.text import re

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.config import Config
    from engram.engine import Engram
    from engram.model.memory import Filters, Memory
    from engram.model.recall import Hit


START_BUDGET = 800
"""Tokens of a brief at the start of a session."""
PROMPT_BUDGET = 500
SHORTEST = 3
"""A prompt of fewer tokens ("yes", "go on") asks for nothing."""
TAIL_BYTES = 512_000
"""So much of a transcript's end is read when the agent stops: what was said before was captured before."""

HookMessage = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HookPlace:
    """Which memory, from which place."""

    file: str | None = None
    scope: Scope = Scope()
    settings: Config | None = None
    """None: those of the user."""

    @property
    def path(self) -> str:
        """The memory: the given one, the one the environment names, or the user's own."""
        from engram.opening import place

        return place(self.file)

    @property
    def config(self) -> Config:
        """The settings in force. Raises ConfigError."""
        from engram.config import load, own_settings

        return self.settings or load(own_settings())

    @property
    def access(self) -> Access:
        """A hook sees what an agent at its place sees."""
        return Access(self.scope, Role.AGENT)

    @property
    def own_file(self) -> str:
        """What is read: the memory, or of a folder the file of this place."""
        from engram.opening import file_of_namespace, is_folder

        path = self.path
        return str(file_of_namespace(path, self.scope.namespace)) if is_folder(path) else path

    def look(self) -> ReadOnlyMemory:
        """The memory, only to read."""
        return ReadOnlyMemory(self.own_file, self.config, self.access)

    def open(self) -> Engram:
        """The memory, to write."""
        from engram.engine import Engram

        actor = self.scope.agent or "hook"
        return Engram.open(self.path, config=self.config, access=self.access, actor=actor)


def run_quickly(words: Sequence[str]) -> bool:
    """Run a hook without the command line around it, which would take as long as the hook itself.

    False when there is more to read in the words than `hook EVENT` and options with a value.
    """
    named: dict[str, str] = {}
    rest = []
    left = iter(words)
    for word in left:
        option, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and option in OPTIONS:
            named[option] = value if equals else next(left, "\0")
        else:
            rest.append(word)
    match rest:
        case ["hook", event] if event in EVENTS and all(map(str.isprintable, named.values())):
            # To load a tokenizer takes a third of all the time there is: this process estimates.
            sys.modules["bpe_openai"] = None  # type: ignore[assignment]
            run(event, sys.stdin.buffer.read(), lambda: _place(named))
            return True
    return False


OPTIONS = frozenset({"file", "config", "preset", "namespace", "project", "squad", "agent", "channel", "user"})
"""What says where a memory is and how it is set, each with a value."""


def _place(named: Mapping[str, str]) -> HookPlace:
    """Where these options lead. Raises ConfigError."""
    from engram.config import load, own_settings

    parts = {name: value for name, value in named.items() if value}
    file, preset, path = (parts.pop(name, "") for name in ("file", "preset", "config"))
    settings = load(Path(path) if path else own_settings(), preset=preset)
    return HookPlace(file, Scope(**parts), settings)


def run(event: str, sent: bytes, where: Callable[[], HookPlace]) -> None:
    """Carry out one hook. Whatever goes wrong, the agent goes on."""
    try:
        message = json.loads(sent or b"{}")
        EVENTS[event](message if isinstance(message, dict) else {}, where())
    except Exception as error:  # noqa: BLE001 (a door: memory that fails must not stop anybody's work)
        words = " ".join(str(error).split())
        print(f"engram hook {event}: {type(error).__name__}: {words}", file=sys.stderr)  # noqa: T201


def session_start(message: HookMessage, where: HookPlace) -> None:
    """What matters whatever comes: pinned and important memories."""
    del message
    _print_brief("SessionStart", "", START_BUDGET, where)


def prompt_submit(message: HookMessage, where: HookPlace) -> None:
    """What is remembered about the prompt."""
    from engram.text.tokens import count

    prompt = str(message.get("prompt", "")).strip()
    if not prompt.startswith("/") and count(prompt) >= SHORTEST:
        _print_brief("UserPromptSubmit", prompt, PROMPT_BUDGET, where)


def stop(message: HookMessage, where: HookPlace) -> None:
    """Capture what was said since the last time."""
    _capture(message, where, TAIL_BYTES)


def pre_compact(message: HookMessage, where: HookPlace) -> None:
    """Capture everything that was said, before the agent forgets it."""
    _capture(message, where, None)


EVENTS: Mapping[str, Callable[[HookMessage, HookPlace], None]] = MappingProxyType(
    {"session-start": session_start, "prompt-submit": prompt_submit, "stop": stop, "pre-compact": pre_compact}
)


def _print_brief(event: str, query: str, budget: int, where: HookPlace) -> None:
    """Print a brief for the agent, or nothing when nothing is known."""
    from engram.api.contexts import brief
    from engram.opening import is_there

    if not is_there(where.own_file):
        return
    with where.look() as memory:
        brief_made = brief(memory, query, budget=budget, pinned=not query, dry=True)
    if brief_made.text:
        answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": brief_made.text}}
        print(json.dumps(answer, ensure_ascii=False))  # noqa: T201 (this is the answer)


def _capture(message: HookMessage, where: HookPlace, tail: int | None) -> None:
    path = message.get("transcript_path")
    if not isinstance(path, str) or not path or not Path(path).expanduser().is_file():
        return
    messages = [*messages_in(Path(path).expanduser(), tail)]
    if not messages:
        return
    session = str(message.get("session_id") or Path(path).stem)
    with where.open() as memory:
        memory.observe(messages=messages, session=session)
        memory.flush(session)


def messages_in(path: Path, tail: int | None = None) -> Iterator[dict[str, Any]]:
    """What people and the agent said to each other in a transcript, as messages; of a long one its end."""
    for line in _lines(path, tail):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        message = _message(record) if isinstance(record, dict) else None
        if message is not None:
            yield message


def _lines(path: Path, tail: int | None) -> Iterator[bytes]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        start = 0 if tail is None else max(0, size - tail)
        file.seek(start)
        if start:
            file.readline()  # the rest of a line that began before
        yield from file


_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
"""How transcripts mark what no person said or read."""
_BLOCKS = re.compile(
    r"<(memor(?:y|ies)|system-reminder|local-command-\w+|command-\w+)\b[^>]*>.*?(?:</\1>|\Z)", re.DOTALL
)
"""What was put into a message by us or by the agent's own machinery: nobody said it."""


def _message(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The words of one line of a transcript; None when it holds none that were said."""
    inner = record.get("message", record)
    if not isinstance(inner, dict) or inner.get("role") not in ("user", "assistant"):
        return None
    if any(record.get(mark) for mark in _ASIDE):
        return None
    words = _BLOCKS.sub("", _words(inner.get("content"))).strip()
    if not words:
        return None
    message = {"role": inner["role"], "content": words}
    optional = {"id": record.get("uuid") or inner.get("id"), "timestamp": record.get("timestamp")}
    return message | {name: value for name, value in optional.items() if isinstance(value, str)}


def _words(content: Any) -> str:
    """Text alone: no thoughts, no calls of tools, nothing that tools brought."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "\n".join(str(part.get("text", "")) for part in parts)


# ---------------------------------------------------------------- read only
# A glance at the file: a place comes in, memories to read go out, and nothing else of the engine is loaded.
#
# A hook keeps a person waiting, and loading what writes, listens and asks models takes longer than
# reading. So
# this joins only store and recall; a test holds its answers against the facade's. Access is checked where it
# always is, in the store and in recall. No model is asked, and no trace is left.

QUERY_LIMIT = 2_000
"""A prompt is cut to so many characters: its beginning tells what it is about."""


class ReadOnlyMemory:
    """A file that is open to be read by one thread, as one caller may see it."""

    def __init__(self, file: str, config: Config, access: Access) -> None:
        self._config = config
        self._access = access
        self._clock = SystemClock()
        self._store, _ = open_store(file, config, self._clock, read_only=True)

    def list(self, *, filters: Filters, limit: int) -> Iterable[Memory]:
        """Memories, newest first."""
        return self._store.memories.page(View(self._access, filters), limit)

    def recall(self, query: str, *, limit: int, **_: Any) -> Iterable[Hit]:
        """What answers a question, best first."""
        from engram.embed import open_embedder
        from engram.index import SignatureIndex
        from engram.model.recall import Question
        from engram.ports import Tools
        from engram.recall.pipeline import recall
        from engram.text.tokens import count

        settings = self._config.recall
        tools = Tools(
            store=self._store,
            index=SignatureIndex(self._store),
            embedder=open_embedder(self._config.embed, self._clock),
            clock=self._clock,
            config=self._config,
            new_id=lambda: "",
            count_tokens=count,
        )
        asked = Question(
            text=query[:QUERY_LIMIT],
            access=self._access,
            limit=limit,
            profile=settings.profile,
            rerank=settings.rerank,
            dry=True,
            expand=False,
        )
        return recall(asked, tools)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()
