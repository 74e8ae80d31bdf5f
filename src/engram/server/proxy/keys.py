"""Keys: a client of the proxy carries the key of a model service, and perhaps a token of ours.

Ours says who asks and is never passed on; the other is passed on and never kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest

from engram.rules.secrets import BEGINNING
from engram.server.caller import bearer_of

TOKEN = "x-engram-token"  # noqa: S105 (the name of a header)
KEYS = frozenset({"authorization", "x-api-key", TOKEN})


def own_only(headers: Mapping[str, str], secret: str = "") -> dict[str, str]:
    """The headers as far as they tell us who asks: a token of ours stays, a key of another service does not.

    `secret` is the owner's own, where one is set.

    >>> own_only({"authorization": "Bearer sk-1", "host": "localhost"})
    {'host': 'localhost'}
    >>> own_only({"authorization": "Bearer sk-1", "x-engram-token": "engram_a"})
    {'authorization': 'Bearer engram_a'}
    """
    rest = {name: value for name, value in headers.items() if name not in KEYS}
    token = headers.get(TOKEN) or _ours(headers, secret)
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
    if _ours(headers, secret):
        return {}
    return {name: headers[name] for name in ("authorization", "x-api-key") if headers.get(name)}


def mark_of(headers: Mapping[str, str], user: str = "") -> str:
    """A short mark that tells bearers, and users they speak for, apart and from which no key can be found."""
    secret = headers.get(TOKEN) or bearer_of(headers) or ""
    if not secret and not user:
        return "local"
    told = f"session of {secret}\n{user}" if user else f"session of {secret}"
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _ours(headers: Mapping[str, str], secret: str) -> str | None:
    """The secret of a request if it is one of ours: a token, or the owner's."""
    given = bearer_of(headers)
    if given is None:
        return None
    owners = bool(secret) and compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())
    return given if owners or given.startswith(BEGINNING) else None
