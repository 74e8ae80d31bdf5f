"""`engram proxy`: a proxy before a model service, until it is told to stop."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import say, say_json, text, uncut
from engram.cli.serving import Ready, served, with_access, with_address, with_upstream
from engram.errors import ConfigError

if TYPE_CHECKING:
    from engram.config import Config

PORT = 3918
"""Beside the server's own."""


@command("proxy")
@click.option("--upstream", metavar="URL", help="The model service, such as https://api.openai.com/v1.")
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine only if not said.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N", help=f"Which port; {PORT} if not said, 0: any."
)
@click.option("--open", "is_open", is_flag=True, help="Callers on this machine need no secret.")
@pass_run
def proxy(run: Run, upstream: str | None, host: str | None, port: int | None, is_open: bool) -> None:
    """Stand before a model service: chats through here remember.

    Point a client's base URL here. What is remembered is added to each chat as data, what is said is listened
    to, and when the memory fails the chat goes on without it. A client sends a token, or the owner's secret
    that is kept beside the memory file, as X-Engram-Token beside its own key; with --open, callers on this
    machine need none. `engram serve` does the same beside everything else when `proxy.base_url` is set.
    """
    config = with_address(run.config, host, PORT if port is None else port)
    config = with_access(with_upstream(config, upstream), is_open=is_open)
    if not config.proxy.base_url:
        raise ConfigError("Which model service? Give --upstream, or set proxy.base_url.")
    served(run, config, lambda ready: _say_ready(run, config, ready), alone=True)


def _say_ready(run: Run, config: Config, ready: Ready) -> None:
    address = ready.url
    if run.json:
        told = {"url": f"{address}/v1", "upstream": config.proxy.base_url}
        say_json({**told, "file": ready.file, "secret_file": ready.secret})
        return
    if run.quiet:
        say(run, f"{address}/v1")
        return
    header = f"X-Engram-Token: $(cat {shlex.quote(ready.secret)})"
    say(
        run,
        text(("engram stands before ", "bold"), (config.proxy.base_url, "cyan"), (f"   {ready.file}", "dim")),
        text(("  base URL   ", "dim"), (f"{address}/v1", "bold cyan")),
        text(("  or         ", "dim"), f"export OPENAI_BASE_URL={address}/v1"),
        *([uncut(text(("  header     ", "dim"), header))] if ready.secret else []),
        text(("Ctrl-C stops it.", "dim")),
    )
    sys.stdout.flush()
