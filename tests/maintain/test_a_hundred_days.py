"""Documents and code that were brought in are found after a hundred days of daily maintenance.

The pages and the package are a representative part of the project's own: all of it would take minutes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Filters, Kind, Priority
from engram.testing import FakeClock

ROOT = Path(__file__).parents[2]
PAGES = ("capture", "ingest", "maintenance", "lifecycle-rules", "doubt", "proxy")
PACKAGE = ROOT / "src" / "engram" / "rules"
DAYS = 100
FIRST = 5
"""The passage is among so many hits."""
ASKED = {
    "how is a long turn kept in the log?": "turn",
    "what happens to junk in a passage?": "junk goes",
    "what does a dry run of an import say?": "dry run",
    "which code languages are parsed or read by their declarations?": "Python is parsed",
    "is .gitignore respected?": ".gitignore",
    "what does the error E2016 mean?": "E2016",
    "what becomes of a .txt file?": ".rst",
    "with what does an export of mem0 come in?": "status, users and relations",
    "what is left out of conversations with Claude?": "attachments and tool calls",
    "what is left out of chatgpt conversations?": "hidden, system and tool messages",
    "what does a dry run of maintenance work on?": "private copy",
    "does a killed process lose anything in a run?": "loses nothing",
    "what does undo do with the events of a run?": "newest first",
    "which error is told when another process maintains the file?": "E7001",
    "what happens in the stage merge?": "`merged`",
    "when does what was archived get erased?": "90 days",
    "how long is the half-life?": "half",
    "what is the gate to the core?": "gate",
    "when is something weak archived?": "strength < 0.05",
    "when is a commitment archived after it was done or dropped?": "done or dropped",
    "when does an episode become knowledge?": "5 uses",
    "how does the proxy treat streams?": "stream",
    "what is a gap?": "gap",
    "how are old beliefs probed?": "belief",
    "what becomes of a memory with a dead reference?": "*challenges*",
}
SYMBOLS = (
    "buffer_verdict", "buffer_immune", "buffer_rescue", "buffer_expiry", "core_candidate", "next_try",
    "semantic_candidate", "demotion", "step_layer", "gate_review", "triage_review", "triage_due", "worth",
    "specificity", "standalone", "archive_verdict", "purge_due", "kept_by_itself", "is_session_note",
    "is_distilled", "resolved_at", "absorbed", "ranked", "confidence_of", "standing_of",
)  # fmt: skip


def _known_of_the_user(memory: Engram) -> dict[str, Any]:
    profile = memory.knowledge.profile()
    first = Filters(priorities=frozenset({Priority.P0}))
    return {
        "profile": ([one.text for one in profile.traits], profile.topics, profile.hours),
        "commitments": [one.text for one in memory.commitments.list()],
        "P0": [one.content for one in memory.list(filters=first)],
        "gaps": [one.question for one in memory.gaps.list()],
        "entities": [one.name for one in memory.entities.list()],
    }


def _missed(memory: Engram) -> list[str]:
    missed = []
    for question, words in ASKED.items():
        found = [hit.memory for hit in memory.recall(question, limit=FIRST, dry=True).hits]
        if not any(words in one.content and one.details.get("title") for one in found):
            missed.append(question)
    for symbol in SYMBOLS:
        found = [hit.memory for hit in memory.recall(f"what does {symbol} do?", limit=FIRST, dry=True).hits]
        if not any(one.kind is Kind.CODEBASE and one.details.get("symbol") == symbol for one in found):
            missed.append(symbol)
    return missed


def _lived(memory: Engram, clock: FakeClock) -> None:
    for _ in range(DAYS):
        clock.advance(days=1)
        memory.consolidate()


def _begun(clock: FakeClock) -> Engram:
    """A memory with a little of somebody's life in it."""
    memory = Engram.open(":memory:", clock=clock)
    memory.remember("I live in Bergen and work as a nurse at Haukeland")
    memory.remember("I'll send the report to Anna by Friday 20 November 2026")
    memory.remember("Never call me before nine in the morning")
    memory.observe("My sister Liv moved to Tromsø. I'm allergic to peanuts.", session="talk")
    memory.flush("talk")
    clock.advance(days=1)
    memory.consolidate()
    return memory


@pytest.mark.slow
def test_a_hundred_days_later_every_passage_is_found_and_the_user_is_the_same() -> None:
    start = datetime(2026, 3, 1, 9, tzinfo=UTC)
    clock = FakeClock(start)
    with _begun(clock) as memory:
        before = _known_of_the_user(memory)
        for page in PAGES:
            memory.sources.file(ROOT / "docs" / f"{page}.md")
        memory.sources.code(PACKAGE)
        count = memory.count()
        assert _missed(memory) == []
        clock.advance(hours=1)
        memory.consolidate()
        assert _known_of_the_user(memory) == before
        _lived(memory, clock)

        assert memory.count() == count
        assert _missed(memory) == []
        after = _known_of_the_user(memory)
    clock = FakeClock(start)
    with _begun(clock) as alone:  # a promise grows old without any document, too
        clock.advance(hours=1)
        _lived(alone, clock)
        assert after == _known_of_the_user(alone)
