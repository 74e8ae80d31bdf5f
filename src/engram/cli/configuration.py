"""`engram config`: every setting with its value and meaning; and `engram completion`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import CommandRun, Group, command, default_config_path, pass_run
from engram.cli.output import say, say_json, table, text
from engram.config import PRESETS, Setting, save_settings, settings, values
from engram.errors import ConfigError

if TYPE_CHECKING:
    from rich.text import Text

HIDDEN = "•••"


@click.group("config", cls=Group, otherwise="list")
def configuration() -> None:
    """Show settings, their values and meanings.

    Later ones win: defaults, a preset, the TOML file, ENGRAM_… variables, --set.
    """


@configuration.command("list")
@click.option("--changed", is_flag=True, help="Only those that differ from their default.")
@pass_run
def list_settings(run: CommandRun, changed: bool) -> None:
    """Every setting and its value now."""
    now = values(run.config)
    chosen = [one for one in settings() if not changed or now[one.name] != one.default]
    if run.json:
        say_json({"settings": [_plain(one, now[one.name]) for one in chosen]})
        return
    lines = [(text((one.name, "cyan")), _value(one, now[one.name]), one.meaning) for one in chosen]
    say(
        run, *([one.name for one in chosen] if run.quiet else [table(("setting", "value", "meaning"), lines)])
    )


@configuration.command("get")
@click.argument("name")
@pass_run
def get_setting(run: CommandRun, name: str) -> None:
    """One setting: its value, range, meaning and how to set it."""
    one = next((one for one in settings() if one.name == name), None)
    if one is None:
        message = f"There is no setting {name!r}; `engram config list` lists them all."
        raise ConfigError(message)
    now = values(run.config)[name]
    if run.json:
        say_json(_plain(one, now))
    elif run.quiet:
        say(run, _public(one, now))
    else:
        say(
            run, text((one.name, "bold cyan"), " = ", _value(one, now)), f"  {one.meaning}",
            text(("  takes    ", "dim"), one.range), text(("  default  ", "dim"), _public(one, one.default)),
            text(("  set it   ", "dim"), f"--set {name}=… or {one.variable}=…"),
        )  # fmt: skip


@configuration.command("set")
@click.argument("name")
@click.argument("value")
@pass_run
def set_setting(run: CommandRun, name: str, value: str) -> None:
    """Write one setting into your configuration; comments and the rest of the file stay."""
    file = run.config_path or default_config_path()
    save_settings(file, {name: value})
    if run.json:
        say_json({"setting": name, "value": value, "config": str(file)})
    elif not run.quiet:
        say(run, text((name, "bold cyan"), f" = {value}"), text(("  in  ", "dim"), str(file)))


@configuration.command("path")
@pass_run
def paths(run: CommandRun) -> None:
    """Where the memory and the configuration lie."""
    from engram.opening import default_file

    file, found = run.file or str(default_file()), run.config_path
    if run.json:
        say_json(
            {
                "file": file,
                "config": str(found) if found else None,
                "default_config": str(default_config_path()),
            }
        )
    else:
        config = str(found) if found else f"{default_config_path()} (not there)"
        say(run, text(("memory  ", "dim"), file), text(("config  ", "dim"), config))


@configuration.command("presets")
@pass_run
def presets(run: CommandRun) -> None:
    """Named sets of settings; choose one by --preset NAME, or by `preset = "name"` in the file."""
    if run.json:
        say_json({"presets": PRESETS})
        return
    lines = [(text((name, "cyan")), _sets(chosen)) for name, chosen in PRESETS.items()]
    say(run, table(("preset", "sets"), lines))


def _sets(chosen: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in chosen.items()) or "the defaults"


def _plain(one: Setting, now: Any) -> dict[str, Any]:
    return {
        "name": one.name, "value": _public(one, now) if _is_secret(one) else now, "default": one.default,
        "range": one.range, "meaning": one.meaning, "origin": one.origin, "variable": one.variable,
    }  # fmt: skip


def _value(one: Setting, now: Any) -> Text:
    return text((_public(one, now) or "∅", "bold yellow" if now != one.default else ""))


def _public(one: Setting, value: Any) -> str:
    """The value as anyone may see it: a key only shows that it is there."""
    if isinstance(value, bool):
        return str(value).lower()
    return HIDDEN if _is_secret(one) and value else str(value)


def _is_secret(one: Setting) -> bool:
    return one.name.endswith("_key")


COMPLETION_HELP = """Print the completion script of a shell.

\b
  bash   eval "$(engram completion bash)"   in ~/.bashrc
  zsh    eval "$(engram completion zsh)"    in ~/.zshrc
  fish   engram completion fish | source    in config.fish
"""


@command("completion", help=COMPLETION_HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_run
def completion(run: CommandRun, shell: str) -> None:
    """Print the script that click makes for a shell."""
    from click.shell_completion import get_completion_class

    found, root = get_completion_class(shell), click.get_current_context().find_root()
    assert found is not None  # noqa: S101 (the choice above names click's own three)
    script = found(root.command, {}, "engram", "_ENGRAM_COMPLETE").source()
    if run.json:
        say_json({"shell": shell, "script": script})
    else:
        click.echo(script)
