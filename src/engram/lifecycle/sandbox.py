"""The sandbox: what an auditor proposes comes in; whether it may be done goes out, and which rule says no.

An auditor is a model. It may move a memory by one layer, weigh it anew, or join several into one; it never
deletes. What is new or was changed lately loses no standing, because nobody has had time to use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engram.config import Config
from engram.lifecycle.retention import age_days
from engram.lifecycle.traits import protected
from engram.model.advice import Proposal
from engram.model.axes import Layer, Status
from engram.model.memory import Memory
from engram.model.verdict import Verdict, no, yes

USUAL = Config()
HOURS = 24.0
LEAST_MERGED = 2
ONE_TARGET = frozenset({"promote", "demote", "adjust"})


def check(
    proposal: Proposal, targets: Sequence[Memory | None], now: datetime, config: Config = USUAL
) -> Verdict:
    """Whether one operation may be carried out.

    >>> day = datetime(2026, 1, 1)
    >>> note = Memory("1", "Hi", "h", day, day, layer=Layer.CORE)
    >>> check(Proposal("delete", (0,)), [note], datetime(2026, 2, 1)).why
    'an auditor may not delete'
    >>> bool(check(Proposal("demote", (0,)), [note], datetime(2026, 2, 1)))
    True
    """
    found = [one for one in targets if one is not None and one.status is Status.ACTIVE]
    if not targets or len(found) != len(targets):
        return no("a target is not there", "target exists")
    if proposal.verb == "merge":
        return _merged(proposal, found, now, config)
    if proposal.verb not in ONE_TARGET:
        return no(f"an auditor may not {proposal.verb}", "no such power")
    if len(found) != 1:
        return no(f"{len(found)} targets where one is meant", "one target")
    return _moved(proposal, found[0], now, config)


def _moved(proposal: Proposal, memory: Memory, now: datetime, config: Config) -> Verdict:
    if proposal.verb == "promote":
        return _promoted(memory)
    if proposal.verb == "demote":
        return _demoted(memory, now, config)
    return _adjusted(proposal, memory, now, config)


def _promoted(memory: Memory) -> Verdict:
    if memory.layer is Layer.CORE:
        return no("already in the core", "one layer at a time")
    return yes("audit.promote", f"from {memory.layer.name.lower()}")


def _demoted(memory: Memory, now: datetime, config: Config) -> Verdict:
    if memory.layer is Layer.BUFFER:
        return no("already in the buffer", "one layer at a time")
    guard = _guarded(memory, now, config)
    return yes("audit.demote", f"from {memory.layer.name.lower()}") if guard is None else guard


def _adjusted(proposal: Proposal, memory: Memory, now: datetime, config: Config) -> Verdict:
    value = proposal.importance
    if value is None or not 0.0 <= value <= 1.0:
        return no("an importance outside 0 to 1", "importance bounds")
    guard = _guarded(memory, now, config) if value < memory.importance else None
    if guard is not None:
        return guard
    return yes("audit.adjust", f"importance {memory.importance:.2f} to {value:.2f}")


def _merged(proposal: Proposal, found: Sequence[Memory], now: datetime, config: Config) -> Verdict:
    if len({one.id for one in found}) < LEAST_MERGED:
        return no("a merge of fewer than two", "merge minimum")
    if len({one.scope for one in found}) > 1 or any(one.speaker for one in found):
        return no("another scope, or a turn of a conversation", "merge apart")
    top = max(one.layer for one in found)
    if proposal.layer is not None and proposal.layer < top:
        return no("a merge into a lower layer", "merge upward")
    shortest = min(len(one.content) for one in found)
    if len(proposal.content.strip()) < shortest / 2:
        return no("shorter than half of the shortest", "merge length")
    guards = [guard for one in found if (guard := _guarded(one, now, config)) is not None]
    return guards[0] if guards else yes("audit.merge", f"{len(found)} into one")


def _guarded(memory: Memory, now: datetime, config: Config) -> Verdict | None:
    """Why it may not lose standing yet; None when it may."""
    if reason := protected(memory, config):
        return no(f"protected: {reason}", "protected")
    settings = config.review
    since_change = (now - memory.modified_at).total_seconds() / 3600
    if since_change < settings.audit_modified_hours:
        return no(f"changed {since_change:.0f} h ago < {settings.audit_modified_hours:g}", "changed lately")
    age = age_days(memory, now) * HOURS
    if age < settings.audit_new_hours:
        return no(f"{age:.0f} h old < {settings.audit_new_hours:g}", "too new")
    return None
