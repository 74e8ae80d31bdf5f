"""Problems: an error comes in; its status and a problem document (RFC 9457) go out. One table decides."""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.responses import Response

from engram import errors
from engram.errors import DoorError, EngramError, NotFound, TooManyRecalls, TooMuchWritten
from engram.model.plain import plain

# ---------------------------------------------------------------- refusals
# What the server refuses, each with a stable code: the branch of the tree of errors that grows at this
# door.


class TokenNeeded(DoorError):
    """The request carries no token, or one that is not valid."""

    code, status = "E6001", 401

    def __init__(self, *, given: bool) -> None:
        reason = "The token is not valid, or was revoked" if given else "A token is needed"
        super().__init__(
            f"{reason}: send `Authorization: Bearer …` with one of `engram token create`, "
            "or with the secret that the server keeps beside its memory file."
        )
        self.given = given


class HostRefused(DoorError):
    """The request was meant for another host name than this server goes by."""

    code, status = "E6002", 421
    says = "This server does not go by the name {host!r}: add it to `server.hosts`."


class OriginRefused(DoorError):
    """A page of another site tried to reach the server through a browser."""

    code, status = "E6003", 403
    says = "Pages of {origin!r} may not ask here: add it to `server.origins`."


class BodyTooLarge(DoorError):
    """A request brings more than is taken at once."""

    code, status = "E6004", 413
    says = "The body is larger than {limit:,} bytes: send it in parts."


class BadBody(DoorError):
    """The body of a request cannot be read."""

    code, status = "E6005", 400


class TooManyRequests(DoorError):
    """A caller asks more often than it may."""

    code, status = "E6006", 429
    says = "{limit:,} requests a minute are taken from a caller: wait {seconds:.0f} s."


class TookTooLong(DoorError):
    """A call was not finished in time."""

    code, status = "E6007", 504
    says = (
        "No answer within {seconds:g} s, and the work was ended. Part of it may be done: look first, or "
        "send less at once."
    )


class BodyTooSlow(DoorError):
    """The body of a request did not come in time."""

    code, status = "E6020", 408
    says = "The body did not come within {seconds:g} s: send it again, faster or in parts."


class CallerGone(DoorError):
    """Whoever asked has closed the connection; nobody reads this."""

    code, status = "E6021", 499
    says = "The caller has gone: the work was ended."


class KeyReused(DoorError):
    """An idempotency key came again with another request."""

    code, status = "E6008", 409
    says = "The key {key!r} was used for another request: take a new one."


class NoSuchRoute(DoorError):
    """Nothing is served at this address."""

    code, status = "E6009", 404
    says = "Nothing is served at {path!r}: /docs lists every route."


class WrongMethod(DoorError):
    """The address is served, but not this way."""

    code, status = "E6010", 405
    says = "{method:.20} is not served here; known are: {known}."


class AddressTaken(DoorError):
    """The server cannot listen where it should."""

    code, status = "E6011", 500

    def __init__(self, host: str, port: int, why: str) -> None:
        place, other = (
            (f"{host}:{port}", "--port") if port or ":" in host or "/" not in host else (host, "--socket")
        )
        super().__init__(f"Cannot listen on {place} ({why}): choose another with {other}.")
        self.host, self.port, self.why = host, port, why


class OpenToAll(DoorError):
    """A server that lets nobody in, or that other machines reach without any secret."""

    code = "E6012"
    says = (
        "A server on {host} needs a secret: leave out --open, set `server.api_key`, or run `engram "
        "token create` first."
    )


class UpstreamDown(DoorError):
    """The model service behind the proxy gives no answer."""

    code, status = "E6013", 502
    says = "The model service at {place} {what}: look at `proxy.base_url` and at the service."


class UpstreamLate(UpstreamDown):
    """The model service behind the proxy was silent for too long."""

    code, status = "E6014", 504


MEDIA_TYPE = "application/problem+json"
BUG = EngramError("A bug in engram: the server's log tells more under this request's id.")

# The first that fits counts, so a kind stands before what it is a kind of; what is not here is 500.
STATUS: tuple[tuple[int, tuple[type[EngramError], ...]], ...] = (
    (404, (NotFound, errors.UnknownRun, errors.UnknownSession)),
    (409, (errors.AmbiguousId, errors.BadTransition, errors.CycleRefused)),
    (409, (errors.UpkeepBusy, errors.ModelNeeded)),
    (413, (errors.SourceTooLarge, errors.TooMany)),
    (400, (errors.InvalidInput,)),
    (403, (errors.AccessDenied,)),
    (429, (TooManyRecalls, TooMuchWritten)),
    (507, (errors.DiskFull,)),
    (503, (errors.WorkCancelled, errors.Overloaded, errors.MemoryFull, errors.StoreBusy, errors.StoreClosed)),
    (503, (errors.EmbedderError, errors.RerankerDown)),
)
RETRY_AFTER_S = 1
PLAIN = (str, int, float, bool, tuple, list)


def status_of(error: EngramError) -> int:
    """The status an error is answered with.

    >>> status_of(NotFound("7f3a")), status_of(EngramError("?"))
    (404, 500)
    """
    own = getattr(type(error), "status", None)
    return own or next((status for status, kinds in STATUS if isinstance(error, kinds)), 500)


def document(error: EngramError) -> dict[str, Any]:
    """The problem in words and facts.

    >>> document(NotFound("7f3a"))["title"]
    'Not found'
    """
    attributes = {name: value for name, value in vars(error).items() if name != "message"}
    facts = {name: value for name, value in attributes.items() if value is None or isinstance(value, PLAIN)}
    title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__)
    return {
        "type": f"urn:engram:error:{error.code}",
        "title": title[0] + title[1:].lower(),
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
    if isinstance(error, TooManyRequests | TooManyRecalls | TooMuchWritten):
        return {"Retry-After": str(max(1, round(error.seconds or RETRY_AFTER_S)))}
    if isinstance(error, WrongMethod):
        return {"Allow": ", ".join(error.known)}
    return {"Retry-After": str(RETRY_AFTER_S)} if status_of(error) == 503 else {}  # noqa: PLR2004 (HTTP's number)
