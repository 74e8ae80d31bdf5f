"""What a caller that is not the owner may take: it is counted by caller, told plainly, and comes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import TooManyRecalls, TooMuchWritten
from engram.model.event import Audited
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock

AGENT = Access(Scope(agent="rex"), Role.AGENT)


def test_an_agent_that_wrote_its_share_waits_a_day_and_the_others_do_not() -> None:
    clock = FakeClock()
    limits = {"memories_a_day": 3, "megabytes_a_day": 1}
    with Engram.open(":memory:", clock=clock, config={"limits": limits}) as memory:
        rex, ada = (memory.seen_by(AGENT, name) for name in ("rex", "ada"))
        for what in ("tea", "milk", "bread"):
            rex.remember(f"We are out of {what}")
        before = memory.count()
        with pytest.raises(TooMuchWritten) as told:
            rex.observe("We are out of salt", session="s")
        with pytest.raises(TooMuchWritten):
            ada.sources.text("word " * 300_000)
        ada.remember("We are out of pepper")
        memory.remember_many([f"Shelf {number} is full" for number in range(5)])

        assert told.value.code == "E4003"
        assert memory.count() == before + 6
        clock.advance(days=1, minutes=1)
        assert rex.remember("We are out of salt").outcome == "stored"


def test_a_share_that_is_changed_holds_at_once() -> None:
    with Engram.open(":memory:", clock=FakeClock()) as memory:
        rex = memory.seen_by(AGENT, "rex")
        rex.remember("We are out of tea")
        memory.maintenance.configure({"limits.memories_a_day": 1})
        with pytest.raises(TooMuchWritten):
            rex.remember("We are out of milk")


def test_what_was_written_counts_after_a_restart(tmp_path: Path) -> None:
    clock, path = FakeClock(), tmp_path / "memory.db"
    for number in range(3):
        with Engram.open(path, clock=clock, config={"limits": {"memories_a_day": 2}}) as memory:
            rex = memory.seen_by(AGENT, "rex")
            if number < 2:
                rex.remember(f"Shelf {number} is full")
            else:
                with pytest.raises(TooMuchWritten) as told:
                    rex.remember("Shelf 3 is full")
        clock.advance(minutes=30)

    assert 22 * 3_600 < told.value.seconds < 24 * 3_600


def test_recalls_are_counted_by_caller() -> None:
    with Engram.open(":memory:", clock=FakeClock(), config={"limits": {"recalls_a_minute": 2}}) as memory:
        rex, ada = (memory.seen_by(AGENT, name) for name in ("rex", "ada"))
        for _ in range(2):
            rex.recall("tea")
        with pytest.raises(TooManyRecalls):
            rex.recall("tea")
        ada.recall("tea")


def test_noise_blurs_what_an_agent_is_told_and_nothing_the_owner_is() -> None:
    with Engram.open(":memory:", config={"limits": {"noise": 0.5, "recalls_a_minute": 0}}) as memory:
        memory.remember("The heron nests behind the mill")
        agent = memory.seen_by(Access(Scope(), Role.AGENT), "rex")

        told = {hit.relevance for _ in range(40) for hit in agent.recall("where does the heron nest?")}
        known = {hit.relevance for _ in range(3) for hit in memory.recall("where does the heron nest?")}

        assert len(told) > 1
        assert len(known) == 1


def test_a_token_may_read_unless_told_otherwise() -> None:
    with Engram.open(":memory:") as memory:
        assert memory.tokens.create("somebody").token.role is Role.READER


def test_a_token_that_is_used_and_one_that_is_denied_stand_in_the_audit() -> None:
    with Engram.open(":memory:") as memory:
        issued = memory.tokens.create("rex")
        assert memory.tokens.bearer(issued.secret) is not None

        assert [(one.what, one.actor) for one in memory.vault.audit()] == [(Audited.TOKEN_USED, "rex")]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_a_process_with_a_key_leaves_no_picture_of_its_memory() -> None:
    script = (
        "import resource, ctypes; from engram import Engram\n"
        "Engram.open(':memory:', key=bytes(32)).close()\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["0", "0"]
