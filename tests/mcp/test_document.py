"""docs/mcp.md tells every tool, every client, every hook and every prompt as the code has them."""

from __future__ import annotations

from pathlib import Path

from engram.cli.setup import CLIENTS, HOOKS
from engram.server.mcp.documents import PROMPTS, RESOURCES, TEMPLATES
from engram.server.mcp.tools import FULL

DOCUMENT = Path(__file__).parents[2] / "docs" / "mcp.md"


def test_the_tables_of_tools_tell_every_tool() -> None:
    told = DOCUMENT.read_text(encoding="utf-8").splitlines()
    found = [
        line.split("`")[1] for line in told if line.startswith(("| `memory_", "| `search`", "| `fetch`"))
    ]

    assert found == [*FULL]


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
