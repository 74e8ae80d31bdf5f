"""What `serve` and `proxy` share: settings become a server that answers until it is told to stop."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engram.errors import ConfigError
from engram.model.scope import Access

if TYPE_CHECKING:
    from engram.cli.options import Run
    from engram.config import Config
    from engram.engine import Engram

UPSTREAM, KEY = "ENGRAM_PROXY_UPSTREAM", "ENGRAM_PROXY_KEY"
"""What older clients set; the settings come first."""


def served(run: Run, config: Config, ready: Callable[[str, str], None], *, alone: bool = False) -> None:
    """Answer until told to stop; `ready` hears the address and the file. `alone`: nothing but the proxy."""
    try:
        from engram.server import app, journal, serve
        from engram.server.mcp.mounting import mount
        from engram.server.proxy import mounting as proxy
        from engram.server.routes import ROUTES
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is missing: pip install 'engram-cortex[server]' brings it."
        ) from error
    settings = config.server
    doors: list[app.Mounting] = [] if alone else [mount]
    if config.proxy.base_url:
        doors.append(proxy.mount(config.proxy))
    made = app.build(lambda: _open(run, config), settings, doors, () if alone else ROUTES)
    with serve.listen(settings.host, settings.port) as sock:
        made.state.house.open()
        try:
            serve.check_open(settings.host, made.state.house)
            journal.write_to(level=logging.WARNING if run.quiet else logging.INFO)
            address = _address(settings.host, sock.getsockname()[1])
            serve.serve(made, sock, lambda: ready(address, made.state.house.memory.path))
        finally:
            made.state.house.close()


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


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def with_upstream(config: Config, upstream: str | None = None) -> Config:
    """The settings with a service from the command line or the environment."""
    given = upstream or config.proxy.base_url or os.environ.get(UPSTREAM, "")
    key = config.proxy.api_key or os.environ.get(KEY, "")
    return replace(config, proxy=replace(config.proxy, base_url=given, api_key=key))
