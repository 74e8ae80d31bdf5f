"""What a person can do with a memory afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from engram import Engram, Receipt, Status
from engram.errors import (
    BadTransition,
    CycleRefused,
    EmbedderMismatch,
    EmbedderRefused,
    InvalidInput,
    UnknownValue,
)
from engram.model.memory import Space, Verification
from engram.testing import FakeClock, Floats, HashEmbedder
from tests.engine.conftest import contents


def test_an_edit_is_a_new_version_with_the_old_one_in_the_history(memory: Engram, clock: FakeClock) -> None:
    old = memory.remember("The standup is at nine").memory
    clock.advance(days=1)
    new = memory.update(old.id, content="The standup is at ten", tags=["team"], because="moved")

    assert (new.version, new.tags, new.created_at) == (2, ("team",), old.created_at)
    assert new.modified_at > old.modified_at
    assert contents(memory.recall("standup")) == ["The standup is at ten"]
    event = memory.events(old.id)[0]
    assert (event.verb, event.because, event.actor) == ("updated", "moved", "human")
    assert event.before["content"] == "The standup is at nine"


def test_an_edit_that_changes_nothing_leaves_no_trace(memory: Engram) -> None:
    old = memory.remember("The standup is at nine").memory

    assert memory.update(old.id, content="The standup is at nine") == old
    assert len(memory.events(old.id)) == 1


def test_only_known_fields_are_edited(memory: Engram) -> None:
    old = memory.remember("The standup is at nine").memory

    with pytest.raises(UnknownValue):
        memory.update(old.id, id="mine")


def test_forgetting_archives_and_restoring_brings_back(memory: Engram) -> None:
    stored = memory.remember("The standup is at nine").memory

    assert memory.forget(stored.id, "stale").status is Status.ARCHIVED
    assert contents(memory.recall("standup")) == []
    assert memory.restore(stored.id[:8]).status is Status.ACTIVE
    assert contents(memory.recall("standup")) == ["The standup is at nine"]
    assert [event.verb for event in memory.events(stored.id)] == ["restored", "archived", "stored"]


def test_a_transition_that_makes_no_sense_is_refused(memory: Engram) -> None:
    stored = memory.remember("The standup is at nine").memory
    memory.forget(stored.id)

    with pytest.raises(BadTransition):
        memory.set_status(stored.id, "superseded")
    with pytest.raises(BadTransition):
        memory.set_status(memory.remember("Another").memory.id, "merged")


def test_an_erased_memory_is_nowhere_in_the_file(memory: Engram, file: Path) -> None:
    secret = "xylophonequartz"
    stored = memory.remember(f"The vault code is {secret}", session="s1").memory
    memory.remember("Something else", session="s1")
    memory.update(stored.id, content=f"The vault code was {secret}")
    memory.recall(secret)
    memory.erase(stored.id)

    assert memory.get(stored.id) is None
    assert contents(memory.recall(secret, min_relevance=0.0, include_archived=True)) != [stored.content]
    memory.close()
    for path in file.parent.iterdir():
        assert secret.encode() not in path.read_bytes(), path.name


def test_confirming_vouches_for_a_memory(memory: Engram, clock: FakeClock) -> None:
    stored = memory.remember("The cat is called Mia", confidence=0.3, source="extraction").memory
    confirmed = memory.confirm(stored.id)

    assert confirmed.verification is Verification.USER_CONFIRMED
    assert confirmed.expires_at is None
    assert confirmed.verified_at == clock.now()
    assert confirmed.confidence >= 0.95


def test_pinning_and_unpinning(memory: Engram) -> None:
    stored = memory.remember("The cat is called Mia").memory

    assert memory.pin(stored.id).pinned
    assert not memory.pin(stored.id, pinned=False).pinned
    assert [event.verb for event in memory.events(stored.id)] == ["unpinned", "pinned", "stored"]


def test_relations_are_seen_from_both_ends(memory: Engram) -> None:
    cause = memory.remember("The disk was full").memory
    effect = memory.remember("The build failed").memory
    memory.relate(effect.id, cause.id[:8], "caused_by", weight=0.8)

    assert memory.relations(cause.id) == memory.relations(effect.id)
    with pytest.raises(CycleRefused):
        memory.relate(cause.id, effect.id, "caused_by")
    with pytest.raises(InvalidInput):
        memory.relate(cause.id, cause.id)
    assert memory.unrelate(effect.id, cause.id, "caused_by")
    assert not memory.unrelate(effect.id, cause.id, "caused_by")


def test_pages_go_on_where_the_last_one_ended(memory: Engram) -> None:
    memory.remember_many([f"Fact number {i} about topic {chr(97 + i)}" for i in range(25)])
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.list(limit=10, cursor=cursor)
        seen += [one.content for one in page]
        cursor = page.cursor
        if cursor is None:
            break
        memory.remember(f"Something new meanwhile {len(seen)}")

    assert seen == [f"Fact number {i} about topic {chr(97 + i)}" for i in reversed(range(25))]


def test_everything_is_there_after_reopening(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock) as memory:
        stored = memory.remember("The cat is called Mia", details={"age": 4}).memory
    with Engram.open(file, clock=clock) as memory:
        assert memory.get(stored.id) == stored
        assert contents(memory.recall("what is the cat's name?")) == ["The cat is called Mia"]


def test_without_an_embedder_words_still_find_and_vectors_come_later(file: Path, clock: FakeClock) -> None:
    moody = HashEmbedder()
    moody.down = True
    with Engram.open(file, clock=clock, embedder=moody) as memory:
        receipt = memory.remember("The cat is called Mia")
        assert not receipt.embedded
        found = memory.recall("cat called", explain=True)
        assert contents(found) == ["The cat is called Mia"]
        assert any("words only" in note for note in found.plan.notes)
        assert memory.stats().pending == 1

        moody.down = False
        memory.remember("The dog is called Rex")
        assert memory.stats().pending == 0


class Choosy(HashEmbedder):
    """Refuses long texts, and questions altogether when it lies about their length."""

    lies = False

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        if self.lies:
            raise EmbedderMismatch("The embedder sent an array of shape (1, 3).")
        if any(len(text) > 40 for text in texts):
            raise EmbedderRefused("too long for this model")
        return super().embed(texts)


def test_one_text_the_embedder_refuses_holds_nobody_up(file: Path, clock: FakeClock) -> None:
    long = "The old lighthouse keeper tells the same story every single winter"
    with Engram.open(file, clock=clock, embedder=Choosy()) as memory:
        receipts = memory.remember_many(["The cat is called Mia", long, "The dog is called Rex"])
        assert all(receipt.memory.id for receipt in receipts if isinstance(receipt, Receipt))
        assert memory.reembed() == 2
        assert memory.stats().pending == 1
        assert contents(memory.recall("lighthouse keeper"))[0] == long


def test_an_embedder_that_lies_breaks_nothing(file: Path, clock: FakeClock) -> None:
    liar = Choosy()
    liar.lies = True
    with Engram.open(file, clock=clock, embedder=liar) as memory:
        assert not memory.remember("The cat is called Mia").embedded
        found = memory.recall("cat called")
        assert contents(found) == ["The cat is called Mia"]
        assert any("shape" in note for note in found.plan.notes)


def test_changing_the_model_reembeds_and_never_mixes(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock, embedder=HashEmbedder(dims=64)) as memory:
        memory.remember_many([f"Fact {i} about {chr(97 + i)}" for i in range(20)])
    with Engram.open(file, clock=clock, embedder=HashEmbedder(dims=32)) as memory:
        assert memory.stats().pending == 20
        assert contents(memory.recall("fact about c"))
        seen: list[tuple[int, int]] = []
        assert memory.reembed(progress=lambda done, total: seen.append((done, total))) == 20
        assert seen[-1] == (20, 20)
        assert memory.stats().pending == 0
        assert memory.reembed() == 0


def test_until_all_is_embedded_anew_both_models_answer_and_then_the_old_vectors_go(
    file: Path, clock: FakeClock
) -> None:
    with Engram.open(file, clock=clock, config={"embed.batch": 2}) as memory:
        memory.remember_many(["The kitten sleeps on my sofa", "I bought a bicycle", "Bread needs flour"])
        (old,) = memory.stats().vectors

    asked = "which animal rests on the couch?"

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with Engram.open(file, clock=clock, embedder=HashEmbedder(dims=64), config={"embed.batch": 2}) as memory:
        found = memory.recall(asked)
        assert contents(found)[0] == "The kitten sleeps on my sofa"  # which shares no word with it
        assert any("also searched by engram-static" in note for note in found.plan.notes)
        with pytest.raises(KeyboardInterrupt):
            memory.reembed(progress=stop)
        assert (memory.stats().vectors[old], memory.stats().pending) == (3, 1)
        assert contents(memory.recall("what do I need for a loaf?"))[0] == "Bread needs flour"

    with Engram.open(file, clock=clock, embedder=HashEmbedder(dims=64)) as memory:
        assert memory.reembed() == 1
        assert memory.stats().vectors == {"hash/64/1": 3}
        found = memory.recall(asked)
        assert not any("also searched" in note for note in found.plan.notes)
        assert memory.doctor()[0].ok


DYING = """
import os, signal, sys
from engram import Engram
from engram.testing import HashEmbedder

with Engram.open(sys.argv[1], embedder=HashEmbedder(dims=64), config={"embed.batch": 2}) as memory:
    memory.reembed(progress=lambda done, total: done < 4 or os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.slow
def test_killed_while_embedding_anew_it_loses_nothing_and_goes_on(file: Path) -> None:
    told = [
        f"The {thing} is in the barn" for thing in ("plough", "harrow", "ladder", "wagon", "scythe", "axe")
    ]
    with Engram.open(file) as memory:
        memory.remember_many(told)

    died = subprocess.run([sys.executable, "-c", DYING, str(file)], check=False, timeout=60)

    assert died.returncode == -signal.SIGKILL
    with Engram.open(file, embedder=HashEmbedder(dims=64)) as memory:
        assert memory.stats().pending == 2
        assert [contents(memory.recall(one))[0] for one in told] == told
        assert memory.reembed() == 2
        assert memory.stats().vectors == {"hash/64/1": 6}
        assert [contents(memory.recall(one))[0] for one in told] == told


def test_an_export_can_be_read_in_again(memory: Engram, tmp_path: Path, clock: FakeClock) -> None:
    memory.remember("The cat is called Mia", tags=["pets"], importance=0.9)
    memory.remember("Hello there", speaker="Ann", session="s1", event_time="2025-01-02T03:04:05+00:00")
    records = list(memory.export())

    with Engram.open(tmp_path / "other.db", clock=clock) as other:
        other.remember_many(reversed(records))
        kept = (
            "content",
            "tags",
            "importance",
            "speaker",
            "session",
            "category",
            "kind",
            "event_time",
            "scope",
        )
        for before, after in zip(records, other.export(), strict=True):
            for name in kept[:-2]:
                assert before[name] == after[name]


def test_the_doctor_finds_a_healthy_file_healthy(memory: Engram) -> None:
    memory.remember("The cat is called Mia")

    findings = memory.doctor()
    assert all(finding.ok for finding in findings), findings
    assert {"embedder", "vectors"} <= {finding.name for finding in findings}
