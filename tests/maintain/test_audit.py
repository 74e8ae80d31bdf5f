"""The audit: a model proposes, a sandbox decides, a report tells; with too many bad ones none is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engram import Engram
from engram.errors import ModelNeeded
from engram.model.maintenance import Report
from engram.model.memory import Layer, Policy, Status
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import Reply, says, says_json
from tests.maintain.story import START, now, opened


@contextmanager
def audited(clock: FakeClock, answer: Any) -> Iterator[tuple[Engram, ScriptedServer]]:
    def reply(_request: object) -> Reply:
        return says(answer) if isinstance(answer, str) else says_json(answer)

    with (
        ScriptedServer(reply) as server,
        opened(
            clock,
            meaning=True,
            llm__level="auto",
            llm__base_url=server.url,
            llm__model="large",
            llm__retries=0,
            llm__rest_s=0,
        ) as memory,
    ):
        yield memory, server


def rules(report: Report) -> dict[str, int]:
    """How often each rule fired."""
    return {tally.rule: tally.count for tally in report.tallies}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


def known(memory: Engram, words: str, layer: Layer, **more: object) -> str:
    given = {
        "source": "agent",
        "policy": Policy.DURABLE,
        "priority": "P2",
        "layer": layer,
        "kind": "semantic",
    }
    return memory.remember(words, **{**given, "layer": layer, **more}).memory.id


def operations(*given: dict[str, Any]) -> dict[str, Any]:
    return {"operations": list(given)}


def filled(memory: Engram, clock: FakeClock) -> list[str]:
    ids = [
        known(memory, "The bus was late on that Tuesday", Layer.CORE, category="moment"),
        known(memory, "Every release is announced in the channel", Layer.WORKING, category="fact"),
        known(memory, "The cellar has a window to the garden", Layer.WORKING, category="fact"),
    ]
    clock.advance(days=5)
    return ids


def test_good_proposals_are_carried_out_one_layer_at_a_time_and_taken_back(clock: FakeClock) -> None:
    answer = operations(
        {"op": "demote", "ids": [1]},
        {"op": "promote", "ids": [2]},
        {"op": "adjust", "ids": [3], "importance": 0.3},
    )
    with audited(clock, answer) as (memory, _):
        late, release, cellar = filled(memory, clock)
        report = memory.audit()
        assert rules(report) == {"audit.demote": 1, "audit.promote": 1, "audit.adjust": 1}
        assert now(memory, late).layer is Layer.WORKING
        assert now(memory, release).layer is Layer.CORE
        assert now(memory, cellar).importance == 0.3
        memory.undo(report.run.id)
        assert (now(memory, late).layer, now(memory, release).layer) == (Layer.CORE, Layer.WORKING)


def test_what_was_shown_is_not_shown_again_until_it_changes_or_a_month_passes(clock: FakeClock) -> None:
    with audited(clock, operations()) as (memory, server):
        filled(memory, clock)
        memory.audit()
        shown = len(server.requests)
        memory.audit()
        assert len(server.requests) == shown
        clock.advance(days=30)
        memory.audit()
        assert len(server.requests) > shown


def test_when_too_many_are_bad_none_is_carried_out(clock: FakeClock) -> None:
    answer = operations(
        {"op": "demote", "ids": [1]}, {"op": "promote", "ids": [2]}, {"op": "delete", "ids": [3]}
    )
    with audited(clock, answer) as (memory, _):
        late, release, cellar = filled(memory, clock)
        report = memory.audit()
        assert {line.rule.partition(":")[0] for line in report.decided} == {"audit.refused"}
        assert now(memory, late).layer is Layer.CORE
        assert now(memory, release).layer is Layer.WORKING
        assert now(memory, cellar).status is Status.ACTIVE


def test_a_bad_one_among_many_good_ones_is_left_out_and_told(clock: FakeClock) -> None:
    good = [{"op": "adjust", "ids": [place], "importance": 0.6} for place in (1, 2, 3)]
    with audited(clock, operations(*good, {"op": "delete", "ids": [1]})) as (memory, _):
        filled(memory, clock)
        told = rules(memory.audit())
        assert told["audit.adjust"] == 3
        assert told["audit.refused: no such power"] == 1


def test_a_merge_keeps_what_all_said_and_the_others_can_be_restored(clock: FakeClock) -> None:
    words = "Every release is announced in the channel by the lead"
    answer = operations({"op": "merge", "ids": [1, 2], "content": words})
    with audited(clock, answer) as (memory, _):
        one = known(memory, "Every release is announced in the channel", Layer.WORKING, category="fact")
        two = known(memory, "Announced by the lead is every release", Layer.WORKING, category="fact")
        clock.advance(days=5)
        assert rules(memory.audit()) == {"audit.merge": 1}
        stands, gone = sorted((now(memory, one), now(memory, two)), key=lambda each: each.status)
        assert (stands.content, stands.status, gone.status) == (words, Status.ACTIVE, Status.MERGED)
        assert memory.restore(gone.id).status is Status.ACTIVE


@pytest.mark.parametrize("answer", ["I would rather not say.", "", '{"operations": 7}'])
def test_without_a_usable_answer_nothing_happens_and_it_is_asked_again(clock: FakeClock, answer: str) -> None:
    with audited(clock, answer) as (memory, server):
        filled(memory, clock)
        assert memory.audit().changes == 0
        asked = len(server.requests)
        memory.audit()
        assert len(server.requests) > asked


def test_without_a_model_an_audit_says_what_it_needs(clock: FakeClock) -> None:
    with opened(clock) as memory, pytest.raises(ModelNeeded):
        memory.audit()
