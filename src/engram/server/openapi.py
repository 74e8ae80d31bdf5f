"""The OpenAPI document, made from the table of routes, so that it tells what is served and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from engram._version import __version__
from engram.model.scope import Role, Scope
from engram.operations.operation import EXAMPLES
from engram.operations.values import Components, Parameter, Schema, fields_of
from engram.server.host import ServerHealth
from engram.server.limits import HEADER
from engram.server.problems import MEDIA_TYPE
from engram.server.route import JSON, Route

VERSION = "3.1.0"
STREAM = "text/event-stream"
WORDS = (
    "A long-term memory over HTTP: it keeps what matters, finds it when it helps, and can say why.\n\n"
    "Send `Authorization: Bearer …` with a token of `engram token create`, or with the owner's secret, which "
    "stands beside the memory file. With `engram serve --open` programs on this machine need neither.\n\n"
    "Every failure is a problem document (RFC 9457) with a stable `code`."
)
PROBLEM: Schema = {
    "type": "object",
    "description": "What went wrong, for a person and for a program.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "facts": {"type": "object"},
    },
    "required": ["type", "title", "status", "detail", "code", "facts"],
}


class Identity(TypedDict):
    """Who the caller is."""

    actor: str
    role: Role
    scope: Scope


class LoginLink(TypedDict):
    """Where a browser is let in."""

    path: str


OWN: dict[tuple[str, str], tuple[str, str, type | str]] = {
    ("get", "/health"): ("health", "Whether the server is well, and what to do if not.", ServerHealth),
    ("get", "/metrics"): ("health", "Counts and latencies, as Prometheus reads them.", "text/plain"),
    ("get", "/v1/me"): ("health", "Who the caller is: actor, role and scope.", Identity),
    ("get", "/v1/events/stream"): ("events", "The ledger as it grows, as server-sent events.", STREAM),
    ("post", "/v1/login"): ("health", "Another link that lets the owner's browser in once.", LoginLink),
}
"""What the server serves beside the table: the type of its JSON, or another sort of text."""


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole document."""
    components = Components()
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.address, {})[route.method.lower()] = _operation(route, components)
    for (method, path), description in OWN.items():
        paths.setdefault(path, {})[method] = _own_operation(method, path, *description, components)
    return {
        "openapi": VERSION,
        "info": {"title": "Engram", "version": __version__, "description": WORDS},
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": {**dict(sorted(components.found.items())), "Problem": PROBLEM},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


PLACED: Schema = {"type": "string", "minLength": 1}
SENT_AGAIN = "Sent again with the same key and body, the request is answered again and not carried out again."
KEY: Schema = {
    "name": HEADER.title(),
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": SENT_AGAIN,
}
REFERENCE = {"schema": {"$ref": "#/components/schemas/Problem"}}
FAILED: Schema = {"description": "A problem.", "content": {MEDIA_TYPE: REFERENCE}}


def _operation(route: Route, components: Components) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.operation.sentence,
        "tags": [route.path.split("/")[2]],
        "parameters": [*map(_path_parameter, route.in_path), *_query_parameters(route, components)],
        "responses": {str(route.operation.status): _answer(route, components), "default": FAILED},
    }
    if route.operation.takes != JSON:
        file = {"schema": {"type": "string", "format": "binary"}}
        described["requestBody"] = {"required": True, "content": {route.operation.takes: file}}
    elif not route.is_query:
        content: Schema = {"schema": components.body(route.parameters)}
        content |= {"example": dict(route.example)} if route.example else {}
        needed = any(parameter.is_needed for parameter in route.parameters)
        described["requestBody"] = {"required": needed, "content": {JSON: content}}
    return described


def _path_parameter(name: str) -> Schema:
    parameter: Schema = {"name": name, "in": "path", "required": True, "schema": PLACED}
    return parameter | ({"example": EXAMPLES[name]} if name in EXAMPLES else {})


def _query_parameters(route: Route, components: Components) -> list[Schema]:
    """What stands in the query, groups part by part; of a write, the key."""
    parameters = [] if route.operation.reads else [KEY]
    if not route.is_query:
        return parameters
    names = {to: name for name, to in route.operation.also.items()}
    listed: set[str] = set()
    plain = [parameter for parameter in route.parameters if parameter.group is None]
    grouped = [
        part for parameter in route.parameters if parameter.group for part in fields_of(parameter.group)
    ]
    for parameter in (*plain, *grouped):
        if parameter.name not in listed:
            listed.add(parameter.name)
            name = names.get(parameter.name, parameter.name)
            parameters.append(_query_parameter(parameter, name, route, components))
    return parameters


def _query_parameter(parameter: Parameter, name: str, route: Route, components: Components) -> Schema:
    schema = components.parameter(parameter)
    described: Schema = {"name": name, "in": "query", "required": parameter.is_needed, "schema": schema}
    if schema.get("type") == "array":
        described |= {"style": "form", "explode": False}
    example = route.example.get(name, route.operation.example_of(parameter))
    return described if example is None else described | {"example": example}


def _answer(route: Route, components: Components) -> Schema:
    operation = route.operation
    schema = components.of(operation.result)
    if operation.gives:
        schema = {"type": "object", "properties": {operation.gives: schema}, "required": [operation.gives]}
    if operation.media != JSON:
        schema = {"type": "string"}
    content = {operation.media: {"schema": schema}}
    if operation.tells_progress:
        content[STREAM] = {"schema": {"type": "string"}}
    return {"description": "Done.", "content": content}


def _own_operation(
    method: str, path: str, tag: str, words: str, gives: type | str, components: Components
) -> dict[str, Any]:
    name = f"{method}_" + path.strip("/").removeprefix("v1/").replace("/", "_")
    content = {gives: {"type": "string"}} if isinstance(gives, str) else {JSON: components.of(gives)}
    answer = {
        "description": "Done.",
        "content": {media: {"schema": schema} for media, schema in content.items()},
    }
    responses = {"200" if method == "get" else "201": answer, "default": FAILED}
    return {"operationId": name, "summary": words, "tags": [tag], "responses": responses}
