"""Problems: an error comes in; its status and a problem document (RFC 9457) go out. One table decides."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.responses import Response

from engram.errors import (
    AccessDenied,
    AmbiguousId,
    BadTransition,
    ConfigError,
    CycleRefused,
    DiskFull,
    EmbedderError,
    EngramError,
    InvalidInput,
    ModelNeeded,
    NotFound,
    Overloaded,
    RerankerDown,
    SourceTooLarge,
    StoreBusy,
    StoreClosed,
    StoreError,
    TooMany,
    TooManyRecalls,
    UpkeepBusy,
    WorkCancelled,
)
from engram.model.plain import plain
from engram.server.refusals import (
    AddressTaken,
    BadBody,
    BodyTooLarge,
    BodyTooSlow,
    CallerGone,
    HostRefused,
    KeyReused,
    NoSuchRoute,
    OriginRefused,
    TokenNeeded,
    TookTooLong,
    TooManyRequests,
    UpstreamDown,
    UpstreamLate,
    WrongMethod,
)

MEDIA_TYPE = "application/problem+json"
BUG = EngramError("A bug in engram: the server's log tells more under this request's id.")

# The first that fits counts, so a kind stands before what it is a kind of.
STATUS: tuple[tuple[type[EngramError], int], ...] = (
    (NotFound, 404),
    (AmbiguousId, 409),
    (BadTransition, 409),
    (CycleRefused, 409),
    (SourceTooLarge, 413),
    (TooMany, 413),
    (InvalidInput, 400),
    (AccessDenied, 403),
    (TooManyRecalls, 429),
    (TokenNeeded, 401),
    (HostRefused, 421),
    (OriginRefused, 403),
    (BodyTooLarge, 413),
    (BadBody, 400),
    (BodyTooSlow, 408),
    (CallerGone, 499),
    (TooManyRequests, 429),
    (TookTooLong, 504),
    (KeyReused, 409),
    (NoSuchRoute, 404),
    (WrongMethod, 405),
    (AddressTaken, 500),
    (UpstreamLate, 504),
    (UpstreamDown, 502),
    (UpkeepBusy, 409),
    (WorkCancelled, 503),
    (ModelNeeded, 409),
    (DiskFull, 507),
    (Overloaded, 503),
    (StoreBusy, 503),
    (StoreClosed, 503),
    (StoreError, 500),
    (EmbedderError, 503),
    (RerankerDown, 503),
    (ConfigError, 500),
)
RETRY_AFTER_S = 1


def status_of(error: EngramError) -> int:
    """The status an error is answered with.

    >>> status_of(NotFound("7f3a")), status_of(EngramError("?"))
    (404, 500)
    """
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def document(error: EngramError) -> dict[str, Any]:
    """The problem in words and facts.

    >>> document(NotFound("7f3a"))["title"]
    'Not found'
    """
    facts = {name: value for name, value in vars(error).items() if name != "message" and _is_plain(value)}
    return {
        "type": f"urn:engram:error:{error.code}",
        "title": _title(type(error).__name__),
        "status": status_of(error),
        "detail": error.message,
        "code": error.code,
        "facts": plain(facts),
    }


def response_to(error: EngramError) -> Response:
    """The whole answer."""
    return Response(
        json.dumps(document(error), ensure_ascii=False).encode("utf-8", "replace"),
        status_of(error),
        headers_of(error),
        MEDIA_TYPE,
    )


def headers_of(error: EngramError) -> dict[str, str]:
    """What else a failure says in its headers: how to come in, when to come again, what is served."""
    if isinstance(error, TokenNeeded):
        return {"WWW-Authenticate": 'Bearer realm="engram"'}
    if isinstance(error, TooManyRequests | TooManyRecalls):
        return {"Retry-After": str(max(1, round(error.seconds or RETRY_AFTER_S)))}
    if isinstance(error, WrongMethod):
        return {"Allow": ", ".join(error.known)}
    return {"Retry-After": str(RETRY_AFTER_S)} if status_of(error) == 503 else {}  # noqa: PLR2004 (HTTP's number)


def _title(name: str) -> str:
    """An error's name as words."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return spaced[0] + spaced[1:].lower()


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool | tuple | list)
