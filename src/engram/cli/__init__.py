"""The `engram` command. Importing this package costs nothing: each command is loaded when it is used."""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130
"""The exit code of a command that was interrupted, as shells have it."""


def main() -> None:
    """What the installed command starts."""
    # Our products of matrices are small: sharing one among threads takes a hundred times as long as the work
    # when other processes keep the cores busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if "hook" in sys.argv:  # an agent waits for it, so it goes the short way
            gc.disable()  # a process of a quarter of a second collects no garbage
            from engram.cli.hooks import run_quickly

            if run_quickly(sys.argv[1:]):
                return
            gc.enable()
        # What is loaded and read stays: to look through it again and again for garbage takes a twentieth.
        gc.set_threshold(20_000, 20, 20)
        from engram.cli.app import app

        app.main(prog_name="engram")
    except KeyboardInterrupt:  # while it loads: later the commands answer themselves
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # or Python looks through all there is once more before it ends
