"""The `engram` command. Importing this package costs nothing: each command is loaded when it is used."""

from __future__ import annotations

import gc
import os
import sys

HOOK_ALONE = 3
"""`engram hook EVENT` and nothing else: an agent waits for it, so it goes the short way."""

INTERRUPTED = 130
"""The exit code of a command that was interrupted, as shells have it."""


def main() -> None:
    """What the installed command starts."""
    # Our products of matrices are small: sharing one among threads takes a hundred times as long as the work
    # when other processes keep the cores busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == HOOK_ALONE:
        from engram.cli.hooks import EVENTS, quick

        if sys.argv[2] in EVENTS:
            # A process of a third of a second collects no garbage. Loading a tokenizer takes half of all the
            # time there is: this process estimates.
            gc.disable()
            sys.modules["bpe_openai"] = None  # type: ignore[assignment]
            quick(sys.argv[2])
            return
    # What is loaded and read stays: to look through it again and again for garbage takes a twentieth of it.
    gc.set_threshold(20_000, 20, 20)
    try:
        from engram.cli.app import app

        app.main(prog_name="engram")
    except KeyboardInterrupt:  # while it loads: later the commands answer themselves
        sys.exit(INTERRUPTED)
