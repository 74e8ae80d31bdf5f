"""The caller: who a request comes from. Its headers come in; a `Caller` goes out.

Everybody brings a secret: the owner's own, a token, or the cookie that the owner's link left in a browser.
What it says is believed, never what a body or a query says, nor where a request comes from. Only a server
that was started open takes whoever reaches it directly from this machine for its owner.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any

from engram.errors import ConfigError
from engram.lazily import dataclass
from engram.model.scope import Access, Role, Token
from engram.rules.sealing import BEGINNING, SECRET_BYTES, digest_of, match, secret_from
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


@lru_cache(maxsize=1_000)
def is_loopback(address: str) -> bool:
    """Whether an address is only another name for this machine.

    >>> is_loopback("127.0.0.9"), is_loopback("::1"), is_loopback("192.0.2.1"), is_loopback("localhost")
    (True, True, False, True)
    """
    if address == "localhost":
        return True
    try:
        parsed = ipaddress.ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return bool((mapped or parsed).is_loopback)


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
        if has_valid_cookie(headers, key) or (is_open and is_local(scope, headers)):
            return OWNER
        raise TokenNeeded(given=False)
    if key and match(secret, [(digest_of(key), OWNER)]) is OWNER:
        return OWNER
    token = bearer(secret)
    if token is None:
        raise TokenNeeded(given=True)
    return Caller(f"token:{token.id}", token.name, token.access, token.id)


# ---------------------------------------------------------------- login
# Letting the owner in: the secret beside the memory file, the link that is printed once, the page's cookie.
#
# Who asks is never guessed from an address. The server makes a secret at its first start and keeps it in a
# file
# that only its owner can read; whoever can read it is the owner. A browser cannot send it by itself, so the
# server prints a link that works once and leaves a cookie behind.

ENDING = ".secret"
"""How the file beside the memory file is called: `memory.db.secret`."""
PATH = "/login"
CODE = "once"
"""The part of the link's query that lets somebody in."""
CODE_BYTES = 16
"""Enough for what works once, and short enough for a line of a terminal."""
LINKS = 100
"""So many links wait at most; the oldest is forgotten."""
COOKIE_DAYS = 30
_FIELD = "engram"


def secret_file(memory: str | Path) -> Path:
    """Where the secret of a memory file is kept."""
    return Path(f"{memory}{ENDING}")


def local_secret(memory: str | Path) -> str:
    """The secret beside a memory file, made when there is none yet. Raises ConfigError."""
    path = secret_file(memory)
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            _make(path)
        return _read(path)
    except OSError as error:
        raise ConfigError(
            f"The server's secret cannot be kept in {path} ({error.strerror or error}): "
            "set `server.api_key`, or start it with --open."
        ) from error


def known_secret(memory: str | Path) -> str | None:
    """The secret beside a memory file; None when no server has made one. Raises ConfigError."""
    path = secret_file(memory)
    try:
        return _read(path) if path.exists() else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror or error}).") from error


def _make(path: Path) -> None:
    """Write a new secret, whole or not at all; another server that was quicker wins."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secret_from(secrets.token_bytes(SECRET_BYTES)) + "\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()


def _read(path: Path) -> str:
    secret = path.read_text(encoding="ascii", errors="replace").strip()
    if not secret.startswith(BEGINNING) or len(secret) < SECRET_BYTES:
        raise ConfigError(f"{path} holds no secret of ours: remove it, and the server makes a new one.")
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)  # others could read it, by whatever copied it
    return secret


class Links:
    """Codes that let somebody in once. They live as long as the server; any thread may use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}

    def make(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(CODE_BYTES)
        with self._lock:
            self._waiting[code] = None
            if len(self._waiting) > LINKS:
                del self._waiting[next(iter(self._waiting))]
        return code

    def take(self, code: str) -> bool:
        """Whether the code lets somebody in; it never does again."""
        with self._lock:
            same = (other for other in self._waiting if hmac.compare_digest(other.encode(), code.encode()))
            matched = next(same, None)
            if matched is not None:
                del self._waiting[matched]
        return matched is not None


def cookie_name(headers: Mapping[str, str]) -> str:
    """A cookie belongs to a host, whatever the port: two servers of one machine must not share its name.

    >>> cookie_name({"host": "127.0.0.1:3917"}), cookie_name({"host": "localhost"})
    ('engram_3917', 'engram_80')
    """
    _, _, port = headers.get("host", "").rpartition(":")
    return f"{_FIELD}_{port if port.isdigit() else 80}"


def cookie_from(key: str, now: Callable[[], float] = time.time) -> str:
    """What a browser that was let in shows from now on: it says when, and takes the secret to make."""
    at = str(int(now()))
    return f"{at}.{_cookie_seal(key, at)}"


def has_valid_cookie(headers: Mapping[str, str], key: str, now: Callable[[], float] = time.time) -> bool:
    """Whether a request carries a cookie that was made here and is still good."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(cookie_name(headers))
    except CookieError:
        return False
    at, _, seal = cookie.value.partition(".") if cookie is not None else ("", "", "")
    if not key or not at.isascii() or not at.isdigit():
        return False
    fresh = 0 <= now() - int(at) <= COOKIE_DAYS * 86_400
    return fresh and hmac.compare_digest(seal.encode("utf-8", "replace"), _cookie_seal(key, at).encode())


def _cookie_seal(key: str, at: str) -> str:
    return hmac.new(key.encode("utf-8", "surrogatepass"), f"page of engram {at}".encode(), sha256).hexdigest()


# ---------------------------------------------------------------- keys
# Keys: a client of the proxy carries the key of a model service, and perhaps a token of ours.
#
# Ours says who asks and is never passed on; the other is passed on and never kept.

TOKEN = "x-engram-token"  # noqa: S105 (the name of a header)
KEYS = frozenset({"authorization", "x-api-key", TOKEN})


def own_keys_only(headers: Mapping[str, str], secret: str = "") -> dict[str, str]:
    """The headers as far as they tell us who asks: a token of ours stays, a key of another service does not.

    `secret` is the owner's own, where one is set.

    >>> own_keys_only({"authorization": "Bearer sk-1", "host": "localhost"})
    {'host': 'localhost'}
    >>> own_keys_only({"authorization": "Bearer sk-1", "x-engram-token": "engram_a"})
    {'authorization': 'Bearer engram_a'}
    """
    rest = {name: value for name, value in headers.items() if name not in KEYS}
    token = headers.get(TOKEN) or _own_bearer(headers, secret)
    return rest | {"authorization": f"Bearer {token}"} if token else rest


def authorization(headers: Mapping[str, str], api_key: str, secret: str = "") -> dict[str, str]:
    """What the model service is told of who asks: the key of the settings, or the caller's own.

    >>> authorization({"authorization": "Bearer sk-1"}, ""), authorization({"x-api-key": "engram_a"}, "sk-2")
    ({'authorization': 'Bearer sk-1'}, {'authorization': 'Bearer sk-2'})
    >>> authorization({"authorization": "Bearer engram_a"}, "")
    {}
    """
    if api_key:
        return {"authorization": f"Bearer {api_key}"}
    if _own_bearer(headers, secret):
        return {}
    return {name: headers[name] for name in ("authorization", "x-api-key") if headers.get(name)}


def mark_of(headers: Mapping[str, str], user: str = "") -> str:
    """A short mark that tells bearers, and users they speak for, apart and from which no key can be found."""
    secret = headers.get(TOKEN) or bearer_of(headers) or ""
    if not secret and not user:
        return "local"
    text = f"session of {secret}\n{user}" if user else f"session of {secret}"
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _own_bearer(headers: Mapping[str, str], secret: str) -> str | None:
    """The secret of a request if it is one of ours: a token, or the owner's."""
    bearer = bearer_of(headers)
    if bearer is None:
        return None
    owners = bool(secret) and compare_digest(bearer.encode("utf-8", "surrogatepass"), secret.encode())
    return bearer if owners or bearer.startswith(BEGINNING) else None
