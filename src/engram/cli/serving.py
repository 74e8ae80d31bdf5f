"""What `serve` and `proxy` share: settings become a server that answers until it is told to stop."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engram.errors import ConfigError
from engram.model.scope import Access
from engram.opening import place

if TYPE_CHECKING:
    from engram.cli.options import Run
    from engram.config import Config
    from engram.engine import Engram

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


def served(
    run: Run, config: Config, ready: Callable[[Ready], None], *, alone: bool = False, at: str = ""
) -> None:
    """Answer until told to stop. `alone`: nothing but the proxy; `at`: a Unix socket, not an address."""
    try:
        from engram.server import app, journal, login, serve
        from engram.server.mcp.mounting import mount
        from engram.server.proxy import mounting as proxy
        from engram.server.routes import ROUTES
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is missing: pip install 'engram-cortex[server]' brings it."
        ) from error
    secret = _secret_needed(config)
    if secret:
        key = login.local_secret(place(run.file))
        config = replace(config, server=replace(config.server, api_key=key))
    settings = config.server
    doors: list[app.Mounting] = [] if alone else [mount]
    if config.proxy.base_url:
        doors.append(proxy.mount(config.proxy))
    made = app.build(lambda: _open(run, config), settings, doors, () if alone else ROUTES)
    with serve.listen_at(at) if at else serve.listen(settings.host, settings.port) as sock:
        house = made.state.house
        house.open()
        try:
            if not at:
                serve.check_open(settings.host, house)
            journal.write_to(level=logging.WARNING if run.quiet else logging.INFO)
            url = f"unix:{at}" if at else address_of(settings.host, sock.getsockname()[1])

            def tell() -> None:
                path = house.memory.path
                kept = str(login.secret_file(path)) if secret else ""
                ready(Ready(url, path, url + house.login_path(), kept))

            serve.serve(made, sock, tell)
        finally:
            house.close()


def _secret_needed(config: Config) -> bool:
    """Whether a secret is to be made: unless one is set, or none is wanted."""
    return not (config.server.api_key or config.server.is_open)


def with_access(config: Config, *, is_open: bool) -> Config:
    """The settings with what the command line says of who is let in. Raises ConfigError."""
    if not is_open:
        return config
    if config.server.api_key:
        raise ConfigError("--open lets everybody on this machine in, but `server.api_key` is set.")
    return replace(config, server=replace(config.server, access="open"))


def with_address(config: Config, host: str | None, port: int | None) -> Config:
    """The settings with an address from the command line."""
    server = replace(
        config.server,
        host=config.server.host if host is None else host,
        port=config.server.port if port is None else port,
    )
    return replace(config, server=server)


def _open(run: Run, config: Config) -> Engram:
    from engram.engine import Engram

    return Engram.open(run.file, config=config, access=Access(run.scope))


def address_of(host: str, port: int) -> str:
    """The address of a server, as one types it."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def with_upstream(config: Config, upstream: str | None = None) -> Config:
    """The settings with a service from the command line or the environment."""
    given = upstream or config.proxy.base_url or os.environ.get(UPSTREAM, "")
    key = config.proxy.api_key or os.environ.get(KEY, "")
    return replace(config, proxy=replace(config.proxy, base_url=given, api_key=key))
