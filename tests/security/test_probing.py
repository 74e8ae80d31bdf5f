"""Whoever is no owner is told in words how well a memory fits, never in figures."""

from __future__ import annotations

from engram import Engram
from engram.model.scope import Access, Role, Scope
from engram.testing import HashEmbedder


def test_an_agent_gets_no_exact_figures() -> None:
    with Engram.open(":memory:", embedder=HashEmbedder(), access=Access.everything()) as memory:
        for number in range(6):
            memory.remember(f"boat number {number} is {'blue ' * (number + 1)}")
        memory.remember("The garage is green")
        agent = memory.seen_by(Access(Scope(), Role.AGENT), "agent")

        own = memory.recall("which boat is blue?", explain=True)
        told = agent.recall("which boat is blue?", explain=True)

    assert [hit.memory.id for hit in told.hits] == [hit.memory.id for hit in own.hits]
    assert any(hit.evidence for hit in own.hits)
    assert {hit.score for hit in told.hits} <= {0.9, 0.7, 0.5, 0.2}
    assert not any(hit.evidence for hit in told.hits)
    assert told.dropped
    assert not any(one.relevance or any(map(str.isdigit, one.why)) for one in told.dropped)
    assert told.quality.top_relevance in {0.9, 0.7, 0.5, 0.2}
    assert told.quality.top_relevance != own.quality.top_relevance
