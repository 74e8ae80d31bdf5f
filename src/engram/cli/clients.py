"""The clients `engram setup` knows: where each keeps its configuration, and in which shape."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its file, and the key under which it lists servers."""

    title: str
    file: Callable[[], Path]
    key: str
    typed: bool = False
    """Whether an entry says that it is reached over stdio."""
    toml: bool = False
    then: str = "Restart it to load the memory."
    """What is left to do."""

    def entry(self, command: Sequence[str]) -> Entry:
        """The entry of this server."""
        first, *rest = command
        return {**({"type": "stdio"} if self.typed else {}), "command": first, "args": rest}


def _home(*parts: str) -> Callable[[], Path]:
    return lambda: Path.home().joinpath(*parts)


def _application(*parts: str) -> Callable[[], Path]:
    """A file in the folder where programs with windows keep their settings on this system."""
    return lambda: _applications().joinpath(*parts)


def _applications() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


CLIENTS: Mapping[str, Client] = MappingProxyType(
    {
        "claude-code": Client(
            "Claude Code",
            _home(".claude.json"),
            "mcpServers",
            typed=True,
            then="New sessions have it; `claude mcp list` shows it. --hooks adds briefs and capture.",
        ),
        "claude-desktop": Client(
            "Claude Desktop", _application("Claude", "claude_desktop_config.json"), "mcpServers"
        ),
        "cursor": Client("Cursor", _home(".cursor", "mcp.json"), "mcpServers"),
        "codex": Client("Codex", _home(".codex", "config.toml"), "mcp_servers", toml=True),
        "windsurf": Client("Windsurf", _home(".codeium", "windsurf", "mcp_config.json"), "mcpServers"),
        "vscode": Client("VS Code", _application("Code", "User", "mcp.json"), "servers", typed=True),
        "gemini": Client("Gemini CLI", _home(".gemini", "settings.json"), "mcpServers"),
    }
)

HOOKS_FILE = _home(".claude", "settings.json")
HOOKS: tuple[tuple[str, str, str, int], ...] = (
    ("SessionStart", "startup|resume|clear|compact", "session-start", 10),
    ("UserPromptSubmit", "", "prompt-submit", 10),
    ("Stop", "", "stop", 30),
    ("PreCompact", "", "pre-compact", 60),
)
"""Claude Code's events: which of them, for what, the hook of ours, and the seconds it may take."""


def hook_entries(command: str) -> dict[str, Entry]:
    """An entry for each event, as Claude Code's settings and plugins have them."""
    return {
        event: {
            **({"matcher": matcher} if matcher else {}),
            "hooks": [{"type": "command", "command": f"{command} hook {name}", "timeout": seconds}],
        }
        for event, matcher, name, seconds in HOOKS
    }
