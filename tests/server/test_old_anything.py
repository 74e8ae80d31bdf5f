"""Whatever comes to the older routes, the server stands; and each of them is told in the documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.config import VARIABLES
from engram.server.compat.files_tools import TOOLS
from engram.server.compat.requests import Old as OldRoute
from engram.server.compat.serving import ROUTES
from tests.server.old import Old, serving

DOCUMENT = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text(encoding="utf-8")
NAMES = (
    "content", "query", "q", "layer", "layers", "importance", "tags", "kind", "source", "namespace", "limit",
    "offset", "since", "until", "hours", "budget", "budget_tokens", "facts", "memories", "ids", "text",
    "entity", "subject", "predicate", "sort_by", "sessionKey", "messages", "topK", "mode", "ttl",
    "confidence", "asOf", "pairId", "verb", "format", "supersedes", "embed", "full", "days",
    "min_score", "status", "sort",
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 2**40)
    | st.floats(width=32)
    | st.sampled_from(["", "x", "Anna", "My editor is Helix", "7f3a", "a" * 300, "2026-01-01", "\x00", "30d"])
    | st.text(max_size=20)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
# These go through the whole file, or say 503 without a model: once is enough, in the tests of the routes.
LONG = {"/consolidate", "/repair", "/vacuum", "/engram/v1/contradiction-scan", "/audit", "/audit/sandbox"}


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    with serving(tmp_path_factory.mktemp("anything") / "old.db") as (_, client):
        yield client


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    route=st.sampled_from([one for one in ROUTES if one.path not in LONG]),
    said=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
    place=st.sampled_from(["abcd", "Anna", "x y", "ü", "00000000", "a.b"]),
)
def test_no_request_makes_the_server_fail(
    old: Old, route: OldRoute, said: dict[str, Any], place: str
) -> None:
    path = re.sub(r"{[^}]*}", place, route.path)
    if route.method == "GET":
        words = {name: value for name, value in said.items() if isinstance(value, str | int | float)}
        answer = old.get(path, params=words)
    else:
        answer = old.request(route.method, path, content=json.dumps(said).encode())

    assert answer.status_code < 500, (route.path, said, answer.text)


@pytest.mark.slow
def test_the_file_is_sound_after_all_that(old: Old) -> None:
    findings = old.get("/v1/doctor").json()["findings"]

    assert [one for one in findings if not one["ok"] and one["name"] != "vectors"] == []


def test_every_old_route_tool_and_variable_is_told() -> None:
    told = set(re.findall(r"/[\w./{}-]+", DOCUMENT))
    paths = {re.sub(r":\w+}", "}", one.path.removeprefix("/engram/v1")) for one in ROUTES}

    assert sorted(paths - told) == []
    assert [name for name in TOOLS if not re.search(rf"\b{name}\b", DOCUMENT)] == []
    ends = {name: f"_{name.rpartition('_')[2]}`" for name in VARIABLES}
    assert [name for name, end in ends.items() if name not in DOCUMENT and end not in DOCUMENT] == []
