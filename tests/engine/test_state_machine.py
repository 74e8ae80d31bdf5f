"""The engine against a plain dictionary: whatever is done in whatever order, both agree."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from engram import Engram, Filters, Outcome, Status
from engram.testing import FakeClock, HashEmbedder

WORDS = ("amber", "basalt", "cobalt", "dune", "ember", "fjord", "glacier", "harbour", "isle", "jade")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=2, max_size=4, unique=True).map(
    lambda found: " ".join(sorted(found))
)
EVERYTHING = Filters(statuses=frozenset(Status))


class EngineMachine(RuleBasedStateMachine):
    """Each text is a set of words, so that equal texts are repetitions and different ones never are."""

    ids = Bundle("ids")

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "memory.db"
        self.clock = FakeClock()
        self.known: dict[str, tuple[str, Status]] = {}
        self.memory = self._open()

    def _open(self) -> Engram:
        return Engram.open(self.file, clock=self.clock, embedder=HashEmbedder())

    @rule(target=ids, text=TEXTS)
    def remember(self, text: str) -> str:
        # A speaker keeps statements from being merged: what is tested here is bookkeeping, not the judgement.
        receipt = self.memory.remember(text, speaker="Ann")
        same = [
            id_ for id_, (content, status) in self.known.items() if (content, status) == (text, Status.ACTIVE)
        ]
        assert receipt.outcome is (Outcome.REINFORCED if same else Outcome.STORED)
        if same:
            assert receipt.memory.id in same
        self.known[receipt.memory.id] = (text, Status.ACTIVE)
        return receipt.memory.id

    @rule(id_=ids, text=TEXTS)
    def update(self, id_: str, text: str) -> None:
        if id_ in self.known:
            assert self.memory.update(id_, content=text).content == text
            self.known[id_] = (text, self.known[id_][1])

    @rule(id_=ids)
    def forget(self, id_: str) -> None:
        if id_ in self.known:
            self.memory.forget(id_)
            self.known[id_] = (self.known[id_][0], Status.ARCHIVED)

    @rule(id_=ids)
    def restore(self, id_: str) -> None:
        if id_ in self.known:
            self.memory.restore(id_)
            self.known[id_] = (self.known[id_][0], Status.ACTIVE)

    @rule(id_=consumes(ids))
    def erase(self, id_: str) -> None:
        if self.known.pop(id_, None) is not None:
            self.memory.erase(id_)
        assert self.memory.get(id_) is None

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = self._open()

    @rule(text=TEXTS)
    def recall(self, text: str) -> None:
        found = self.memory.recall(text, limit=100, min_relevance=0.0, dry=True)
        active = {id_: content for id_, (content, status) in self.known.items() if status is Status.ACTIVE}
        assert {hit.memory.id for hit in found} <= active.keys()
        wanted = {content for content in active.values() if set(content.split()) & set(text.split())}
        assert wanted <= {hit.memory.content for hit in found}

    @invariant()
    def the_list_agrees(self) -> None:
        listed = {
            one.id: (one.content, one.status) for one in self.memory.list(filters=EVERYTHING, limit=1_000)
        }
        assert listed == self.known

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()
            self.folder.cleanup()


TestEngine = pytest.mark.slow(EngineMachine.TestCase)
TestEngine.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
