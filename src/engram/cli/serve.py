"""`engram serve`: the memory over HTTP, until it is told to stop."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import say, say_json, text
from engram.errors import ConfigError
from engram.model.scope import Access

if TYPE_CHECKING:
    from engram.config import Config
    from engram.engine import Engram


@command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine only if not said.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help="Which port; 3917 if not said, 0: any."
)
@pass_run
def serve(run: Run, host: str | None, port: int | None) -> None:
    """Serve the memory over HTTP.

    On this machine everybody is its owner; from elsewhere a token of `engram token create` is needed. SIGTERM
    and Ctrl-C finish what is under way, write what waits, and leave nothing behind.
    """
    try:
        from engram.server import app, journal, serve
        from engram.server.mcp.mounting import mount
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is missing: pip install 'engram-cortex[server]' brings it."
        ) from error
    config = _with_address(run.config, host, port)
    settings = config.server
    made = app.build(lambda: _open(run, config), settings, mounts=(mount,))
    with serve.listen(settings.host, settings.port) as sock:
        made.state.house.open()
        try:
            serve.check_open(settings.host, made.state.house)
            journal.write_to(level=logging.WARNING if run.quiet else logging.INFO)
            address = _address(settings.host, sock.getsockname()[1])
            serve.serve(made, sock, lambda: _say_ready(run, address, made.state.house.memory.path))
        finally:
            made.state.house.close()


def _with_address(config: Config, host: str | None, port: int | None) -> Config:
    server = replace(
        config.server,
        host=config.server.host if host is None else host,
        port=config.server.port if port is None else port,
    )
    return replace(config, server=server)


def _open(run: Run, config: Config) -> Engram:
    from engram.engine import Engram

    return Engram.open(run.file, config=config, access=Access(run.scope))


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _say_ready(run: Run, address: str, path: str) -> None:
    if run.json:
        say_json({"url": address, "file": path})
        return
    if run.quiet:
        say(run, address)
        return
    remember = f"""curl {address}/v1/memories -d '{{"content": "My editor is Helix"}}'"""
    say(
        run,
        text(("engram listens on ", "bold"), (address, "bold cyan"), (f"   {path}", "dim")),
        text(("  look       ", "dim"), f"{address}/"),
        text(("  remember   ", "dim"), remember),
        text(("  recall     ", "dim"), f"curl '{address}/v1/recall?q=which+editor+do+I+use'"),
        text(("  every call ", "dim"), f"{address}/docs"),
        text(("Ctrl-C stops it.", "dim")),
    )
    sys.stdout.flush()
