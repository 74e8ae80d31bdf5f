"""Opening: what a user meets before anything is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram, EngramError
from engram.errors import AccessDenied, KeyNeeded, StoreClosed, StoreError
from engram.testing import FakeClock
from tests.engine.conftest import contents


def test_a_file_opened_for_reading_answers_and_writes_nothing(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock) as memory:
        memory.remember("The cat is called Mia")
    with Engram.open(file, clock=clock, read_only=True) as memory:
        assert contents(memory.recall("what is the cat called?")) == ["The cat is called Mia"]
        with pytest.raises(AccessDenied):
            memory.remember("The dog is called Rex")
        assert all(finding.ok for finding in memory.doctor())
        assert memory.stats().memories == 1


def test_two_engines_on_one_file_see_each_others_writes_at_once(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock) as one, Engram.open(file, clock=clock) as other:
        one.remember("The dog is called Rex")
        assert contents(other.recall("what is the dog called?"))[0] == "The dog is called Rex"
        other.remember("The fish is called Bo")
        assert contents(one.recall("what is the fish called?"))[0] == "The fish is called Bo"


def test_a_closed_engine_says_so(file: Path, clock: FakeClock) -> None:
    memory = Engram.open(file, clock=clock)
    memory.close()
    memory.close()

    with pytest.raises(StoreClosed):
        memory.recall("anything")
    with pytest.raises(StoreClosed):
        memory.remember("anything")


def test_what_is_no_engram_file_is_refused_in_words(tmp_path: Path) -> None:
    junk = tmp_path / "junk.db"
    junk.write_text("just some text " * 300)

    with pytest.raises(KeyNeeded):
        Engram.open(junk)
    assert junk.read_text().startswith("just some text")


def test_a_place_where_no_file_can_be_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError) as refused:
        Engram.open(tmp_path / "file" / "below" / "memory.db")
    assert "cannot be opened" in refused.value.message


def test_an_unknown_embedder_leaves_no_lock_behind(file: Path) -> None:
    with pytest.raises(EngramError):
        Engram.open(file, config={"embed.name": "imaginary"})
    with Engram.open(file) as memory:
        assert memory.remember("The cat is called Mia").embedded
