"""docs/mcp.md tells every tool, every client, every hook and every prompt as the code has them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engram.cli.setup import CLIENTS, HOOKS
from engram.server.mcp.dispatch import FULL, PINNED
from engram.server.mcp.documents import PROMPTS, RESOURCES, TEMPLATES
from engram.server.mcp.tool import Tool

DOCUMENT = Path(__file__).parents[2] / "docs" / "mcp.md"


def rows() -> Iterator[str]:
    """The two tables of tools, as they should stand in the document."""
    for tools in (PINNED.values(), [tool for name, tool in FULL.items() if name not in PINNED]):
        yield "| tool | what it does | arguments |"
        yield "|---|---|---|"
        yield from (f"| `{tool.name}` | {tool.does} | {arguments(tool)} |" for tool in tools)


def arguments(tool: Tool) -> str:
    return ", ".join(f"**{name}**" if name in tool.needs else name for name in tool.takes) or "–"


def test_the_tables_of_tools_are_fresh() -> None:
    told = DOCUMENT.read_text(encoding="utf-8").splitlines()
    found = [line for line in told if line.startswith(("| tool |", "| `memory_", "| `search`", "| `fetch`"))]

    assert found == [row for row in rows() if row != "|---|---|---|"], "\n".join(rows())


def test_every_client_hook_resource_and_prompt_is_told() -> None:
    told = DOCUMENT.read_text(encoding="utf-8")
    names = [
        *CLIENTS,
        *(f"{event}` | `engram hook {name}" for event, _, name, _ in HOOKS),
        *(one["uri"] for one in RESOURCES),
        *(one["uriTemplate"] for one in TEMPLATES),
        *(one["name"] for one in PROMPTS),
    ]

    assert [name for name in names if f"`{name}`" not in told] == []
