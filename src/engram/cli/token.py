"""`engram token …`: who may come in from outside."""

from __future__ import annotations

from datetime import datetime

import click

from engram.cli.options import Group, Run, pass_run
from engram.cli.output import age, line, say, say_json, table, text
from engram.cli.values import When, one_of
from engram.model.scope import Role
from engram.model.token import Token


@click.group("token", cls=Group, otherwise="list")
def token() -> None:
    """Let others in: make, list and revoke tokens of the server."""


@token.command("create")
@click.argument("name")
@click.option("--role", type=one_of(Role), default="agent", show_default=True, help="What it may do.")
@click.option("--expires", "expires_at", type=When(ahead=True), help="When it ends: 2026-12-31, or 30d.")
@click.option("--timezone", default="", help="Where its bearer is: Europe/Oslo, or +02:00.")
@pass_run
def create(run: Run, name: str, role: str, expires_at: datetime | None, timezone: str) -> None:
    """Make a token and show its secret, this once.

    NAME is who uses it. Its place is the one that --namespace, --project, --agent and the like name.
    """
    with run.open(makes=True) as memory:
        issued = memory.tokens.create(name, role, scope=run.scope, expires_at=expires_at, timezone=timezone)
    if run.json:
        say_json(issued)
    elif run.quiet:
        say(run, issued.secret)
    else:
        say(
            run,
            text(
                ("made ", "bold green"),
                f"{issued.token.id} for {line(issued.token.name)}, {role} of {issued.token.scope}",
            ),
            text((issued.secret, "bold cyan")),
            text(("it is not kept anywhere: copy it now. Send it as Authorization: Bearer …", "dim")),
        )


@token.command("list")
@click.option("--revoked", is_flag=True, help="Also those that were taken back.")
@pass_run
def list_tokens(run: Run, revoked: bool) -> None:
    """List tokens, oldest first; secrets are not kept."""
    with run.open(whole_file=True) as memory:
        found = memory.tokens.list(revoked=revoked)
    if run.json:
        say_json({"tokens": found})
    elif run.quiet:
        say(run, *(one.id for one in found))
    elif found:
        now = run.clock.now()
        say(run, table(("id", "role", "used", "name", "place"), [_row(one, now) for one in found]))
    else:
        say(run, text(("there is none. ", "bold"), ("make one: engram token create NAME", "dim")))


def _row(one: Token, now: datetime) -> tuple[str, ...]:
    used = age(one.last_used, now) if one.last_used else "never"
    end = "revoked" if one.revoked_at else "expired" if not one.is_valid(now) else used
    return one.id, str(one.role), end, line(one.name), line(str(one.scope))


@token.command("revoke")
@click.argument("token_id", metavar="ID")
@pass_run
def revoke(run: Run, token_id: str) -> None:
    """Take a token back, by its id or its name: it lets nobody in any more."""
    with run.open(whole_file=True) as memory:
        gone = memory.tokens.revoke(token_id)
    if run.json:
        say_json(gone)
    else:
        say(run, text(("revoked ", "bold yellow"), f"{gone.id} of {line(gone.name)}"))
