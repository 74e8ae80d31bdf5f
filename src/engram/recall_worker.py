"""A process of the crew: questions come in on stdin, answers go out on stdout, until stdin ends.

It reads the file and never writes it. `python -m engram.recall_worker` starts it; the crew does.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from engram import crew
from engram.errors import EngramError
from engram.model.recall import Question, Traces
from engram.opening import Overrides, open_tools
from engram.operations.values import encoded
from engram.ports import NoAdvisor
from engram.pressure import give_back_memory
from engram.recall.pipeline import recall

if TYPE_CHECKING:
    from engram.model.recall import Recall
    from engram.ports import ConversationBias, Tools


WARMING = "what is known about this"
"""The first question loads what is loaded late."""


def main() -> None:
    """Answer until nobody asks any more."""
    for sig in (signal.SIGINT, signal.SIGTERM):  # who started it decides when it ends, by closing the pipe
        signal.signal(sig, signal.SIG_IGN)
    answers = _own_stdout()
    path, settings, key = crew.read(sys.stdin.buffer)
    try:
        tools = open_tools(path, settings, Overrides(advisor=NoAdvisor(), key=key), read_only=True)
    except EngramError:  # whoever started it sees the pipe end, and recalls by itself
        return
    try:
        answer(Question(WARMING), None, tools)
        give_back_memory()  # what loading took
        crew.write(answers, None)
        while True:
            question, lean, in_json = crew.read(sys.stdin.buffer)
            crew.write(answers, answer(question, lean, tools, in_json=in_json))
    except (EOFError, OSError):
        return
    finally:
        tools.index.settle()
        tools.store.close()


def answer(
    question: Question, lean: ConversationBias | None, tools: Tools, *, in_json: bool = True
) -> Recall | tuple[bytes, Traces] | None:
    """The answer, which says why as far as that is asked for, or the same in JSON; None when it fails.

    Whoever asked recalls by itself then and sees what is wrong.
    """
    try:
        found = recall(question, tools, lean)
    except EngramError:
        return None
    if in_json:
        return encoded(found), Traces.of(found)
    return found if question.explain else replace(found, hits=tuple(hit.unexplained for hit in found.hits))


def _own_stdout() -> IO[bytes]:
    """The pipe of the answers; whatever else is printed goes to standard error."""
    kept = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return kept


if __name__ == "__main__":
    main()
