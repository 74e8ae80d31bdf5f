"""The caller: who a request comes from. Headers and the peer's address come in; a `Caller` goes out.

Whoever sits at this machine and names it as such is the owner, without a token. Everybody else brings one;
what it says is believed, never what a body or a query says.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engram.model.scope import Access, Role
from engram.model.token import Token
from engram.security.tokens import digest_of, match
from engram.server.refusals import TokenNeeded

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
FORWARDED = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
"""Headers of a proxy: behind one, the peer's address says nothing about who asks."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks."""

    id: str
    """What their requests are counted under."""
    actor: str
    access: Access | None = None
    """What they may see and change; None: all that the server itself may."""

    @property
    def is_owner(self) -> bool:
        """Whether they may look after the whole file."""
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
    """Whether a request comes from this machine, was meant for it, and through no proxy."""
    peer = (scope.get("client") or ("", 0))[0]
    return is_loopback(peer) and host_of(headers) in LOOPBACK_NAMES and not FORWARDED & headers.keys()


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
    scope: Mapping[str, Any], headers: Mapping[str, str], bearer: Callable[[str], Token | None], key: str = ""
) -> Caller:
    """Who asks. `key` is the owner's secret, where one is set; then nobody comes in without a secret.

    Raises TokenNeeded.
    """
    secret = bearer_of(headers)
    if secret is None:
        if is_local(scope, headers) and not key:
            return OWNER
        raise TokenNeeded(given=False)
    if key and match(secret, [(digest_of(key), OWNER)]) is OWNER:
        return OWNER
    token = bearer(secret)
    if token is None:
        raise TokenNeeded(given=True)
    return Caller(f"token:{token.id}", token.name, token.access)
