"""The options every command takes, before or after its name, and `CommandRun`, which carries what they say.

`engram --json list` and `engram list --json` are the same command. A later value wins over an earlier one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from engram.errors import BadText, ConfigError, FileExists, NoSuchFile, StoreError
from engram.lazily import dataclass
from engram.model.clock import Clock, SystemClock, zone_of
from engram.model.plain import plain
from engram.model.scope import DEFAULT_NAMESPACE, Access, Scope

if TYPE_CHECKING:
    from engram.config import Config
    from engram.engine import Engram


@dataclass
class CommandRun:
    """One call of the command line: where the memory is, who asks, and how to answer."""

    file: str | None = None
    file_typed: bool = False
    """Whether the file was named on the command line, not by the environment."""
    config_file: str | None = None
    preset: str = ""
    settings: list[str] = field(default_factory=list)
    json: bool = False
    no_color: bool = False
    quiet: bool = False
    namespace: str = ""
    project: str = ""
    squad: str = ""
    agent: str = ""
    channel: str = ""
    user: str = ""
    clock: Clock = field(default_factory=SystemClock)
    memory: Engram | None = None
    """The open memory, while the result of a command is shown."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """The arguments of the operation of the command."""

    @property
    def opened(self) -> Engram:
        """The open memory, for whoever shows the result of a command."""
        assert self.memory is not None  # noqa: S101 (a command opens it before it shows anything)
        return self.memory

    @property
    def scope(self) -> Scope:
        """The place that was named; the default namespace when none was."""
        namespace = self.namespace or DEFAULT_NAMESPACE
        return Scope(namespace, self.project, self.squad, self.agent, self.channel, self.user)

    @property
    def is_scoped(self) -> bool:
        """Whether any part of a place was named."""
        return any((self.namespace, self.project, self.squad, self.agent, self.channel, self.user))

    @property
    def named_scope(self) -> Scope | None:
        """The place, if one was named."""
        return self.scope if self.is_scoped else None

    @property
    def config(self) -> Config:
        """The settings from all their sources. Raises ConfigError."""
        from engram.config import load

        return load(self.config_path, arguments=self.chosen())

    @cached_property
    def zone(self) -> tzinfo:
        """The time zone of whoever asks. Raises ConfigError."""
        return zone_of(self.config.timezone)

    @property
    def config_path(self) -> Path | None:
        """The configuration file: the one named, or the user's own if there is one."""
        if self.config_file is not None:
            return Path(self.config_file)
        default = default_config_path()
        return default if default.is_file() else None

    @property
    def one_file(self) -> str:
        """The file itself, for what is done to one that nobody has open. Raises ConfigError."""
        from engram.opening import file_of

        return file_of(self.file, self.namespace)

    def open(self, *, whole_file: bool = False, makes: bool = False) -> Engram:
        """The memory. `whole_file` sees every namespace unless a place was named: for upkeep and export.

        Only a command that brings something in `makes` a file that was named and is not there.
        """
        from engram.engine import Engram
        from engram.opening import is_folder, is_there, place

        if self.file and self.file_typed and not makes and not is_there(self.file):
            raise NoSuchFile(self.file)
        where = place(self.file)
        if self.namespace and not makes and is_folder(where) and not Path(self.one_file).exists():
            raise NoSuchFile(self.one_file)
        access = Access.everything() if whole_file and not self.is_scoped else Access(self.scope)
        return Engram.open(self.file, config=self.config, access=access)

    def chosen(self) -> dict[str, Any]:
        """What this call's own words set, by the names of settings. Raises ConfigError."""
        chosen: dict[str, Any] = {"preset": self.preset} if self.preset else {}
        for setting in self.settings:
            name, equals, value = setting.partition("=")
            if not equals:
                message = f"--set takes name=value, not {setting!r}."
                raise ConfigError(message)
            chosen[name.strip()] = value.strip()
        return chosen


def default_config_path() -> Path:
    """Where the user's own configuration lies, whether or not it is there."""
    from engram.config import own_folder

    return own_folder("config") / "config.toml"


def global_options(*, at_root: bool) -> list[click.Parameter]:
    """The options themselves. Only the root looks at the environment, lest it overrules a `--file`."""

    def option(*names: str, variable: str = "", shown: bool = False, **more: Any) -> click.Option:
        return click.Option(
            names,
            callback=_keep,
            expose_value=False,
            envvar=variable if at_root and variable else None,
            hidden=not (at_root or shown),
            **more,
        )

    file = "The memory's file; else $ENGRAM_FILE or your data folder."
    config = "Settings in TOML; else $ENGRAM_CONFIG or your config folder."
    quiet = "Say only ids or contents, nothing around them."
    return [
        option("--file", metavar="PATH", variable="ENGRAM_FILE", help=file),
        option("--config", "config_file", metavar="FILE", variable="ENGRAM_CONFIG", help=config),
        option(
            "--preset", metavar="NAME", help="A named set of settings; `engram config presets` lists them."
        ),
        option(
            "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Change one setting; repeatable."
        ),
        option("--namespace", metavar="NAME", help="Whose memory: the widest part of a place."),
        option("--project", metavar="NAME", help="A project inside the namespace."),
        option("--squad", metavar="NAME", help="A group of agents inside the project."),
        option("--agent", metavar="NAME", help="One agent."),
        option("--channel", metavar="NAME", help="One channel."),
        option("--user", metavar="NAME", help="One user."),
        option("--json", is_flag=True, shown=True, help="Answer with one JSON object, for programs."),
        option("--quiet", "-q", is_flag=True, shown=True, help=quiet),
        option("--no-color", is_flag=True, help="No colour; $NO_COLOR does the same."),
    ]


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    if not value and value != "":
        return value
    run, name = context.ensure_object(CommandRun), parameter.name or ""
    if isinstance(value, str):
        _check_text(name, value)
    if name == "file":
        run.file_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    setattr(run, name, [*run.settings, *value] if name == "settings" else value)
    return value


def _check_text(name: str, value: str) -> None:
    """Refuse bytes of the command line that are no text, and what no path and no name can hold."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadText(f"--{name}", "bytes that are not UTF-8") from error
    if "\0" in value:
        raise BadText(f"--{name}", "a NUL character")


class Command(click.Command):
    """A command that takes the options of the root as well."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.params.extend(global_options(at_root=False))


WHOLE = 1_000
"""More letters than a sentence of help has."""


class Group(click.Group):
    """A group of such commands that runs one of them when none is named."""

    command_class = Command

    def __init__(self, *args: Any, otherwise: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.otherwise = otherwise
        self.params.extend(global_options(at_root=False))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the command that is meant when none is named."""
        bare = not any(arg in self.commands or arg in ctx.help_option_names for arg in args)
        meant = self.commands.get(self.otherwise) if bare else None
        if (
            meant
            and not args
            and any(isinstance(param, click.Argument) and param.required for param in meant.params)
        ):
            meant = None  # it cannot do anything alone: tell what there is
        return super().parse_args(ctx, [self.otherwise, *args] if meant else args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What there is, each with its whole first sentence."""
        listed = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, command.get_short_help_str(WHOLE)) for name, command in listed.items() if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def pass_run(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the `CommandRun` as its first argument."""
    return click.make_pass_decorator(CommandRun, ensure=True)(function)


def command(name: str, **more: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command with the options of the root."""
    return click.command(name, cls=Command, **more)


# ---------------------------------------------------------------- values
# Words on the command line become values; text comes from the arguments or from stdin.


if TYPE_CHECKING:
    _Moments = click.ParamType[datetime]
    _Pairs = click.ParamType[tuple[str, str]]
else:  # older releases of click know no type arguments
    _Moments = _Pairs = click.ParamType

_AGO = re.compile(r"(\d+)\s*(m|h|d|w|mo|y)", re.IGNORECASE)
_LENGTHS = {"m": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0, "mo": 30.0, "y": 365.0}
LONGEST_DAYS = 365_000
"""A span beyond this lies outside of the calendar."""


def reader_zone() -> tzinfo:
    """The time zone of whoever reads and writes here: as the settings of this call say, else the system's."""
    context = click.get_current_context(silent=True)
    zone = getattr(context.find_root().obj, "zone", None) if context else None
    return zone if isinstance(zone, tzinfo) else zone_of("")


class MomentOption(_Moments):
    """A moment: `2026-03-01`, `2026-03-01T14:30`, a span such as `7d`, counted back or on from now, or words.

    Of words such as `last week` the beginning is meant.
    """

    name = "when"

    def __init__(self, *, ahead: bool = False) -> None:
        self.ahead = ahead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The moment in the reader's time zone, unless it names its own."""
        if isinstance(value, datetime):
            return value
        if span := _AGO.fullmatch(value.strip()):
            days = int(span[1]) * _LENGTHS[span[2].lower()]
            if days <= LONGEST_DAYS:
                return SystemClock().now() + timedelta(days=days if self.ahead else -days)
        try:
            moment = datetime.fromisoformat(value.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=reader_zone())
        except (ValueError, OverflowError, OSError):
            if moment_named := self._in_words(value.strip()):
                return moment_named
            self.fail(
                f"{value!r} is no time: say 2026-03-01, 2026-03-01T14:30, yesterday, or 7d.", param, ctx
            )

    def _in_words(self, words: str) -> datetime | None:
        """The beginning of the one time that the words name; None when they say something else as well."""
        from engram.text.dates import dates  # a large part of the text rules, needed only here

        now = SystemClock().now().astimezone(reader_zone())
        named = dates(words, now, prefer="future" if self.ahead else "past")
        return named[0].first if len(named) == 1 and named[0].certain and named[0].text == words else None


class KeyValue(_Pairs):
    """A detail: `name=value`."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Name and value."""
        if isinstance(value, tuple):
            return value
        name, equals, rest = value.partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is no name=value.", param, ctx)
        return name.strip(), rest


def one_of(words: type[Enum]) -> click.Choice[str]:
    """The members of an axis, as they are written."""
    return click.Choice([str(plain(member)) for member in words], case_sensitive=False)


def numeric(value: str) -> float | str:
    """A number, or the word as it is when it is none: whoever takes it says what is wrong.

    >>> numeric("0.5"), numeric("much")
    (0.5, 'much')
    """
    try:
        return float(value)
    except ValueError:
        return value


def split(values: Iterable[str]) -> tuple[str, ...]:
    """`--tag a --tag b,c` names three.

    >>> split(["a", "b, c", ""])
    ('a', 'b', 'c')
    """
    return tuple(part for value in values for part in (piece.strip() for piece in value.split(",")) if part)


force_option = click.option("--force", is_flag=True, help="Write over a file that is there already.")


def check_target(target: str | Path | None, *, force: bool) -> None:
    """Refuse a file that is there already, unless it may be written over. Raises FileExists, StoreError."""
    if target is None or str(target) == "-":
        return
    path = Path(target)
    if path.exists() and not force:
        raise FileExists(str(path), may_force=True)
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be written: there is no folder {path.parent}.")


def text_or_stdin(words: Sequence[str], field: str) -> str:
    """Words typed without quotation marks are one sentence; `-`, or nothing and a pipe, reads stdin."""
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        return read_stdin(field)
    if not words:
        raise click.UsageError(f"Say the {field}, or pipe it in.", click.get_current_context(silent=True))
    return " ".join(words)


def read_stdin(field: str) -> str:
    """Everything on stdin, without the newline that ends it. Raises BadText for what is not UTF-8."""
    return decoded(sys.stdin.buffer.read(), field).rstrip("\r\n")


def decoded(raw: bytes, field: str) -> str:
    """Bytes as text. Raises BadText."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText(field, "bytes that are not UTF-8") from error
