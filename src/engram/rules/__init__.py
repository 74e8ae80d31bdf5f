"""Rules about memories: pure functions, no I/O, no clock of their own."""

from __future__ import annotations
