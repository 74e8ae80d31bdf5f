"""The memory for asyncio: the same verbs, awaited; the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from engram import AsyncEngram, Engram
from engram.aio.proxy import Threads, twin_of
from engram.config import Config
from engram.errors import NotFound, StoreClosed, StoreError
from engram.folder import has_verbs
from engram.model.scope import Access, Role, Scope
from engram.testing import HashEmbedder
from scripts import aio


def told(story: Callable[[AsyncEngram], Awaitable[None]], path: Path | str = ":memory:") -> None:
    """Tell a story with an open memory."""

    async def tell() -> None:
        async with AsyncEngram.open(path, config=Config(), embedder=HashEmbedder()) as memory:
            await story(memory)

    asyncio.run(tell())


def test_the_types_say_what_the_facade_says() -> None:
    assert aio.main(["--check"]) == 0, "run `make docs`"


def test_every_verb_has_a_twin_with_the_same_arguments() -> None:
    for kind in aio.handles(Engram):
        other = twin_of(kind)
        assert has_verbs(kind)
        for verb in aio.verbs_of(kind):
            mine = inspect.getattr_static(other, verb.name)
            if verb.is_property:
                assert isinstance(mine, property)
                continue
            ours, theirs = getattr(kind, verb.name), getattr(other, verb.name)
            assert inspect.signature(theirs).parameters == inspect.signature(ours).parameters, ours
            assert inspect.getdoc(theirs) == inspect.getdoc(ours)
            progress = inspect.signature(ours).parameters.get("progress")
            assert progress is None or progress.kind is progress.KEYWORD_ONLY


def test_what_is_remembered_is_recalled() -> None:
    async def story(memory: AsyncEngram) -> None:
        receipt = await memory.remember("My editor is Helix", category="preference")
        found = await memory.recall("my editor is Helix")
        page = await memory.list(limit=5)

        assert [hit.memory.id for hit in found] == [receipt.memory.id]
        assert [one.id for one in page] == [receipt.memory.id]
        assert memory.path == ":memory:"
        with pytest.raises(NotFound):
            await memory.pin("ffffffff")

    told(story)


def test_nouns_are_awaited_too() -> None:
    async def story(memory: AsyncEngram) -> None:
        await memory.facts.add("Anna", "lives in", "Bremen")
        claims = await memory.facts.query("anna")
        report = await memory.sources.text(
            "# House\n\nThe boiler was serviced in May 2025.", title="house.md"
        )
        issued = await memory.tokens.create("rex")

        assert [claim.fact.object for claim in claims] == ["bremen"]
        assert len(report.items) == 1
        assert [token.id for token in await memory.tokens.list()] == [issued.token.id]
        assert await memory.conflicts.list() == []
        assert [one.name for one in await memory.entities.list()]

    told(story)


@pytest.mark.slow
def test_an_export_comes_item_by_item() -> None:
    async def story(memory: AsyncEngram) -> None:
        await memory.remember_many([f"House {number * 37} has {number} windows" for number in range(250)])

        lines = [line async for line in memory.export()]
        first = [line["content"] async for line in some(memory.export(), 3)]

        assert len(lines) == (await memory.stats()).memories
        assert len(first) == 3

    async def some(items: Any, most: int) -> Any:
        count = 0
        async for item in items:
            yield item
            count += 1
            if count == most:
                return

    told(story)


def test_progress_is_told_in_the_event_loop() -> None:
    where: set[int] = set()

    async def story(memory: AsyncEngram) -> None:
        def tell(_: int) -> None:
            where.add(threading.get_ident())

        await memory.remember_many(["Anna lives in Bremen", "Tea is at four"], progress=tell)
        await asyncio.sleep(0)
        assert where == {threading.get_ident()}

    told(story)
    assert where


def test_the_event_loop_goes_on_while_a_thread_works() -> None:
    async def tell() -> None:
        threads, ticked, go_on = Threads(), asyncio.Event(), threading.Event()

        async def tick() -> None:
            ticked.set()
            go_on.set()

        waiting = asyncio.create_task(threads.run(go_on.wait, 20))
        asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(tick()))
        assert await waiting
        assert ticked.is_set()
        await threads.close(lambda: None)

    asyncio.run(tell())


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    async def story(memory: AsyncEngram) -> None:
        await asyncio.gather(
            *(memory.remember(f"Door {number * 91} opens to room {number}") for number in range(40))
        )

    told(story, tmp_path / "m.db")
    with Engram.open(tmp_path / "m.db", config=Config(), embedder=HashEmbedder()) as memory:
        assert memory.stats().memories == 40


def test_what_has_begun_is_finished_though_nobody_waits() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(20)
        done.set()

    async def tell() -> None:
        threads = Threads()
        writing = asyncio.create_task(threads.run(work))
        await asyncio.to_thread(begun.wait, 20)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        go_on.set()
        await threads.close(lambda: None)

    asyncio.run(tell())
    assert done.is_set()


def test_opening_can_be_awaited_and_closing_is_safe_twice(tmp_path: Path) -> None:
    async def tell() -> None:
        memory = await AsyncEngram.open(tmp_path / "m.db", config=Config(), embedder=HashEmbedder())
        await memory.close()
        await memory.close()
        with pytest.raises(StoreClosed):
            await memory.stats()
        (tmp_path / "no.db").write_bytes(b"this is no database at all, not in the least" * 40)
        with pytest.raises(StoreError):
            await AsyncEngram.open(tmp_path / "no.db", config=Config(), embedder=HashEmbedder())

    before = names()
    asyncio.run(tell())
    assert [name for name in names() if name not in before] == []


def names() -> Iterable[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("engram")]


def test_another_caller_sees_only_what_is_theirs() -> None:
    async def story(memory: AsyncEngram) -> None:
        rex = await memory.seen_by(Access(Scope(project="apollo", agent="rex"), Role.AGENT), "rex")
        await rex.remember("The probe flies on Tuesday")
        other = await memory.seen_by(Access(Scope(project="zeus", agent="eve"), Role.AGENT), "eve")

        assert len(await rex.list()) == 1
        assert len(await other.list()) == 0
        await rex.settle()

    told(story)


def test_a_session_is_held_by_async_with() -> None:
    async def story(memory: AsyncEngram) -> None:
        await memory.remember("My editor is Helix")
        async with memory.session(id="monday") as session, session.turn("what is my editor?") as turn:
            assert turn.context.messages
            turn.reply = "Helix."
        words = [one.content for one in await memory.turns("monday")]
        assert words == ["what is my editor?", "Helix."]

    told(story)


def test_a_call_can_be_a_task_and_one_that_is_never_awaited_is_told() -> None:
    async def story(memory: AsyncEngram) -> None:
        kept = asyncio.create_task(memory.remember("My editor is Helix"))
        assert (await kept).memory.content == "My editor is Helix"
        call = memory.remember("Tea is at four")
        with pytest.warns(RuntimeWarning, match="never awaited"):
            del call

    told(story)
