"""`engram serve`: the memory over HTTP, until it is told to stop; `engram page`: a link to its page."""

from __future__ import annotations

import json
import shlex
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import say, say_json, text, uncut
from engram.cli.serving import Ready, address_of, served, with_access, with_address, with_upstream
from engram.errors import ConfigError
from engram.opening import place

if TYPE_CHECKING:
    from engram.config import Config

ANSWERS_WITHIN_S = 10.0


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
@click.option("--open", "is_open", is_flag=True, help="Callers on this machine need no secret.")
@click.option(
    "--socket",
    "at",
    type=click.Path(),
    metavar="PATH",
    help="Listen on a Unix socket that only you can reach.",
)
@pass_run
def serve(
    run: Run, host: str | None, port: int | None, workers: int | None, is_open: bool, at: str | None
) -> None:
    """Serve the memory over HTTP.

    Who asks brings a secret: a token of `engram token create`, or the owner's own, which is made at the first
    start and kept beside the memory file. The link that is printed lets a browser in, once. With --open,
    callers on this machine need none: never put a proxy before such a server. A Unix socket is open to its
    owner. SIGTERM and Ctrl-C finish what is under way, write what waits, and leave nothing behind.
    """
    config = with_upstream(with_address(run.config, host, port))
    config = with_access(config, is_open=is_open or bool(at))
    if workers is not None:
        config = replace(config, recall=replace(config.recall, processes=workers))
    served(run, config, lambda ready: _say_ready(run, config, ready, at or ""), at=at or "")


def _say_ready(run: Run, config: Config, ready: Ready, at: str) -> None:
    if run.json:
        say_json({"url": ready.url, "file": ready.file, "link": ready.link, "secret_file": ready.secret})
        return
    if run.quiet:
        say(run, ready.link)
        return
    address, proxied = "http://localhost" if at else ready.url, bool(config.proxy.base_url)
    curl = f"curl --unix-socket {shlex.quote(at)}" if at else "curl"
    if ready.secret:
        curl += f' -H "Authorization: Bearer $(cat {shlex.quote(ready.secret)})"'
    remember = f"""{curl} {address}/v1/memories -d '{{"content": "My editor is Helix"}}'"""
    once = "   works once" if ready.secret else ""
    look = text(("  look       ", "dim"), (ready.link, "cyan"), (once, "dim"))
    lines = [
        text(("engram listens on ", "bold"), (ready.url, "bold cyan"), (f"   {ready.file}", "dim")),
        *([] if at else [look]),
        text(("  remember   ", "dim"), remember),
        text(("  recall     ", "dim"), f"{curl} '{address}/v1/recall?q=which+editor+do+I+use'"),
        text(("  every call ", "dim"), f"{address}/docs"),
        *([text(("  proxy      ", "dim"), f"{address}/v1 → {config.proxy.base_url}")] if proxied else []),
        text(("Ctrl-C stops it.", "dim")),
    ]
    say(run, *map(uncut, lines))
    sys.stdout.flush()


@command("page")
@click.option("--host", metavar="ADDRESS", help="Where the server listens; this machine if not said.")
@click.option("--port", type=click.IntRange(1, 65_535), metavar="N", help="Which port; 3917 if not said.")
@pass_run
def page(run: Run, host: str | None, port: int | None) -> None:
    """Print a link that opens the page of a running server.

    The link lets a browser in once, without a password. Needs to read the secret beside the memory file, or
    `server.api_key`.
    """
    from engram.server.login import PATH, known_secret

    config = with_address(run.config, host, port)
    secret = config.server.api_key or known_secret(place(run.file))
    address = address_of(config.server.host, config.server.port)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    # The address is http, by our own hand.
    request = urllib.request.Request(f"{address}/v1{PATH}", b"", headers, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:  # noqa: S310
            link = address + json.load(answer)["path"]
    except urllib.error.HTTPError as error:
        raise ConfigError(
            f"The server at {address} does not let us in ({error.code}): does it serve another file?"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"No server answers at {address}: start one with `engram serve`.") from error
    if run.json:
        say_json({"link": link})
    else:
        click.echo(link)
