"""The document tells every route, and no request that it allows, or forbids, makes the server fail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route as Served

from engram.config import ServerConfig
from engram.engine import Engram
from engram.operations import OPERATIONS
from engram.server.app import build
from engram.server.compat.serving import NAME
from engram.server.openapi import document
from engram.server.route import ROUTES, Route
from tests.server.conftest import Client
from tests.tables import every

TOLD = document(ROUTES)
PAGES = {"/", "/ui", "/engram/ui/", "/remnic/ui/", "/docs", "/openapi.json", "/login"}


def test_every_route_is_told_and_nothing_else() -> None:
    app = build(lambda: Engram.open(":memory:"), ServerConfig())
    served = {
        (method.lower(), re.sub(r"{(\w+):\w+}", r"{\1}", route.path))
        for route in app.routes
        if isinstance(route, Served) and route.path not in PAGES and route.name != NAME
        for method in (route.methods or set()) - {"HEAD"}
    }
    told = {(method, path) for path, calls in TOLD["paths"].items() for method in calls}

    assert served == told


def test_names_of_operations_are_told_once() -> None:
    names = [call["operationId"] for calls in TOLD["paths"].values() for call in calls.values()]

    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere_and_every_call_says_what_it_does() -> None:
    text = json.dumps(TOLD)
    references = set(re.findall(r'"#/components/schemas/(\w+)"', text))

    assert references <= TOLD["components"]["schemas"].keys()
    assert all(call["summary"] for calls in TOLD["paths"].values() for call in calls.values())


def test_every_example_is_one_that_may_be_sent() -> None:
    valid = pytest.importorskip("jsonschema").Draft202012Validator
    parameters = [
        (call["operationId"], one)
        for calls in TOLD["paths"].values()
        for call in calls.values()
        for one in call.get("parameters", ())
        if one["in"] != "header"
    ]
    refused = [
        (name, one["name"], one["example"])
        for name, one in parameters
        if "example" in one
        and not valid({**one["schema"], "components": TOLD["components"]}).is_valid(one["example"])
    ]

    assert refused == []
    bare = {
        one.name for call in OPERATIONS.values() for one in call.parameters if call.example_of(one) is None
    }
    assert bare == {"before", "cursor", "fact", "plan", "profile", "rerank", "sections", "state"}


def test_a_choice_of_words_is_told_once_and_every_answer_in_json_has_fields() -> None:
    def choices(told: Any) -> list[tuple[str, ...]]:
        inner = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
        own = [tuple(told["enum"])] if isinstance(told, dict) and isinstance(told.get("enum"), list) else []
        return own + [one for part in inner for one in choices(part)]

    found = choices(TOLD)
    assert sorted(one for one in set(found) if found.count(one) > 1) == []
    for path, calls in TOLD["paths"].items():
        for call in calls.values():
            for answer in call["responses"].values():
                content = answer.get("content", {}).get("application/json", {"schema": {"$ref": ""}})
                assert content["schema"] not in ({}, {"type": "object"}), path


def test_the_document_is_valid_json_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for schema in TOLD["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_answers_are_what_the_document_says(client: Client) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    memory = client.post("/v1/memories", json={"content": "Anna lives in Bremen", "tags": ["people"]}).json()
    place = {
        "memory_id": memory["memory"]["id"],
        "commitment_id": client.post("/v1/commitments", json={"text": "Call Anna"}).json()["id"],
        "trigger_id": client.post("/v1/triggers", json={"words": ["x"], "pages": ["Anna"]}).json()["id"],
        "name": "Anna",
        "session": "s",
        "session_id": client.post("/v1/sessions", json={"agent": "rex"}).json()["id"],
        "source": memory["memory"]["id"],
        "run_id": client.post("/v1/consolidate", json={"stages": ["doubt"]}).json()["run"]["id"],
        "gap_id": client.get("/v1/gaps").json()["gaps"][0]["key"],
    }
    for route in ROUTES:
        if route.method != "GET" or route.operation.media != "application/json" or "token_id" in route.path:
            continue
        answer = client.get(route.address.format(**place), params=dict(route.example))
        assert answer.status_code == 200, (route.address, answer.text)
        schema = TOLD["paths"][route.address]["get"]["responses"]["200"]["content"]["application/json"][
            "schema"
        ]
        whole = {**schema, "components": TOLD["components"]}
        jsonschema.Draft202012Validator(whole).validate(answer.json())


@every("route", ROUTES)
def test_examples_are_understood(route: Route) -> None:
    names = {one.name for one in route.parameters} | set(route.operation.also)
    names |= {part for one in route.parameters if one.group for part in vars(one.group).get("__slots__", ())}

    assert set(route.example) <= names


# ---------------------------------------------------------------- whatever comes, the server stands

WORDS = st.sampled_from(
    ["", "x", "Anna", "My editor is Helix", "7f3a", "a" * 300, "2026-01-01", "😀", "\x00", "../etc"]
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-5, 2_000) | st.floats(width=32) | WORDS | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Route, dict[str, str], dict[str, Any]]:
    """A route with its example, some of it replaced by whatever comes to mind."""
    route = draw(st.sampled_from(ROUTES))
    names = [one.name for one in route.parameters] + ["odd"]
    changed = draw(st.dictionaries(st.sampled_from(names), VALUES, max_size=3))
    placed = {
        name: draw(st.sampled_from(["abcd", "Anna", "x y", "%", "ü", "00000000"])) for name in route.in_path
    }
    return route, placed, {**route.example, **changed}


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(request=requests())
def test_no_request_makes_the_server_fail(
    shared: Client, request: tuple[Route, dict[str, str], dict[str, Any]]
) -> None:
    route, placed, said = request
    path = route.address.format(**placed)
    if route.is_query:
        spelled = {name: value for name, value in said.items() if isinstance(value, str | int | float)}
        body = b"x" if route.operation.takes != "application/json" else None
        answer = shared.request(route.method, path, params=spelled, content=body)
    else:
        answer = shared.request(route.method, path, content=json.dumps(said).encode())

    assert answer.status_code < 500, answer.text


@pytest.mark.slow
def test_the_file_is_sound_after_all_that(shared: Client) -> None:
    findings = shared.get("/v1/doctor").json()["findings"]

    assert [one for one in findings if not one["ok"] and one["name"] != "vectors"] == []


def test_a_route_tells_what_it_is() -> None:
    route = next(one for one in ROUTES if one.path == "/v1/entities/{name:path}/timeline")

    assert (route.address, route.in_path) == ("/v1/entities/{name}/timeline", ("name",))
    assert Path(route.address).name == "timeline"
