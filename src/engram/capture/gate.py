"""The gate in front of memory: words come in; why they must not become a memory comes out, or nothing.

What the engine itself brought into a prompt comes back in answers, quotes and pasted blocks. It must not be
learned again: an assistant that repeats a memory confirms nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from threading import Lock

from engram.model.recall import Recall
from engram.model.turn import Part, Turn
from engram.ports import Tools
from engram.text.echo import Echoes

RECALLS = 200
"""How many recalls between two turns are kept in mind, the latest."""
REMEMBERED = 500
"""How many memories that were recalled before this process began are recognised."""


_OF_MYSELF = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b|[我咱]")


class Gate:
    """Knows what was recalled lately. Lives as long as the engine; any thread may use it."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._echoes = Echoes()
        self._lock = Lock()
        self._caught_up = False
        # Hashing words takes longer than many a recall: it waits until somebody says something.
        self._recalled: deque[tuple[str, ...]] = deque(maxlen=RECALLS)

    def heard(self, answer: Recall) -> None:
        """Keep in mind what a recall brought into a prompt."""
        self._recalled.append(tuple({text for hit in answer.hits for text in (hit.text, hit.memory.content)}))

    def shown(self, texts: Iterable[str]) -> None:
        """Keep in mind what a document brought into a prompt."""
        self._recalled.append(tuple(texts))

    def refuses(self, sentence: str, turn: Turn) -> str:
        """Why a sentence of this turn is not to be learned; empty when it may be.

        A person who says it again in the first person means it; an assistant only repeats what it was given.
        """
        self._catch_up()
        if turn.part is not Part.ASSISTANT and _OF_MYSELF.search(sentence):
            return ""
        while self._recalled:
            with suppress(IndexError):  # another thread was faster
                self._echoes.heard(self._recalled.popleft())
        return "an echo of what was recalled" if self._echoes.is_echo(sentence) else ""

    def _catch_up(self) -> None:
        """What other processes recalled from this file counts as well."""
        with self._lock:
            if self._caught_up:
                return
            self._caught_up = True
        since = self._tools.clock.now() - timedelta(hours=self._tools.config.capture.echo_hours)
        used = self._tools.store.memories.used_since(since, REMEMBERED)
        self._echoes.heard(memory.content for memory in used)
