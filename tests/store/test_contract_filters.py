"""Each filter lets its memories through and no others, in page, select, allow and search alike."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engram.model.memory import Affect, Kind, Layer, Priority, Status, Tier, Type, Verification
from engram.ports import Store
from engram.testing import START
from tests.store.making import ALL, add, contents, contents_of, find, view

DAY = timedelta(days=1)

CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("kinds", {"kinds": frozenset({Kind.SEMANTIC})}, {"kind": Kind.SEMANTIC}, {"kind": Kind.CODEBASE}),
    ("categories", {"categories": frozenset({"fact"})}, {"category": "fact"}, {"category": "facts"}),
    ("types", {"types": frozenset({Type.FACT})}, {"type": Type.FACT}, {"type": Type.PROCEDURE}),
    ("layers", {"layers": frozenset({Layer.CORE})}, {"layer": Layer.CORE}, {"layer": Layer.WORKING}),
    ("statuses", {"statuses": frozenset({Status.MERGED})}, {"status": Status.MERGED}, {}),
    (
        "verifications",
        {"verifications": frozenset({Verification.DISPUTED})},
        {"verification": Verification.DISPUTED},
        {},
    ),
    ("tiers", {"tiers": frozenset({Tier.CLEAR})}, {}, {"tier": Tier.SENSITIVE}),
    ("priorities", {"priorities": frozenset({Priority.P0})}, {"priority": Priority.P0}, {}),
    ("any tag", {"tags_any": frozenset({"a", "b"})}, {"tags": ("b", "c")}, {"tags": ("c", "ab")}),
    ("all tags", {"tags_all": frozenset({"a", "b"})}, {"tags": ("c", "b", "a")}, {"tags": ("a", "c")}),
    ("tags are data", {"tags_any": frozenset({"a%"})}, {"tags": ("a%",)}, {"tags": ("ab",)}),
    ("entities", {"entities": frozenset({"ADA", "x"})}, {"entities": ("Ada",)}, {"entities": ("Adam",)}),
    ("folded", {"entities": frozenset({"STRASSE"})}, {"entities": ("Straße",)}, {"entities": ("Gasse",)}),
    ("speakers", {"speakers": frozenset({"Ada"})}, {"speaker": "Ada"}, {"speaker": "Grace"}),
    ("sources", {"sources": frozenset({"import"})}, {"source": "import"}, {"source": "human"}),
    ("session", {"session": "s1"}, {"session": "s1"}, {"session": "s10"}),
    ("created since", {"created_since": START}, {"created_at": START}, {"created_at": START - DAY}),
    ("created until", {"created_until": START}, {"created_at": START - DAY}, {"created_at": START + DAY}),
    ("happened since", {"happened_since": START + DAY}, {"event_time": START + DAY}, {}),
    ("happened until", {"happened_until": START - DAY}, {"event_time": START - 2 * DAY}, {}),
    ("stored is happened", {"happened_until": START + DAY}, {}, {"event_time": START + 2 * DAY}),
    ("accessed since", {"accessed_since": START}, {"last_accessed": START + DAY}, {}),
    ("accessed before", {"accessed_since": START}, {"last_accessed": START}, {"last_accessed": START - DAY}),
    ("importance", {"min_importance": 0.6}, {"importance": 0.6}, {"importance": 0.59}),
    ("confidence", {"min_confidence": 0.8}, {"confidence": 0.8}, {"confidence": 0.79}),
    ("pinned", {"pinned": True}, {"pinned": True}, {}),
    ("not pinned", {"pinned": False}, {}, {"pinned": True}),
    (
        "people",
        {"people": frozenset({"ANNA"})},
        {"metadata": {"people": ["Anna Karenina"]}},
        {"metadata": {}},
    ),
    (
        "technologies",
        {"technologies": frozenset({"postgres"})},
        {"metadata": {"technologies": ["PostgreSQL"]}},
        {"metadata": {"people": ["PostgreSQL"]}},
    ),
    (
        "paths begin so",
        {"paths": frozenset({"auth/"})},
        {"metadata": {"paths": ["src/auth/login.py"]}},
        {"metadata": {"paths": ["src/oauth/login.py"]}},
    ),
    (
        "addresses",
        {"urls": frozenset({"https://python.org"})},
        {"metadata": {"urls": ["http://docs.python.org/3/"]}},
        {"metadata": {"urls": ["https://example.org/python.org"]}},
    ),
    ("topics", {"topics": frozenset({"travel"})}, {"metadata": {"topics": ["travel"]}}, {}),
    ("languages", {"languages": frozenset({"zh"})}, {"metadata": {"languages": ["en", "zh"]}}, {}),
    ("code", {"code_languages": frozenset({"python"})}, {"metadata": {"code_languages": ["Python"]}}, {}),
    ("sentiments", {"sentiments": frozenset({"negative"})}, {"metadata": {"sentiment": "negative"}}, {}),
    ("no feeling", {"sentiments": frozenset({"neutral"})}, {}, {"metadata": {"sentiment": "negative"}}),
    ("days since", {"about_since": START}, {"metadata": {"dates": [f"{START:%Y-%m-%d}"]}}, {}),
    (
        "days until",
        {"about_until": START},
        {"metadata": {"dates": ["2001-01-01"]}},
        {"metadata": {"dates": ["2999-01-01"]}},
    ),
    ("not tags", {"not_tags": frozenset({"a", "b"})}, {"tags": ("c",)}, {"tags": ("c", "b")}),
    ("ids", {"ids": frozenset({"one"})}, {"id": "one"}, {"id": "two"}),
    ("accessed until", {"accessed_until": START}, {"last_accessed": START}, {}),
    ("modified since", {"modified_since": START + DAY}, {"modified_at": START + DAY}, {}),
    ("modified until", {"modified_until": START}, {}, {"modified_at": START + DAY}),
    ("little importance", {"max_importance": 0.2}, {"importance": 0.2}, {"importance": 0.21}),
    ("trust", {"min_trust": 0.7}, {"trust": 0.7}, {"trust": 0.5}),
    ("arousal", {"min_arousal": 0.5}, {"affect": Affect(0.0, 0.5, 0.5)}, {}),
    (
        "a detail",
        {"details": {"outcome": "failure"}},
        {"details": {"outcome": "failure"}},
        {"details": {"a": 1}},
    ),
    ("a number", {"details": {"n": "3"}}, {"details": {"n": 3, "m": 4}}, {"details": {"n": 3.5}}),
    ("a truth", {"details": {"ok": True}}, {"details": {"ok": True}}, {"details": {"ok": 1}}),
    ("details", {"details": {"a": 1, "b": None}}, {"details": {"a": 1.0, "b": None}}, {"details": {"a": 1}}),
    ("as of", {"as_of": START}, {}, {"created_at": START + DAY}),
    (
        "several at once",
        {"tags_any": frozenset({"a"}), "kinds": frozenset({Kind.SEMANTIC}), "min_importance": 0.1},
        {"tags": ("a",), "kind": Kind.SEMANTIC},
        {"tags": ("a",), "kind": Kind.EPISODIC},
    ),
]


@pytest.mark.parametrize(
    ("filters", "fitting", "unfit"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_filter_holds_everywhere(
    store: Store, filters: dict[str, Any], fitting: dict[str, Any], unfit: dict[str, Any]
) -> None:
    add(store, "red apples fit", **fitting)
    add(store, "red apples do not", **unfit)
    asked = view(**filters)
    both = store.memories.select(ALL, 10)
    selected = store.memories.select(asked, 10)
    assert both is not None
    assert selected is not None
    assert contents(store.memories.page(asked, 10)) == ["red apples fit"]
    assert contents_of(store, selected) == ["red apples fit"]
    assert contents_of(store, store.memories.allow(asked, both.tolist())) == ["red apples fit"]
    assert find(store, "red apples", asked) == ["red apples fit"]


def test_no_filter_lets_everything_through(store: Store) -> None:
    for status in Status:
        add(store, f"apple {status.value}", status=status)
    assert len(store.memories.page(view(statuses=frozenset()), 10)) == len(Status)
    assert len(find(store, "apple", view(statuses=frozenset()))) == len(Status)
