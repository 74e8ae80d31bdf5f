"""Serving over HTTP: `engram serve`, `page`, `proxy`, and the tokens by which others come in."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from engram import plugins
from engram.api.caller import Issued
from engram.cli.made import Spelling, presented
from engram.cli.options import CommandRun, Group, command, pass_run
from engram.cli.output import age, done, line, say, table, tell, text, uncut
from engram.config import values
from engram.errors import ConfigError
from engram.lazily import dataclass
from engram.model.scope import Access, Token
from engram.opening import beside, place

if TYPE_CHECKING:
    from engram.config import Config
    from engram.server import app


@contextmanager
def _needs_server() -> Iterator[None]:
    """What is imported within comes with the extra for servers. Raises ConfigError, which says so."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is missing: pip install 'engram-cortex[server]' brings it."
        ) from error


# ---------------------------------------------------------------- serving
# What `serve` and `proxy` share: settings become a server that answers until it is told to stop.

UPSTREAM, KEY = "ENGRAM_PROXY_UPSTREAM", "ENGRAM_PROXY_KEY"
"""What older clients set; the settings come first."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A server that answers: where, over which file, and how its owner comes in."""

    url: str
    file: str
    link: str
    """The page's address; where a secret is needed it lets a browser in, once."""
    secret: str
    """The file with the owner's secret; empty where there is none."""


def serve_until_stopped(
    run: CommandRun, config: Config, ready: Callable[[Ready], None], *, alone: bool = False, at: str = ""
) -> None:
    """Answer until told to stop. `alone`: nothing but the proxy; `at`: a Unix socket, not an address."""
    with _needs_server():
        from engram.engine import Engram
        from engram.server import app, caller, metrics
        from engram.server.proxy import mounting as proxy
        from engram.server.route import ROUTES
    secret = not (config.server.api_key or config.server.is_open)  # one is to be made
    if secret:
        key = caller.local_secret(beside(place(run.file)))
        config = replace(config, server=replace(config.server, api_key=key))
    settings = config.server
    doors: list[app.Mounting] = [] if alone else [app.on_first_request("/mcp", _mcp)]
    if config.proxy.base_url:
        doors.append(proxy.mount(config.proxy))
    doors += [door for _, door in plugins.installed("routes")]
    access = Access(run.scope)
    routes = () if alone else ROUTES
    asgi = app.build(lambda: Engram.open(run.file, config=config, access=access), settings, doors, routes)
    with app.listen_at(at) if at else app.listen(settings.host, settings.port) as sock:
        memory_host = asgi.state.memory_host
        memory_host.reload = lambda: values(run.config)
        memory_host.open()
        try:
            if not at:
                app.check_open(settings.host, memory_host)
            metrics.write_to(level=logging.WARNING if run.quiet else logging.INFO)
            url = f"unix:{at}" if at else address_of(settings.host, sock.getsockname()[1])

            def tell() -> None:
                path = memory_host.memory.path
                key_file = str(caller.secret_file(beside(place(run.file)))) if secret else ""
                ready(Ready(url, path, url + memory_host.login_path(), key_file))

            app.serve(asgi, sock, tell)
        finally:
            memory_host.close()


def _mcp() -> app.Mounting:
    """MCP: its SDK is a third of the server's memory."""
    from engram.server.mcp.serving import mount

    return mount


def with_access(config: Config, *, is_open: bool) -> Config:
    """The settings with what the command line says of who is let in. Raises ConfigError."""
    if not is_open:
        return config
    if config.server.api_key:
        raise ConfigError("--open lets everybody on this machine in, but `server.api_key` is set.")
    return replace(config, server=replace(config.server, access="open"))


def with_address(config: Config, host: str | None, port: int | None) -> Config:
    """The settings with an address from the command line."""
    chosen: dict[str, Any] = {"host": host, "port": port}
    named = {name: value for name, value in chosen.items() if value is not None}
    return replace(config, server=replace(config.server, **named))


def address_of(host: str, port: int) -> str:
    """The address of a server, as one types it."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def with_upstream(config: Config, upstream: str | None = None) -> Config:
    """The settings with a service from the command line or the environment."""
    base_url = upstream or config.proxy.base_url or os.environ.get(UPSTREAM, "")
    key = config.proxy.api_key or os.environ.get(KEY, "")
    return replace(config, proxy=replace(config.proxy, base_url=base_url, api_key=key))


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
    help="Processes that recall beside this one while several ask at once; by the cores if not said.",
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
    run: CommandRun, host: str | None, port: int | None, workers: int | None, is_open: bool, at: str | None
) -> None:
    """Serve the memory over HTTP.

    Who asks brings a secret: a token of `engram token create`, or the owner's own, which is made at the first
    start and kept beside the memory file. The link that is printed lets a browser in, once. With --open,
    callers on this machine need none: never put a proxy before such a server. A Unix socket is open to its
    owner. SIGTERM and Ctrl-C finish what is under way, write what waits, and leave nothing behind.
    """
    config = with_upstream(with_address(run.config, host, port))
    config = with_access(config, is_open=is_open or bool(at))
    # One process for each core but the one that serves; each takes memory, so not many.
    spare_cores = min(os.cpu_count() or 1, MOST_CORES) - 1
    recalling = (config.recall.processes or spare_cores) if workers is None else workers
    config = replace(config, recall=replace(config.recall, processes=recalling))
    serve_until_stopped(run, config, lambda ready: _say_ready(run, config, ready, at or ""), at=at or "")


MOST_CORES = 4


def _say_ready(run: CommandRun, config: Config, ready: Ready, at: str) -> None:
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
    value = {"url": ready.url, "file": ready.file, "link": ready.link, "secret_file": ready.secret}
    tell(run, value, *map(uncut, lines), quiet=[ready.link])
    sys.stdout.flush()


@command("page")
@click.option("--host", metavar="ADDRESS", help="Where the server listens; this machine if not said.")
@click.option("--port", type=click.IntRange(1, 65_535), metavar="N", help="Which port; 3917 if not said.")
@pass_run
def page(run: CommandRun, host: str | None, port: int | None) -> None:
    """Print a link that opens the page of a running server.

    The link lets a browser in once, without a password. Needs to read the secret beside the memory file, or
    `server.api_key`.
    """
    with _needs_server():
        from engram.server.caller import PATH, known_secret
    config = with_address(run.config, host, port)
    secret = config.server.api_key or known_secret(beside(place(run.file)))
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
    tell(run, {"link": link}) if run.json else click.echo(link)


# ---------------------------------------------------------------- proxy
# `engram proxy`: a proxy before a model service, until it is told to stop.

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
def proxy(run: CommandRun, upstream: str | None, host: str | None, port: int | None, is_open: bool) -> None:
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
    serve_until_stopped(run, config, lambda ready: _say_ready_proxy(run, config, ready), alone=True)


def _say_ready_proxy(run: CommandRun, config: Config, ready: Ready) -> None:
    url, upstream = f"{ready.url}/v1", config.proxy.base_url
    header = f"X-Engram-Token: $(cat {shlex.quote(ready.secret)})"
    lines = [
        text(("engram stands before ", "bold"), (upstream, "cyan"), (f"   {ready.file}", "dim")),
        text(("  base URL   ", "dim"), (url, "bold cyan")),
        text(("  or         ", "dim"), f"export OPENAI_BASE_URL={url}"),
        *([uncut(text(("  header     ", "dim"), header))] if ready.secret else []),
        text(("Ctrl-C stops it.", "dim")),
    ]
    value = {"url": url, "upstream": upstream, "file": ready.file, "secret_file": ready.secret}
    tell(run, value, *lines, quiet=[url])
    sys.stdout.flush()


# ---------------------------------------------------------------- token
# `engram token …`: who may come in from outside.


@presented("create", Spelling("tokens.create"))
def create(run: CommandRun, issued: Issued) -> None:
    """Make a token and show its secret, this once.

    NAME is who uses it. Its place is the one that --namespace, --project, --agent and the like name.
    """
    issued_token = issued.token
    what = f"{issued_token.id} for {line(issued_token.name)}, {issued_token.role} of {issued_token.scope}"
    once = "it is not kept anywhere: copy it now. Send it as Authorization: Bearer …"
    lines = done("made", what), text((issued.secret, "bold cyan")), text((once, "dim"))
    tell(run, issued, *lines, quiet=[issued.secret])


@presented("list", Spelling("tokens.list"))
def list_tokens(run: CommandRun, tokens: Sequence[Token]) -> None:
    """List tokens, oldest first; secrets are not kept."""
    now, rows = run.clock.now(), []
    for token_ in tokens:
        used = age(token_.last_used, now) if token_.last_used else "never"
        end = "revoked" if token_.revoked_at else "expired" if not token_.is_valid(now) else used
        rows.append((token_.id, str(token_.role), end, line(token_.name), line(str(token_.scope))))
    listing = table(("id", "role", "used", "name", "place"), rows)
    none = text(("no tokens yet. ", "bold"), ("make one: engram token create NAME", "dim"))
    tell(run, tokens, listing if tokens else none, quiet=[token_.id for token_ in tokens])


@presented("revoke", Spelling("tokens.revoke"))
def revoke(run: CommandRun, gone: Token) -> None:
    """Take a token back, by its id or its name: it lets nobody in any more."""
    say(run, text(("revoked ", "bold yellow"), f"{gone.id} of {line(gone.name)}"))


def token() -> click.Group:
    """The group of commands about tokens."""
    help_ = "Let others in: make, list and revoke tokens of the server."
    group = Group("token", help=help_, otherwise="list")
    for command_of in (create, list_tokens, revoke):
        group.add_command(command_of())
    return group
