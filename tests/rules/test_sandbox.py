"""The sandbox: every rule for what an auditor proposes, at, below and above its threshold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from engram.model.knowledge import Proposal
from engram.model.memory import Layer, Memory, Policy, Status
from engram.model.scope import Scope
from engram.rules.maintenance import check
from tests.tables import every

NOW = datetime(2026, 3, 10, tzinfo=UTC)
OLD = NOW - timedelta(days=30)
NOTE = Memory("1", "Anna owns the billing service", "h", OLD, OLD, layer=Layer.WORKING, importance=0.5)
OTHER = replace(NOTE, id="2", content="Billing belongs to Anna")
CORE = replace(NOTE, layer=Layer.CORE)


def aged(hours: float, changed: float | None = None) -> Memory:
    """A core memory so many hours old, changed so many hours ago."""
    at = NOW - timedelta(hours=hours)
    modified = at if changed is None else NOW - timedelta(hours=changed)
    return replace(CORE, created_at=at, modified_at=modified)


@every(
    ("proposal", "targets", "rule"),
    [
        (Proposal("delete", (0,)), [NOTE], "no such power"),
        (Proposal("", (0,)), [NOTE], "no such power"),
        (Proposal("promote", (-1,)), [None], "target exists"),
        (Proposal("promote", ()), [], "target exists"),
        (Proposal("promote", (0,)), [replace(NOTE, status=Status.ARCHIVED)], "target exists"),
        (Proposal("promote", (0, 1)), [NOTE, OTHER], "one target"),
        (Proposal("promote", (0,)), [NOTE], "audit.promote"),
        (Proposal("promote", (0,)), [CORE], "one layer at a time"),
        (Proposal("demote", (0,)), [CORE], "audit.demote"),
        (Proposal("demote", (0,)), [replace(NOTE, layer=Layer.BUFFER)], "one layer at a time"),
        (Proposal("demote", (0,)), [aged(48, 24)], "audit.demote"),
        (Proposal("demote", (0,)), [aged(47.9, 24)], "too new"),
        (Proposal("demote", (0,)), [aged(72, 23.9)], "changed lately"),
        (Proposal("demote", (0,)), [replace(CORE, pinned=True)], "protected"),
        (Proposal("demote", (0,)), [replace(CORE, policy=Policy.PROTECTED)], "protected"),
        (Proposal("adjust", (0,), 1.0), [NOTE], "audit.adjust"),
        (Proposal("adjust", (0,), 0.0), [NOTE], "audit.adjust"),
        (Proposal("adjust", (0,), 1.01), [NOTE], "importance bounds"),
        (Proposal("adjust", (0,), -0.01), [NOTE], "importance bounds"),
        (Proposal("adjust", (0,)), [NOTE], "importance bounds"),
        (Proposal("adjust", (0,), float("nan")), [NOTE], "importance bounds"),
        (Proposal("adjust", (0,), 0.4), [aged(10)], "changed lately"),
        (Proposal("adjust", (0,), 0.6), [aged(10)], "audit.adjust"),
        (Proposal("merge", (0, 1), content="Anna owns billing"), [NOTE, OTHER], "audit.merge"),
        (Proposal("merge", (0,), content="Anna owns billing"), [NOTE], "merge minimum"),
        (Proposal("merge", (0, 0), content="Anna owns billing"), [NOTE, NOTE], "merge minimum"),
        (Proposal("merge", (0, 1), content="Anna"), [NOTE, OTHER], "merge length"),
        (Proposal("merge", (0, 1), content="x" * 11), [NOTE, OTHER], "merge length"),
        (Proposal("merge", (0, 1), content="x" * 12), [NOTE, OTHER], "audit.merge"),
        (Proposal("merge", (0, 1), content="Anna owns billing", layer=2), [CORE, OTHER], "merge upward"),
        (Proposal("merge", (0, 1), content="Anna owns billing", layer=3), [CORE, OTHER], "audit.merge"),
        (
            Proposal("merge", (0, 1), content="Anna owns billing"),
            [NOTE, replace(OTHER, scope=Scope(agent="rex"))],
            "merge apart",
        ),
        (Proposal("merge", (0, 1), content="Anna owns billing"), [OTHER, aged(10)], "changed lately"),
    ],
)
def test_each_rule(proposal: Proposal, targets: list[Memory | None], rule: str) -> None:
    verdict = check(proposal, targets, NOW)
    assert verdict.rule == rule
    assert bool(verdict) is rule.startswith("audit.")
