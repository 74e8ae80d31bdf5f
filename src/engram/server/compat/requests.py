"""Requests of older clients: what they say, taken leniently, where they stand, and how they are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from engram.errors import (
    AccessDenied,
    AmbiguousId,
    EmbedderError,
    EngramError,
    InvalidInput,
    ModelNeeded,
    WrongType,
)
from engram.lazily import dataclass
from engram.model.scope import DEFAULT_NAMESPACE, Access, Role, Scope
from engram.operations.values import Style, reader
from engram.rules import screen
from engram.server import problems
from engram.server.caller import Caller
from engram.server.problems import BadBody, headers_of, status_of

if TYPE_CHECKING:
    from engram.engine import Engram


# ---------------------------------------------------------------- ask
# An ask: what a request of an older client says, taken leniently.
#
# Unknown names are passed over, numbers are brought into their range; what cannot be understood is refused.


LARGEST = 2**53
"""Numbers beyond this are none that a client meant."""
_NUMBER, _TRUTH = reader(float | None, Style.LENIENT), reader(bool | None, Style.LENIENT)
_WORDS = reader(Sequence[str] | None, Style.LENIENT)


@dataclass(frozen=True, slots=True)
class LenientRequest:
    """One request: who is asked, and what was said. The body's names win over those of the address."""

    memory: Engram
    given: Mapping[str, Any] = field(default_factory=dict)
    placed: Mapping[str, str] = field(default_factory=dict)
    """What stands in the path."""
    items: Sequence[Any] | None = None
    """The body, when it is a list."""
    headers: Mapping[str, str] = field(default_factory=dict)
    projects: dict[tuple[str, str], str] = field(default_factory=dict)
    """The project that each session of a namespace works on, as far as its client said; the server's own."""

    def has(self, name: str) -> bool:
        """Whether it was said; null is the same as nothing."""
        return self.given.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text. Without a default it must be there, and must not be empty."""
        value = self.given.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            raise InvalidInput(f"{name} is required")
        if not isinstance(value, str):
            raise WrongType(name, value, "text")
        if default is None and not value.strip():
            raise InvalidInput(f"{name} must not be empty")
        return value

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """A whole number, brought into its range."""
        number = self.number(name)
        return default if number is None else int(min(max(number, low), high))

    def page(self, usual: int, most: int, *, deepest: int = 10_000_000) -> tuple[int, int]:
        """How many of a list are wanted, and how many before them are not: `limit` and `offset`."""
        return self.whole("limit", usual, 1, most), self.whole("offset", 0, 0, deepest)

    def number(self, name: str) -> float | None:
        """A number, or None when there is none."""
        number = _NUMBER(name, self.given.get(name))
        return None if number is None else min(max(number, -LARGEST), LARGEST)

    def share(self, name: str) -> float | None:
        """A number between 0 and 1, brought into that range."""
        number = self.number(name)
        return None if number is None else min(max(number, 0.0), 1.0)

    def truth(self, name: str, *, default: bool = False) -> bool:
        """Yes or no."""
        truth = _TRUTH(name, self.given.get(name))
        return default if truth is None else bool(truth)

    def words(self, name: str) -> tuple[str, ...]:
        """A list of texts; one with commas is taken apart."""
        words = _WORDS(name, self.given.get(name)) or ()
        return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))

    def objects(self, name: str) -> list[Mapping[str, Any]]:
        """A list of objects; the body itself, when it is a list."""
        value = self.items_of(name)
        if not all(isinstance(item, Mapping) for item in value):
            raise WrongType(name, value, "a list of objects")
        return list(value)

    def items_of(self, name: str) -> Sequence[Any]:
        """A list of anything; the body itself, when it is a list."""
        value = self.items if self.items is not None else self.given.get(name)
        if not isinstance(value, list | tuple):
            raise WrongType(name, value, "a list of objects")
        return value

    def of(self, given: Mapping[str, Any]) -> LenientRequest:
        """The same asker, saying something else: one item of a list."""
        return LenientRequest(self.memory, given, self.placed, None, self.headers, self.projects)


# ---------------------------------------------------------------- old
# An old route: one line of the tables of compatibility.


LARGE_BODIES: Mapping[str, int] = MappingProxyType({"/import": 32_000_000})
"""Addresses that take more than the settings say, as their clients are used to."""


@dataclass(frozen=True, slots=True)
class OldAnswer:
    """An answer with a status of its own. A text goes out as it is, everything else as JSON."""

    value: Any
    status: int = HTTPStatus.OK


@dataclass(frozen=True, slots=True)
class Old:
    """What another system served where, and what answers it here."""

    method: str
    path: str
    call: Callable[[LenientRequest], Any]
    """Gives plain data, or `OldAnswer` where the status differs from case to case."""
    status: int = HTTPStatus.OK
    in_default: bool = False
    """Whether no namespace means the default one, also for reading; else it means all of them."""
    owner_only: bool = False
    waits: bool | None = None
    """Whether it may wait for something outside; None: if it is no GET."""
    limit_s: float | None = None

    @property
    def is_quick(self) -> bool:
        """Whether it computes more than it waits."""
        return self.method == "GET" if self.waits is None else not self.waits


# ---------------------------------------------------------------- place
# The place: which namespace an older client speaks of, and who it is there.
#
# Those clients name a namespace in a header, the address or the body. The owner of the file may name any;
# who comes with a token stands where the token says, and may only name that place.


HEADERS = ("x-namespace", "x-engram-namespace")
NAMES = ("ns", "namespace")


def named(headers: Mapping[str, str], given: Mapping[str, Any]) -> str | None:
    """The namespace a request names; None when it names none.

    >>> named({"x-namespace": "work"}, {}), named({}, {"ns": "home"}), named({}, {})
    ('work', 'home', None)
    """
    for name in (*map(given.get, NAMES), *map(headers.get, HEADERS)):
        if name is None or name == "":
            continue
        if not isinstance(name, str):
            raise WrongType("namespace", name, "text")
        screen.name("namespace", name)
        return name
    return None


def standing(caller: Caller, root: Access, namespace: str | None, *, in_default: bool = False) -> Caller:
    """The caller, standing in that namespace; without one, over all of them, or in the default one."""
    if caller.access is None and root.scope == Scope() and root.role is Role.OWNER:
        if in_default and namespace is None:
            namespace = DEFAULT_NAMESPACE
        access = Access.everything() if namespace is None else Access(Scope(namespace=namespace))
        return replace(caller, access=access)
    if namespace in (None, (caller.access or root).scope.namespace):
        return caller
    raise AccessDenied(f"look into the namespace {namespace!r}")


LAYERS = frozenset(
    {
        *("audit", "consolidate", "export", "extract", "facts", "import", "llm-usage", "memories", "proxy"),
        *("recall", "recent", "repair", "resume", "search", "stats", "trash", "triggers", "vacuum"),
    }
)
"""How the addresses of *layers* begin; everything else at the root is ours."""
FILES = "/engram/v1"
CLIENT = b"x-engram-client-id"
"""The header by which clients of *files* name themselves."""
_CODES = {
    HTTPStatus.BAD_REQUEST: "validation_error",
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_body_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "write_rate_limited",
    HTTPStatus.NOT_IMPLEMENTED: "not_implemented",
}


def response_to(error: EngramError, path: str) -> Response:
    """The failure as the clients of that address understand it; elsewhere a problem document."""
    if is_files(path):
        code = _CODES.get(HTTPStatus(old_status(error)), "internal_error")
        if isinstance(error, BadBody):
            code = "invalid_json" if "no JSON" in error.message else "invalid_json_object"
        answer: dict[str, Any] = {"error": error.message, "code": code, "details": [{"code": error.code}]}
    elif is_layers(path):
        answer = {"error": error.message, "code": error.code}
        if isinstance(error, AmbiguousId):
            answer["error"] = f"prefix '{error.prefix[:60]}' matches multiple memories"
    else:
        return problems.response_to(error)
    body = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, old_status(error), headers_of(error), "application/json")


def is_files(path: str) -> bool:
    """Whether an address belongs to *files*."""
    return path == FILES or path.startswith(FILES + "/")


def is_layers(path: str) -> bool:
    """Whether an address belongs to *layers*.

    >>> is_layers("/memories/7f3a"), is_layers("/v1/memories"), is_layers("/health")
    (True, False, False)
    """
    return path.removeprefix("/").partition("/")[0] in LAYERS


def old_status(error: EngramError) -> int:
    """The status those systems gave: what we tell apart as a conflict was a bad request there."""
    if isinstance(error, EmbedderError):
        return HTTPStatus.BAD_GATEWAY
    if isinstance(error, ModelNeeded):
        return HTTPStatus.SERVICE_UNAVAILABLE
    status = status_of(error)
    return HTTPStatus.BAD_REQUEST if status == HTTPStatus.CONFLICT else status
