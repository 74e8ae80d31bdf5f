"""The fifteen calls that the MCP client of *layers* makes, as it makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.server.old import KEY, Old, serving


class Shim:
    """As that client does it: JSON in every request, a key, a namespace, and an error that it reads."""

    def __init__(self, client: Old) -> None:
        self.client = client
        self.headers = {
            "Content-Type": "application/json", "Authorization": f"Bearer {KEY}", "X-Namespace": "agent-7",
        }  # fmt: skip
        self.tools: list[str] = []

    def __call__(self, tool: str, method: str, path: str, body: Any = None) -> Any:
        self.tools.append(tool)
        content = None if body is None else httpx.Request("POST", "http://x", json=body).content
        response = self.client.request(method, path, content=content, headers=self.headers)
        assert response.is_success, (tool, response.status_code, response.text)
        return response.json()


def test_its_fifteen_tools_work(tmp_path: Path) -> None:
    with serving(tmp_path / "old.db", api_key=KEY) as (_, client):
        tell = Shim(client)
        story(tell)

    assert len({*tell.tools}) == 15


def story(tell: Shim) -> None:
    """Each tool once, in an order in which each has something to do."""
    said = {"content": "Never push on Friday", "importance": 0.8, "tags": ["lesson", "trigger:push"]}
    kept = tell("engram_store", "POST", "/memories", {**said, "kind": "procedural", "source": "mcp"})
    assert (kept["namespace"], kept["kind"], kept["source"]) == ("agent-7", "procedural", "mcp")
    asked = {"query": "may I push?", "budget_tokens": 500, "layers": [1, 2], "limit": 5, "sort_by": "recent"}
    assert tell("engram_recall", "POST", "/recall", asked)["memories"][0]["id"] == kept["id"]
    assert tell("engram_recent", "GET", "/recent?hours=2&limit=20&min_importance=0.5")["count"] == 1
    assert tell("engram_resume", "GET", "/resume?hours=4&compact=true")["buffer_count"] == 1
    assert tell(
        "engram_extract", "POST", "/extract", {"text": "From now on I use Helix.", "auto_embed": True}
    )
    assert tell("engram_search", "GET", "/search?q=push&limit=10")["count"] == 1
    assert "promoted" in tell("engram_consolidate", "POST", "/consolidate")
    assert "promoted" in tell("engram_consolidate", "POST", "/consolidate", {"promote_threshold": 3})
    assert tell("engram_stats", "GET", "/stats")["total"] == 2
    assert tell("engram_health", "GET", "/health")["name"] == "engram"
    assert "fts_rebuilt" in tell("engram_repair", "POST", "/repair")
    assert tell("engram_triggers", "GET", "/triggers/push")["count"] == 1
    changed = tell("engram_update", "PATCH", f"/memories/{kept['id'][:8]}", {"importance": 0.9, "layer": 2})
    assert (changed["importance"], changed["layer"]) == (0.9, 2)
    assert tell("engram_delete", "DELETE", f"/memories/{kept['id']}") == {"ok": True}
    assert tell("engram_trash", "GET", "/trash?limit=50")["items"][0]["id"] == kept["id"]
    assert tell("engram_restore", "POST", f"/trash/{kept['id']}/restore") == {"restored": True}
