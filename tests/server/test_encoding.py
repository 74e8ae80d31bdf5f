"""What is sent is what `plain` says, whatever it is."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

from engram import Engram
from engram.errors import NotFound
from engram.model.capture import Refusal
from engram.model.memory import Filters, Layer
from engram.model.plain import plain
from engram.operations.values import encoded
from engram.testing import HashEmbedder
from tests.tables import every


@every(
    "value",
    [
        None,
        "ü",
        Layer.CORE,
        [Refusal(1, NotFound("7f3a"))],
        Refusal(1, NotFound("7f3a")),
        [Layer.BUFFER, Layer.CORE],
        {"x": frozenset({"b", "a"})},
        MappingProxyType({"layer": Layer.CORE}),
        Filters(layers=frozenset({Layer.CORE})),
    ],
)
def test_every_kind_of_value_is_sent_as_plain_says(value: Any) -> None:
    assert json.loads(encoded(value)) == json.loads(json.dumps(plain(value)))


def test_answers_of_the_facade_are_sent_as_plain_says() -> None:
    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        memory.remember(
            "Anna lives in Bremen", tags=["people"], details={"a": [1, {"b": None}]}, layer="core"
        )
        for value in (
            memory.list(),
            memory.stats(),
            memory.events(),
            memory.doctor(),
            memory.facts.query("anna"),
            memory.entities.get("Anna"),
        ):
            # A time in UTC ends in Z here and in +00:00 there.
            assert json.loads(encoded(value)) == json.loads(json.dumps(plain(value)).replace("+00:00", "Z"))


def test_a_recall_is_sent_without_what_nobody_asked_for() -> None:
    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        memory.remember("Anna lives in Bremen", layer="core")
        found = memory.recall(
            "where does Anna live?", filters=Filters(layers=frozenset({Layer.CORE})), explain=True
        )

        sent, whole = json.loads(encoded(found)), json.loads(json.dumps(plain(found)).replace("+00:00", "Z"))

    assert sent["question"] == {
        "text": "where does Anna live?",
        "filters": {"layers": ["core"], "statuses": ["active", "challenged", "said"]},
        "explain": True,
    }
    for hit in whole["hits"]:
        del hit["memory"]["forms"]
    assert sent | {"question": None} == whole | {"question": None}


def test_a_receipt_is_sent_without_the_shorter_forms_of_its_memory() -> None:
    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        receipt = memory.remember("Anna lives in Bremen", layer="core")

    whole = json.loads(json.dumps(plain(receipt)).replace("+00:00", "Z"))
    del whole["memory"]["forms"]
    for value, sent in (
        (receipt, whole),
        ([receipt], [whole]),
        ({"results": [receipt]}, {"results": [whole]}),
    ):
        assert json.loads(encoded(value)) == sent
