"""`engram mcp`: an MCP client starts this and speaks to the memory over stdin and stdout."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from engram.cli.options import CommandRun, command, pass_run
from engram.errors import ConfigError
from engram.model.scope import Access, Role

if TYPE_CHECKING:
    from engram.engine import Engram

ROLES = [str(role) for role in Role]


@command("mcp")
@click.option(
    "--tools",
    "toolset",
    type=click.Choice(["pinned", "full", "retention"]),
    default="pinned",
    show_default=True,
    help="A dozen tools, all of them, or those that clients of retention know.",
)
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default=str(Role.AGENT),
    show_default=True,
    help="What the client is allowed: agents see their own place and those above it.",
)
@pass_run
def mcp(run: CommandRun, toolset: str, role: str) -> None:
    """Serve an MCP client over stdin and stdout.

    Who asks is said here and nowhere else: --agent, --project and the other parts of a place, and --role.
    Ends when stdin ends. `engram setup` writes this command into a client's configuration.
    """
    from engram.server.mcp.stdio import serve

    if find_spec("mcp_types") is None:  # comes with the SDK from its second version on
        found = "an older version of the mcp package is here" if find_spec("mcp") else "mcp is missing"
        raise ConfigError(f"The MCP door needs mcp 2, and {found}: pip install 'engram-cortex[server]'.")

    def opened() -> Engram:
        from engram.engine import Engram

        access = Access(run.scope, Role(role))
        return Engram.open(
            run.file, config=run.config, access=access, actor=run.agent or "mcp", clock=run.clock
        )

    serve(opened, toolset=toolset)
