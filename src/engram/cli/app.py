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
from engram.operations.aliases import COMMANDS_BEFORE

# Section → command → (where it is made, what it does); nowhere: it is made from the operations. The words are
# those of the command's own help; a test compares them. They stand here so that `engram --help` loads no
# command.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Remember and recall": {
        "remember": ("remember.remember", "Keep a statement."),
        "observe": ("remember.observe", "Listen to what was said and keep what is worth keeping."),
        "recall": ("recall.recall", "Find what answers a question."),
        "reason": ("recall.reason", "Think a question through, part by part."),
        "timeline": ("recall.timeline", "Tell how something changed, oldest step first."),
        "context": ("recall.context", "Make the prompt for a message, within a model's budget."),
        "session": ("", "Look at sessions, wake them, tell them where things stand."),
    },
    "Look and change": {
        "list": ("browse.list_memories", "List memories, newest first."),
        "show": ("browse.show", "Show everything about one memory."),
        "forget": ("", "Archive a memory: no longer recalled, and restored at any time."),
        "memory": ("", "Change a memory, see its history: edit, pin, restore, confirm, relate, erase."),
    },
    "Know": {
        "facts": ("", "Ask, add and follow facts: who is what to whom."),
        "entities": ("", "Look at who and what is spoken of, and join their names."),
        "knowledge": ("", "Look at what was learned, what is missing and what contradicts what."),
        "commitments": ("", "Open, wait for and close what was promised."),
    },
    "Bring in and take out": {
        "ingest": ("ingest.ingest", "Take in documents, chats, code and results."),
        "import": (
            "transfer.import_lines",
            "Bring in what another system kept, or every line of a JSON Lines file.",
        ),
        "workspace": ("transfer.workspace", "Keep a folder of plain files in step with the memory."),
        "export": ("transfer.export", "Write every memory as a line of JSON."),
    },
    "Maintain": {
        "consolidate": (
            "maintain.consolidate",
            "Let memories mature: promote, merge, learn, doubt and forget.",
        ),
        "maintain": ("", "Look for damage, dream, audit, tidy up, undo a run, move to another store."),
        "stats": ("maintain.stats", "Count what is kept."),
        "backup": ("vault.backup", "Copy the whole memory, put a copy back, save a damaged one."),
    },
    "Serve and connect": {
        "serve": ("serve.serve", "Serve the memory over HTTP."),
        "server": ("", "Open the page, let others in, serve MCP, stand before a model service."),
        "setup": ("setup.setup", "Connect a client: Claude Code, Cursor, Codex and others."),
    },
    "Set up": {
        "config": ("configuration.configuration", "Show settings, their values and meanings."),
        "vault": ("vault.vault", "Encrypt the file, open and lock it, change its key."),
        "bench": ("bench.bench", "Measure recall and speed."),
        "demo": ("demo.demo", "Tour a memory in a minute, on a file of its own."),
    },
}
LISTED = {name: row for section in COMMANDS.values() for name, row in section.items()}

# What stands in a group beside what its operations make: by hand, or another group, with what that does.
WITHIN: dict[str, dict[str, tuple[str, str]]] = {
    "session": {
        "resume": ("recall.resume", ""),
        "pack": ("recall.pack", ""),
        "triggers": ("", "Let words in a message load pages into the recall pack."),
    },
    "memory": {name: (f"browse.{name}", "") for name in ("edit", "history", "erase", "feedback", "trash")},
    "knowledge": {
        "gaps": ("", "Look at what is not known, ask about it and answer."),
        "conflicts": ("", "Look at what contradicts what, and settle it."),
    },
    "maintain": {
        **{
            name: (f"maintain.{name}", "")
            for name in ("doctor", "dream", "audit", "drift", "runs", "undo", "reread", "vacuum", "reembed")
        },
        "migrate": ("vault.migrate", ""),
    },
    "server": {
        **{name: (f"serve.{name}", "") for name in ("page", "proxy", "token")},
        "mcp": ("setup.mcp", ""),
        "bus": ("", "Let agents tell each other what they learned."),
    },
    "config": {"models": ("configuration.models", "")},
}
UNLISTED = {"hook": "setup.hook", "completion": "configuration.completion", "turns": "remember.turns"}
"""Commands for programs and shells."""

# The first character keeps click from wrapping the lines below it.
HELP = """A long-term memory: it keeps what matters, finds it when it helps, and can say why.

\b
  engram remember "My editor is Helix"
  engram recall which editor do I use --explain
"""
EPILOG = f"""What stands in `memory`, `maintain` or `server` also works by itself: `engram history`.

Exit codes: {"; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())}.
"""
OTHER_WORDS = {
    **dict.fromkeys(("add", "new", "note", "save", "store", "write"), "remember"),
    **dict.fromkeys(("ask", "find", "get", "query", "search"), "recall"),
    **dict.fromkeys(("cat", "view"), "show"),
    **dict.fromkeys(("log", "events"), "history"),
    **dict.fromkeys(("ls", "all"), "list"),
    **dict.fromkeys(("delete", "remove", "rm"), "forget"),
    **dict.fromkeys(("edit", "set"), "memory edit"),
    **dict.fromkeys(("init", "install", "connect"), "setup"),
    **dict.fromkeys(("start", "run"), "serve"),
    "help": "--help",
    "version": "--version",
}
"""Words that people type who know other tools, and what they mean here."""


class App(click.Group):
    """The root. Help and completion come from the table; a command's module is imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Every command, in the order of the table."""
        return [*LISTED]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, loaded or made now; one of an earlier version under its name of today."""
        place = COMMANDS_BEFORE.get(cmd_name, cmd_name)
        group, _, inner = place.partition(" ")
        if inner:
            held = self.get_command(ctx, group)
            return held.get_command(ctx, inner) if isinstance(held, click.Group) else None
        if place in UNLISTED:
            return _command(place, UNLISTED[place])
        if place not in LISTED:
            return None
        command = _command(place, *LISTED[place])
        for name, row in WITHIN.get(place, {}).items():
            assert isinstance(command, click.Group)  # noqa: S101 (a name with others within is a group)
            command.add_command(_command(name, *row), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a guess when the name is unknown."""
        names = [*self.list_commands(ctx), *UNLISTED, *COMMANDS_BEFORE]
        if args and args[0] not in names and not args[0].startswith("-"):
            import difflib

            near = (
                [OTHER_WORDS[args[0]]]
                if args[0] in OTHER_WORDS
                else difflib.get_close_matches(args[0], names, n=1)
            )
            hint = f"Did you mean `engram {near[0]}`?" if near else "`engram --help` lists them all."
            ctx.fail(f"There is no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (as above)
        """The table, section by section."""
        for title, section in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, what) for name, (_, what) in section.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the table, options from click."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        fitting = {name: what for name, (_, what) in LISTED.items() if name.startswith(incomplete)}
        return [CompletionItem(name, help=what) for name, what in fitting.items()]

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        **extra: Any,
    ) -> NoReturn:
        """Run, and leave with the exit code that says how it went."""
        words = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        sys.exit(leave_after(lambda: super(App, self).main(words, prog_name, complete_var, **extra), words))


def _command(name: str, where: str, what: str = "") -> click.Command:
    if not where:
        from engram.cli.made import made_command

        return made_command(name, what)
    module, _, attribute = where.partition(".")
    loaded = getattr(importlib.import_module(f"engram.cli.{module}"), attribute)
    command = loaded if isinstance(loaded, click.Command) else loaded()
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
