"""What can be done from outside, described once: REST, MCP, the command line and clients are made of it.

The table is loaded when it is first asked for: `engram --help` needs none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.operations.operation import Operation
    from engram.operations.table import OPERATIONS

__all__ = ["OPERATIONS", "Operation"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from engram.operations import table

    return getattr(table, name)
