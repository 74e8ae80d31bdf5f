"""Failing: an error and the address it happened at come in; the answer in that system's shape goes out."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from engram.errors import EmbedderError, EngramError, ModelNeeded
from engram.server import problems
from engram.server.problems import headers_of, status_of
from engram.server.refusals import BadBody

LAYERS = frozenset(
    {
        *("audit", "consolidate", "export", "extract", "facts", "import", "llm-usage", "memories", "proxy"),
        *("recall", "recent", "repair", "resume", "search", "stats", "trash", "triggers", "vacuum"),
    }
)
"""How the addresses of *layers* begin; everything else at the root is ours."""
FILES = "/engram/v1"
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
        return _files(error)
    return _layers(error) if is_layers(path) else problems.response_to(error)


def is_files(path: str) -> bool:
    """Whether an address belongs to *files*."""
    return path == FILES or path.startswith(FILES + "/")


def is_layers(path: str) -> bool:
    """Whether an address belongs to *layers*.

    >>> is_layers("/memories/7f3a"), is_layers("/v1/memories"), is_layers("/health")
    (True, False, False)
    """
    return path.split("/", 2)[1:2] != [] and path.split("/", 2)[1] in LAYERS


def old_status(error: EngramError) -> int:
    """The status those systems gave: what we tell apart as a conflict was a bad request there."""
    if isinstance(error, EmbedderError):
        return HTTPStatus.BAD_GATEWAY
    if isinstance(error, ModelNeeded):
        return HTTPStatus.SERVICE_UNAVAILABLE
    status = status_of(error)
    return HTTPStatus.BAD_REQUEST if status == HTTPStatus.CONFLICT else status


def _layers(error: EngramError) -> Response:
    return _json({"error": error.message, "code": error.code}, error)


def _files(error: EngramError) -> Response:
    code = _CODES.get(HTTPStatus(old_status(error)), "internal_error")
    if isinstance(error, BadBody):
        code = "invalid_json"
    return _json({"error": error.message, "code": code, "details": [{"code": error.code}]}, error)


def _json(told: dict[str, Any], error: EngramError) -> Response:
    body = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, old_status(error), headers_of(error), "application/json")
