"""`python -m engram` is the command `engram`."""

from __future__ import annotations

from engram.cli import main

main()
