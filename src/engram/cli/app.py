"""The root command: a table of commands, each loaded only when it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from engram._version import __version__
from engram.cli.options import CommandRun, global_options
from engram.cli.output import EXIT_CODES, leave_after

# Section → command → (module, attribute, what it does). The words are those of the command's own help; a test
# compares them. They stand here so that `engram --help` loads no command.
COMMANDS: dict[str, dict[str, tuple[str, str, str]]] = {
    "Remember and recall": {
        "remember": ("engram.cli.remember", "remember", "Keep a statement."),
        "observe": (
            "engram.cli.remember",
            "observe",
            "Listen to what was said and keep what is worth keeping.",
        ),
        "recall": ("engram.cli.recall", "recall", "Find what answers a question."),
        "context": (
            "engram.cli.context",
            "context",
            "Make the prompt for a message, within a model's budget.",
        ),
        "reason": ("engram.cli.recall", "reason", "Think a question through, part by part."),
        "session": (
            "engram.cli.context",
            "session",
            "Look at sessions, wake them and send them to sleep.",
        ),
        "resume": ("engram.cli.context", "resume", "Tell a session that starts cold where things stand."),
        "pack": (
            "engram.cli.context",
            "pack",
            "Write the recall pack: rules, open loops, today, context, procedures.",
        ),
    },
    "Bring in": {
        "ingest": ("engram.cli.ingest", "ingest", "Take in documents, chats, code and results."),
    },
    "Look": {
        "list": ("engram.cli.browse", "list_memories", "List memories, newest first."),
        "show": ("engram.cli.browse", "show", "Show everything about one memory."),
        "timeline": ("engram.cli.recall", "timeline", "Tell how something changed, oldest step first."),
        "history": ("engram.cli.browse", "history", "Tell what happened to a memory, or to all."),
        "turns": ("engram.cli.remember", "turns", "Show a conversation word for word."),
    },
    "Know": {
        "facts": ("engram.cli.knowledge", "facts", "Ask, add and follow facts: who is what to whom."),
        "entities": (
            "engram.cli.knowledge",
            "entities",
            "Look at who and what is spoken of, and join their names.",
        ),
        "knowledge": (
            "engram.cli.knowledge",
            "knowledge",
            "Look at what was learned: profile, map, tree, cards, topics, boxes.",
        ),
        "conflicts": ("engram.cli.knowledge", "conflicts", "Look at what contradicts what, and settle it."),
        "gaps": ("engram.cli.loops", "gaps", "Look at what is not known, ask about it and answer."),
        "commitments": ("engram.cli.loops", "commitments", "Open, wait for and close what was promised."),
        "triggers": (
            "engram.cli.loops",
            "triggers",
            "Let words in a message load pages into the recall pack.",
        ),
    },
    "Change": {
        "edit": ("engram.cli.change", "edit", "Change a memory; the old words stay in its history."),
        "forget": (
            "engram.cli.change",
            "forget",
            "Archive a memory: it is found no more, and can be restored.",
        ),
        "restore": ("engram.cli.change", "restore", "Bring an archived memory back."),
        "erase": ("engram.cli.change", "erase", "Remove a memory for good."),
        "pin": ("engram.cli.change", "pin", "Keep a memory from ever being forgotten."),
        "confirm": ("engram.cli.change", "confirm", "Vouch for a memory: it is still true."),
        "promote": ("engram.cli.change", "promote", "Move a memory one layer up."),
        "demote": ("engram.cli.change", "demote", "Move a memory one layer down."),
        "trash": ("engram.cli.change", "trash", "Look at what was forgotten; empty it."),
        "status": ("engram.cli.change", "status", "Set whether a memory still holds."),
        "feedback": ("engram.cli.change", "feedback", "Say whether a memory helped with a question."),
        "relate": ("engram.cli.change", "relate", "Connect two memories."),
        "unrelate": ("engram.cli.change", "unrelate", "Take a connection away."),
    },
    "Connect": {
        "mcp": ("engram.cli.mcp", "mcp", "Serve an MCP client over stdin and stdout."),
        "setup": ("engram.cli.setup", "setup", "Connect a client: Claude Code, Cursor, Codex and others."),
        "hook": (
            "engram.cli.hook_command",
            "hook",
            "Tell a coding agent what is remembered, and capture what it says.",
        ),
    },
    "Maintain": {
        "consolidate": (
            "engram.cli.maintain",
            "consolidate",
            "Let memories mature: promote, merge, learn, doubt and forget.",
        ),
        "dream": ("engram.cli.maintain", "dream", "Replay, link and strengthen memories."),
        "audit": ("engram.cli.maintain", "audit", "Let a model look over what is known for good."),
        "drift": (
            "engram.cli.loops",
            "drift",
            "Check what memories claim about files, symbols and versions.",
        ),
        "runs": ("engram.cli.maintain", "runs", "List the last runs of maintenance, or tell what one did."),
        "undo": ("engram.cli.maintain", "undo", "Take a whole run of maintenance back."),
        "bus": ("engram.cli.loops", "bus", "Let agents tell each other what they learned."),
    },
    "Serve": {
        "serve": ("engram.cli.serve", "serve", "Serve the memory over HTTP."),
        "page": ("engram.cli.serve", "page", "Print a link that opens the page of a running server."),
        "proxy": (
            "engram.cli.serve",
            "proxy",
            "Stand before a model service: chats through here remember.",
        ),
        "token": (
            "engram.cli.serve",
            "token",
            "Let others in: make, list and revoke tokens of the server.",
        ),
    },
    "Upkeep": {
        "stats": ("engram.cli.maintain", "stats", "Count what is kept."),
        "doctor": ("engram.cli.maintain", "doctor", "Look for damage, and with --repair mend it."),
        "vacuum": ("engram.cli.maintain", "vacuum", "Give freed space back."),
        "reembed": ("engram.cli.maintain", "reembed", "Make the vectors that are still missing."),
        "import": ("engram.cli.transfer", "import_lines", "Remember every line of a JSON Lines file."),
        "export": ("engram.cli.transfer", "export", "Write every memory as a line of JSON."),
        "config": ("engram.cli.configuration", "configuration", "Show settings, their values and meanings."),
        "bench": ("engram.bench.commands", "bench", "Measure recall and speed."),
    },
    "Begin": {
        "demo": ("engram.cli.demo", "demo", "Tour a memory in a minute, on a file of its own."),
        "completion": ("engram.cli.configuration", "completion", "Print the completion script of a shell."),
    },
}

# The first character keeps click from wrapping the lines below it.
HELP = """A long-term memory: it keeps what matters, finds it when it helps, and can say why.

\b
  engram remember "My editor is Helix"
  engram recall which editor do I use --explain
"""
EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."


class App(click.Group):
    """The root. Help and completion come from the table; a command's module is imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Every command, in the order of the table."""
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (as above)
        """The command of that name, loaded now."""
        for section in COMMANDS.values():
            if cmd_name in section:
                module, attribute, _ = section[cmd_name]
                return _load(module, attribute)
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a guess when the name is unknown."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " `engram --help` lists them all."
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        if args[:1] == ["bench"] and ctx.ensure_object(CommandRun).json:
            args = [*args, "--json"]  # the benchmarks stand a floor below and know no Run
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (as above)
        """The table, section by section."""
        for title, section in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, what) for name, (_, _, what) in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the table, options from click."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        rows = ((name, row[2]) for section in COMMANDS.values() for name, row in section.items())
        return [CompletionItem(name, help=what) for name, what in rows if name.startswith(incomplete)]

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run, and leave with the exit code that says how it went."""
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        sys.exit(leave_after(lambda: super(App, self).main(given, prog_name, complete_var, **extra), given))


def _load(module: str, attribute: str) -> click.Command:
    command = getattr(importlib.import_module(module), attribute)
    assert isinstance(command, click.Command)  # noqa: S101 (the table is ours; a test loads every row)
    return command


@click.group(
    cls=App,
    help=HELP,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="engram")
@click.pass_context
def app(context: click.Context) -> None:
    """The root: it carries the global options and does nothing by itself."""
    context.ensure_object(CommandRun)


app.params.extend(global_options(at_root=True))
