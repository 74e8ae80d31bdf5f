"""What can be done from outside, described once: REST, MCP, the command line and clients are made of it."""

from __future__ import annotations

from engram.operations.operation import Operation
from engram.operations.table import OPERATIONS

__all__ = ["OPERATIONS", "Operation"]
