"""Each filter lets its memories through and no others, in page, select, allow and search alike."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from engram.model.axes import Kind, Layer, Status, Tier, Type, Verification
from engram.ports import Store
from engram.testing.clock import START
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
