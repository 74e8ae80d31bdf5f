"""`engram serve`: the memory over HTTP, until it is told to stop."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import say, say_json, text
from engram.cli.serving import served, with_address, with_upstream

if TYPE_CHECKING:
    from engram.config import Config


@command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine only if not said.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help="Which port; 3917 if not said, 0: any."
)
@click.option(
    "--workers",
    type=click.IntRange(0, 64),
    metavar="N",
    help="Processes that recall beside this one, for many callers; none if not said.",
)
@pass_run
def serve(run: Run, host: str | None, port: int | None, workers: int | None) -> None:
    """Serve the memory over HTTP.

    On this machine everybody is its owner; from elsewhere a token of `engram token create` is needed. SIGTERM
    and Ctrl-C finish what is under way, write what waits, and leave nothing behind.
    """
    config = with_upstream(with_address(run.config, host, port))
    if workers is not None:
        config = replace(config, recall=replace(config.recall, processes=workers))
    served(run, config, lambda address, path: _say_ready(run, config, address, path))


def _say_ready(run: Run, config: Config, address: str, path: str) -> None:
    if run.json:
        say_json({"url": address, "file": path})
        return
    if run.quiet:
        say(run, address)
        return
    proxied = bool(config.proxy.base_url)
    remember = f"""curl {address}/v1/memories -d '{{"content": "My editor is Helix"}}'"""
    say(
        run,
        text(("engram listens on ", "bold"), (address, "bold cyan"), (f"   {path}", "dim")),
        text(("  look       ", "dim"), f"{address}/"),
        text(("  remember   ", "dim"), remember),
        text(("  recall     ", "dim"), f"curl '{address}/v1/recall?q=which+editor+do+I+use'"),
        text(("  every call ", "dim"), f"{address}/docs"),
        *([text(("  proxy      ", "dim"), f"{address}/v1 → {config.proxy.base_url}")] if proxied else []),
        text(("Ctrl-C stops it.", "dim")),
    )
    sys.stdout.flush()
