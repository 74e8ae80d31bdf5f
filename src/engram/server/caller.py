"""The caller: who a request comes from. Its headers come in; a `Caller` goes out.

Everybody brings a secret: the owner's own, a token, or the cookie that the owner's link left in a browser.
What it says is believed, never what a body or a query says, nor where a request comes from. Only a server
that was started open takes whoever reaches it directly from this machine for its owner.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engram.model.scope import Access, Role, Token
from engram.rules.secrets import digest_of, match
from engram.server.login import shows_cookie
from engram.server.problems import TokenNeeded

FORWARDED = frozenset(
    {
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "true-client-ip",
        "x-original-host",
    }
)
FORWARDED_BEGINNINGS = ("x-forwarded-", "cf-", "x-envoy-")
"""Headers of a proxy: behind one, the peer's address says nothing about who asks."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks."""

    id: str
    """What their requests are counted under."""
    actor: str
    access: Access | None = None
    """What they may see and change; None: all that the server itself may."""
    token: str = ""
    """The id of the token that let them in, where one did."""

    @property
    def is_owner(self) -> bool:
        """Whether they may look after a place, or the whole file."""
        return self.access is None or self.access.role is Role.OWNER


OWNER = Caller("local", "human")
NOBODY = Caller("nobody", "nobody", Access(role=Role.READER))
"""For what everybody may ask: the health."""


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """The secret that a request carries.

    >>> bearer_of({"authorization": "Bearer abc"}), bearer_of({"authorization": "Bearer "})
    ('abc', None)
    """
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return secret.strip() or None
    return headers.get("x-api-key") or None


def is_local(scope: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    """Whether a request comes straight from this machine and was meant for it.

    HTTP/1.0 is what a proxy speaks that was set up in one line; no client of ours does.
    """
    client = scope.get("client")  # a Unix socket has none
    near = client is None or is_loopback(client[0])
    direct = not is_forwarded(headers) and scope.get("http_version") != "1.0"
    return near and direct and is_loopback(host_of(headers))


def is_forwarded(headers: Mapping[str, str]) -> bool:
    """Whether a proxy has left its mark.

    >>> (
    ...     is_forwarded({"x-forwarded-proto": "https"}),
    ...     is_forwarded({"cf-ray": "1"}),
    ...     is_forwarded({"host": "a"}),
    ... )
    (True, True, False)
    """
    return any(name in FORWARDED or name.startswith(FORWARDED_BEGINNINGS) for name in headers)


def is_loopback(address: str) -> bool:
    """Whether an address is only another name for this machine.

    >>> is_loopback("127.0.0.9"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    if address == "localhost":
        return True
    try:
        found = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return bool((mapped or found).is_loopback)


def host_of(headers: Mapping[str, str]) -> str:
    """The host name a request was meant for, without its port.

    >>> host_of({"host": "LOCALHOST:3917"}), host_of({"host": "[::1]:80"})
    ('localhost', '[::1]')
    """
    host = headers.get("host", "").strip().lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and not name.endswith(":") else host


def caller_from(
    scope: Mapping[str, Any],
    headers: Mapping[str, str],
    bearer: Callable[[str], Token | None],
    key: str = "",
    *,
    is_open: bool = False,
) -> Caller:
    """Who asks. `key` is the owner's secret, if there is one; `is_open`: this machine needs none.

    Raises TokenNeeded.
    """
    secret = bearer_of(headers)
    if secret is None:
        if shows_cookie(headers, key) or (is_open and is_local(scope, headers)):
            return OWNER
        raise TokenNeeded(given=False)
    if key and match(secret, [(digest_of(key), OWNER)]) is OWNER:
        return OWNER
    token = bearer(secret)
    if token is None:
        raise TokenNeeded(given=True)
    return Caller(f"token:{token.id}", token.name, token.access, token.id)
