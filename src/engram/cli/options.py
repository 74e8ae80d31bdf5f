"""The options every command takes, before or after its name, and `Run`, which carries what they say.

`engram --json list` and `engram list --json` are the same command. A later value wins over an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from engram.errors import BadText, ConfigError, NoSuchFile
from engram.model.clock import Clock, SystemClock, zone_of
from engram.model.scope import DEFAULT_NAMESPACE, Access, Scope

if TYPE_CHECKING:
    from engram.config import Config
    from engram.engine import Engram

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Run:
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
    def config(self) -> Config:
        """The settings from all their sources. Raises ConfigError."""
        from engram.config import load

        return load(self.config_path, arguments=self._chosen())

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

    def open(self, *, whole_file: bool = False, makes: bool = False) -> Engram:
        """The memory. `whole_file` sees every namespace unless a place was named: for upkeep and export.

        Only a command that brings something in `makes` a file that was named and is not there.
        """
        from engram.engine import Engram

        if self.file and self.file_typed and not makes and not Path(self.file).exists():
            raise NoSuchFile(self.file)
        access = Access.everything() if whole_file and not self.is_scoped else Access(self.scope)
        return Engram.open(self.file, config=self.config, access=access)

    def _chosen(self) -> dict[str, Any]:
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
    from platformdirs import user_config_path

    return user_config_path("engram", appauthor=False) / "config.toml"


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
    run, name = context.ensure_object(Run), parameter.name or ""
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
        return super().parse_args(ctx, [*args, self.otherwise] if bare and self.otherwise else args)


def pass_run(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the `Run` as its first argument."""
    return click.make_pass_decorator(Run, ensure=True)(function)


def command(name: str, **more: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command with the options of the root."""
    return click.command(name, cls=Command, **more)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order they are listed."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
