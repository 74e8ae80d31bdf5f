"""Connecting agents: `engram setup` writes a client's configuration, which starts `mcp` and `hook`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from engram.cli.hooks import EVENTS, HookPlace, run
from engram.cli.options import CommandRun, command, pass_run
from engram.cli.output import say, say_json
from engram.errors import ConfigError
from engram.lazily import dataclass
from engram.model.scope import Access, Role
from engram.opening import is_address, is_folder

if TYPE_CHECKING:
    from engram.engine import Engram


# ---------------------------------------------------------------- clients
# The clients `engram setup` knows: where each keeps its configuration, and in which shape.


Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentClient:
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

    def file() -> Path:
        if sys.platform == "darwin":
            return Path.home().joinpath("Library", "Application Support", *parts)
        variable, usual = ("APPDATA", "AppData/Roaming") if sys.platform == "win32" else XDG
        return Path(os.environ.get(variable) or Path.home() / usual).joinpath(*parts)

    return file


XDG = ("XDG_CONFIG_HOME", ".config")


CLIENTS: Mapping[str, AgentClient] = MappingProxyType(
    {
        "claude-code": AgentClient(
            "Claude Code",
            _home(".claude.json"),
            "mcpServers",
            typed=True,
            then="New sessions have it; `claude mcp list` shows it.",
        ),
        "claude-desktop": AgentClient(
            "Claude Desktop", _application("Claude", "claude_desktop_config.json"), "mcpServers"
        ),
        "cursor": AgentClient("Cursor", _home(".cursor", "mcp.json"), "mcpServers"),
        "codex": AgentClient("Codex", _home(".codex", "config.toml"), "mcp_servers", toml=True),
        "windsurf": AgentClient("Windsurf", _home(".codeium", "windsurf", "mcp_config.json"), "mcpServers"),
        "vscode": AgentClient("VS Code", _application("Code", "User", "mcp.json"), "servers", typed=True),
        "gemini": AgentClient("Gemini CLI", _home(".gemini", "settings.json"), "mcpServers"),
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


NAME = "engram"
BACKUP = ".before-engram"
_OURS = re.compile(r"\bengram\b.* hook (session-start|prompt-submit|stop|pre-compact)$")
_SCOPE = ("namespace", "project", "squad", "agent", "channel", "user")


@command("setup")
@click.argument("client", type=click.Choice([*CLIENTS], case_sensitive=False), metavar="CLIENT")
@click.option(
    "--write/--remove",
    default=None,
    help="Write it, or take out again what was written, the hooks too; without either it is only shown.",
)
@click.option(
    "--tools",
    "toolset",
    type=click.Choice(["pinned", "full"]),
    default="pinned",
    show_default=True,
    help="A dozen tools, or all of them.",
)
@click.option("--hooks", is_flag=True, help="Claude Code only: also the hooks for briefs and capture.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="Another configuration file.")
@pass_run
def setup(
    run: CommandRun, client: str, write: bool | None, toolset: str, hooks: bool, target: Path | None
) -> None:
    """Connect a client: Claude Code, Cursor, Codex and others.

    Shows what belongs into the client's configuration. With --write it is put there, beside whatever else
    the file holds; the file as it was is kept with the ending `.before-engram`. Doing it twice changes
    nothing more.
    """
    entry = CLIENTS[client]
    if hooks and client != "claude-code":
        raise click.UsageError("--hooks is for claude-code.")
    started = [*_program(), *_options(run)]
    tools = ["--tools", toolset] if toolset != "pinned" else []
    changes = [_Change(target or entry.file(), *_server(entry, [*started, "mcp", *tools]))]
    if hooks:
        changes.append(_Change(HOOKS_FILE(), *_hooks(shlex.join(started))))
    remove = write is False
    if remove:
        changes = [_Change(target or entry.file(), "", _without_server(entry))]
        changes += [_Change(HOOKS_FILE(), "", _without_hooks)] if client == "claude-code" else []
    if write is None:
        shown = (f"# {change.path}\n{change.shown}\n" for change in changes)
        by_path = {str(change.path): change.shown for change in changes}
        say_json(by_path) if run.json else click.echo("\n".join(shown))  # copied: no line may be wrapped
        return
    written = {str(change.path): change.write() for change in changes}
    if run.json:
        name = "changed" if remove else "written"
        say_json({name: [path for path, changed in written.items() if changed]})
        return
    done, already = ("taken out", "nothing of ours is there") if remove else ("written", "already so")
    for path, changed in written.items():
        click.echo(f"{path}: {done if changed else already}")
    if any(written.values()) and not remove:
        say(run, entry.then)
        if client == "claude-code" and not hooks:
            say(run, "With --hooks it also gets briefs, and what is said is captured.")


class _Change:
    """One file and what is to stand in it."""

    def __init__(self, path: Path, shown: str, merged: Callable[[str, Path], str]) -> None:
        self.path = path
        self.shown = shown
        self._merged = merged

    def write(self) -> bool:
        """Merge it in; whether anything changed. The file as it was is kept beside it."""
        real = self.path.resolve()
        old = real.read_text(encoding="utf-8") if real.is_file() else ""
        new = self._merged(old, self.path)
        if new == old:
            return False
        real.parent.mkdir(parents=True, exist_ok=True)
        if old:
            shutil.copy2(real, _free_path(real.with_name(real.name + BACKUP)))
        draft = real.with_name(f"{real.name}.new")
        draft.write_text(new, encoding="utf-8")
        if old:
            shutil.copymode(real, draft)
        draft.replace(real)
        return True


def _free_path(path: Path) -> Path:
    """A name that no file has: an older copy is never written over."""
    numbered = (path.with_name(f"{path.name}.{number}") for number in range(1, 1_000))
    return path if not path.exists() else next(candidate for candidate in numbered if not candidate.exists())


def _server(client: AgentClient, command_line: list[str]) -> tuple[str, Callable[[str, Path], str]]:
    """The entry as text, and what merges it into a file."""
    entry = client.entry(command_line)
    if client.toml:
        table = _toml(f"{client.key}.{NAME}", entry)
        return table, lambda old, path: _into_toml(old, path, f"{client.key}.{NAME}", table)

    def merge(data: dict[str, Any]) -> None:
        servers = data.setdefault(client.key, {})
        servers[NAME] = {**servers.get(NAME, {}), **entry}

    return _json({client.key: {NAME: entry}}), lambda old, path: _into_json(old, path, merge)


def _hooks(program: str) -> tuple[str, Callable[[str, Path], str]]:
    entries = hook_entries(program)

    def merge(data: dict[str, Any]) -> None:
        hooks = data.setdefault("hooks", {})
        for event, entry in entries.items():
            foreign = [entry_ for entry_ in hooks.get(event, []) if not _is_ours(entry_)]
            hooks[event] = [*foreign, entry]

    shown = {"hooks": {event: [entry] for event, entry in entries.items()}}
    return _json(shown), lambda old, path: _into_json(old, path, merge)


def _without_server(client: AgentClient) -> Callable[[str, Path], str]:
    """What takes our entry out of a file."""
    if client.toml:
        return lambda old, path: _out_of_toml(old, path, f"{client.key}.{NAME}")

    def take_out(data: dict[str, Any]) -> None:
        data.get(client.key, {}).pop(NAME, None)

    return lambda old, path: _into_json(old, path, take_out)


def _without_hooks(old: str, path: Path) -> str:
    """The settings without our hooks, and without what would hold nothing then."""

    def take_out(data: dict[str, Any]) -> None:
        before = data.get("hooks", {})
        hooks = {
            event: [entry for entry in entries if not _is_ours(entry)] for event, entries in before.items()
        }
        if hooks != before:
            data["hooks"] = {event: entries for event, entries in hooks.items() if entries}
            if not data["hooks"]:
                del data["hooks"]

    return _into_json(old, path, take_out)


def _is_ours(entry: Any) -> bool:
    hooks = entry.get("hooks", []) if isinstance(entry, dict) else []
    return any(_OURS.search(str(hook_entry.get("command", ""))) for hook_entry in hooks)


def _into_json(old: str, path: Path, merge: Callable[[dict[str, Any]], None]) -> str:
    """The file with one entry more. What is there already keeps its place."""
    try:
        data: dict[str, Any] = dict(json.loads(old)) if old.strip() else {}
        before = json.dumps(data)
        merge(data)
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} is no plain JSON object: change it by hand; without --write what belongs there is shown."
        ) from error
    return old if json.dumps(data) == before else _json(data) + "\n"


def _into_toml(old: str, path: Path, name: str, table: str) -> str:
    """The file with our table in it; every other line stays as it is."""
    lines = old.splitlines()
    where = _table_in(lines, old, path, name)
    if where is None:
        return "\n".join([*lines, *([""] if lines else []), table, ""])
    start, end = where
    body = [
        line for line in lines[start + 1 : end] if line.partition("=")[0].strip() not in ("command", "args")
    ]
    head, *ours = table.splitlines()
    new = "\n".join([*lines[:start], head, *ours, *body, *lines[end:], ""])
    return old if tomllib.loads(new) == tomllib.loads(old) else new


def _out_of_toml(old: str, path: Path, name: str) -> str:
    """The file without our table and without what is beneath it; every other line stays as it is."""
    lines = old.splitlines()
    where = _table_in(lines, old, path, name)
    if where is None:
        return old
    start, end = where
    while end < len(lines) and lines[end].strip().startswith(f"[{name}."):
        end = _end_of_table(lines, end)
    while start and not lines[start - 1].strip():
        start -= 1
    return "".join(
        f"{line}\n" for line in [*lines[:start], *([""] if start and lines[end:] else []), *lines[end:]]
    )


def _table_in(lines: Sequence[str], text: str, path: Path, name: str) -> tuple[int, int] | None:
    """The lines of a table; None when it is not there. Raises ConfigError when the text is no TOML."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no TOML ({error}): mend it, then try again.") from error
    heads = [place for place, line in enumerate(lines) if line.strip() == f"[{name}]"]
    return (heads[0], _end_of_table(lines, heads[0])) if heads else None


def _end_of_table(lines: Sequence[str], start: int) -> int:
    return next((at for at in range(start + 1, len(lines)) if lines[at].lstrip().startswith("[")), len(lines))


def _toml(name: str, entry: Entry) -> str:
    # JSON writes text and lists of text as TOML does.
    values = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())
    return "\n".join([f"[{name}]", *values])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _program() -> list[str]:
    """How a client starts us: by a full path, for programs with windows do not know the shell's."""
    beside = Path(sys.executable).with_name("engram.exe" if sys.platform == "win32" else "engram")
    program = str(beside) if beside.is_file() else shutil.which("engram")
    return [program] if program else [sys.executable, "-m", "engram"]


def _options(run: CommandRun) -> list[str]:
    """What was said here about file and place holds for the client too, which has another environment."""
    file = run.file or ""
    if file and not is_address(file):
        file = str(Path(file).absolute()) + ("/" if is_folder(file) else "")
    options = {"file": file, "config": str(Path(run.config_file).absolute()) if run.config_file else ""}
    options |= {name: getattr(run, name) for name in ("preset", *_SCOPE)}
    return [word for name, value in options.items() if value for word in (f"--{name}", value)]


# ---------------------------------------------------------------- mcp
# `engram mcp`: an MCP client starts this and speaks to the memory over stdin and stdout.

ROLES = [str(role) for role in Role]


@command("mcp")
@click.option(
    "--tools",
    "toolset",
    type=click.Choice(["pinned", "full", "retention"]),
    default="pinned",
    show_default=True,
    help="A dozen tools, all of them, or those that clients of retention know.",
)
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default=str(Role.AGENT),
    show_default=True,
    help="What the client is allowed: agents see their own place and those above it.",
)
@pass_run
def mcp(run: CommandRun, toolset: str, role: str) -> None:
    """Serve an MCP client over stdin and stdout.

    Who asks is said here and nowhere else: --agent, --project and the other parts of a place, and --role.
    Ends when stdin ends. `engram setup` writes this command into a client's configuration.
    """
    from engram.server.mcp.stdio import serve

    if find_spec("mcp_types") is None:  # comes with the SDK from its second version on
        state = "an older version of the mcp package is here" if find_spec("mcp") else "mcp is missing"
        raise ConfigError(f"The MCP door needs mcp 2, and {state}: pip install 'engram-cortex[server]'.")

    def opened() -> Engram:
        from engram.engine import Engram

        access = Access(run.scope, Role(role))
        return Engram.open(
            run.file, config=run.config, access=access, actor=run.agent or "mcp", clock=run.clock
        )

    serve(opened, toolset=toolset)


# ---------------------------------------------------------------- hook command
# `engram hook` as a command with the options of all others; `engram.cli.hooks` does the work.


@command("hook")
@click.argument("event", type=click.Choice([*EVENTS]))
@pass_run
def hook(place: CommandRun, event: str) -> None:
    """Tell a coding agent what is remembered, and capture what it says.

    Reads the agent's hook message from stdin. `session-start` and `prompt-submit` print a short brief as
    additional context; `stop` and `pre-compact` capture what the transcript says. Never fails: what goes
    wrong is a line on stderr.
    """
    run(event, sys.stdin.buffer.read(), lambda: HookPlace(place.file, place.scope, place.config))
