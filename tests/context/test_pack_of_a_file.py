"""The pack of a real file: the same bytes as from any other store, all day, and without a right to write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.context.recall_pack import PackRequest, build_pack
from engram.errors import AccessDenied
from engram.model.memory import Priority
from engram.model.scope import Scope
from engram.model.session import Trigger
from engram.store.sqlite import SqliteStore
from engram.testing import START, FakeClock, HashEmbedder
from tests.context.briefs import ANY, made, pack, tools_with
from tests.store.making import put

ECHO = "an echo of what was recalled"


def test_a_file_gives_the_bytes_that_the_store_without_one_gives(tmp_path: Path) -> None:
    kept = [
        made(f"Decision {n} about the port", category=category, priority=priority, days=n % 95, tags=tags)
        for n in range(60)
        for category, priority, tags in [
            ("decision", Priority.P1, ()),
            ("constraint", Priority.P0, ()),
            ("fact", Priority.P2, ("supplier",)),
            ("procedure", Priority.P1, ("focus",)),
        ][n % 4 : n % 4 + 1]
    ]
    trigger = Trigger("t1", ("x",), ("tag:supplier",), Scope(), START)
    asked: dict[str, Any] = {"tasks": ("restart",), "triggers": ((trigger, "x"),), "message": "x"}
    tools = tools_with(kept)
    file = SqliteStore.open(tmp_path / "m.db", tools.clock)
    for one in reversed(kept):
        put(file, one)

    written = build_pack(PackRequest(ANY, **asked), replace(tools, store=file))

    assert written == pack(kept, **asked)
    assert written.words > 400
    file.close()


def test_a_pack_is_the_same_all_day_and_another_the_next(tmp_path: Path) -> None:
    clock = FakeClock(START.replace(hour=0, minute=1))
    with Engram.open(tmp_path / "m.db", clock=clock, embedder=HashEmbedder()) as memory:
        memory.remember("Never deploy on Fridays", category="constraint")
        memory.remember("The port is 8443", category="fact")
        memory.commitments.open("I'll send the report by Friday")
        packs = []
        for hours in (0, 8, 15, 1):
            clock.advance(hours=hours)
            packs.append(memory.recall_pack(tasks=["call Ada"]).text)

    assert packs[0] == packs[1] == packs[2]
    assert "(0 days, due 2024-01-05)" in packs[0]
    assert "(1 day, due 2024-01-05)" in packs[3]


def test_a_file_that_may_only_be_read_still_tells(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder()) as memory:
        memory.remember("Never deploy on Fridays", category="constraint")
        memory.commitments.open("Send the report")
        memory.triggers.add(["x"], ["Ada"])

    with Engram.open(tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder(), read_only=True) as memory:
        assert "Never deploy" in memory.recall_pack("x").text
        assert "Never deploy" in memory.resume(400).text
        assert len(memory.commitments.list()) == len(memory.triggers.list()) == 1
        with pytest.raises(AccessDenied):
            memory.triggers.remove(memory.triggers.list()[0].id)


@pytest.mark.parametrize(("tell", "left_out"), [("resume", [ECHO]), ("recall_pack", [ECHO]), ("stats", [])])
def test_what_was_told_is_not_learned_again_from_an_assistant(
    tmp_path: Path, tell: str, left_out: list[str]
) -> None:
    said = "We decided that the Heron service moves to Frankfurt in June"
    with Engram.open(tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder()) as memory:
        memory.remember(said)
        getattr(memory, tell)()
        heard = memory.observe(assistant=said, session="s")
        heard = heard if heard.captured else memory.flush()

    assert [one.why for one in heard.left_out] == left_out
