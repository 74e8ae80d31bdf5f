"""What is special about a memory in PostgreSQL: several engines, moving there and back, a lost server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np
import pytest

from engram import Engram
from engram.bench.speed import drafts, queries
from engram.config import load
from engram.errors import DatabaseDown, FileExists, KeyNeeded, StoreError, UpkeepBusy
from engram.model.clock import SystemClock
from engram.model.event import Verb
from engram.model.maintenance import Judgement
from engram.model.memory import ANY_STATUS, Filters, Kind, Layer, Memory, Status
from engram.model.scope import Access, Role, Scope
from engram.opening import migrate
from engram.ports import Embedded, Unit, View
from engram.store.postgres import PostgresStore, listener
from engram.store.sqlite import SqliteStore
from engram.store.sqlite.connection import StoreSettings, ask
from engram.store.sqlite.writer import Writer
from engram.testing import START, HashEmbedder
from engram.text.words import terms
from tests import postgres
from tests.engine.conftest import contents
from tests.store import making


@pytest.fixture(autouse=True)
def _files_are_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.config.getoption("--postgres"):
        pytest.skip("needs a server: --postgres")
    monkeypatch.setattr(SqliteStore, "open", postgres.open_file)


@pytest.fixture
def address() -> Iterator[str]:
    """A new, empty memory on a server."""
    with postgres.new_memory() as one:
        yield one


def opened(where: str | Path) -> Engram:
    return Engram.open(where, embedder=HashEmbedder())


def tell(memory: Engram) -> None:
    """Use a bit of everything that is kept."""
    anna = memory.remember("My sister Anna lives in Bremen", tags=["family"]).memory
    memory.remember("Anna moved to Hamburg", details={"year": 2024, "sure": True})
    memory.remember("The password of the router is hunter2", session="s1")
    memory.observe("My editor is Helix now", "Noted.", session="s2")
    memory.flush()
    memory.feedback(anna.id, helpful=False, query="which pets has Anna?")
    memory.recall("where does Anna live?")


def everything(where: str | Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    from engram.opening import open_store
    from engram.store.postgres.transfer import tables

    store, _ = open_store(str(where), load(), SystemClock(), read_only=True)
    with store.at_one_moment() as db:
        asked = {one.name: ask(db, f'SELECT {one.named} FROM "{one.name}"') for one in tables()}
        rows = {name: sorted(lines, key=repr) for name, lines in asked.items()}
    store.close()
    return rows


def test_with_a_key_what_is_sensitive_is_sealed_and_no_other_key_opens_it(address: str) -> None:
    key = bytes(range(32))
    with Engram.open(address, embedder=HashEmbedder(), key=key) as memory:
        memory.remember("The password of the attic is Quokka-77")
        memory.observe("My PIN is 70093841.", "Noted: 70093841", session="monday")
        memory.flush()
    for other in (None, bytes(32)):
        with pytest.raises(KeyNeeded):
            Engram.open(address, embedder=HashEmbedder(), key=other)
    with Engram.open(address, embedder=HashEmbedder(), key=key) as memory:
        opened = [memory.get(one.id) for one in memory.list()]
        kept = json.dumps([*memory.export(), *map(str, memory.history.turns("monday"))], default=str)

    assert "The password of the attic is Quokka-77" in {one.content for one in opened if one}
    assert [word for word in ("Quokka-77", "70093841") if word in kept] == []


def test_several_engines_see_each_others_writes(address: str) -> None:
    with opened(address) as first, opened(address) as second:
        first.remember("My editor is vim")
        assert contents(second.recall("which editor do I use?")) == ["My editor is vim"]
        second.remember("Actually, my editor is Helix now")
        assert contents(first.recall("which editor do I use?"))[0] == "Actually, my editor is Helix now"
        memory = second.remember("The cat is called Mo").memory
        assert contents(first.recall("what is the cat called?")) == ["The cat is called Mo"]
        second.erase(memory.id)
        assert contents(first.recall("what is the cat called?")) == []
        assert first.stats() == second.stats()


def test_a_memory_moves_there_and_back_as_it_was(address: str, tmp_path: Path) -> None:
    file, back = tmp_path / "here.db", tmp_path / "back.db"
    with opened(file) as memory:
        tell(memory)
        answered = contents(memory.recall("where does Anna live?"))
    before = everything(file)

    report = migrate(file, address, load())

    assert report.memories == len(before["memories"])
    assert everything(address) == before
    with opened(address) as memory:
        assert contents(memory.recall("where does Anna live?")) == answered
        assert "Anna moved to Hamburg" in answered
        assert all(finding.ok for finding in memory.doctor())
        memory.remember("Numbers go on where they were")
    with pytest.raises(StoreError, match="holds a memory already"):
        migrate(file, address, load())

    after = everything(address)
    migrate(address, back, load())
    assert everything(back) == after
    with pytest.raises(FileExists):
        migrate(address, back, load())


def test_a_move_that_was_cut_off_goes_on(address: str, tmp_path: Path) -> None:
    file = tmp_path / "here.db"
    with opened(file) as memory:
        tell(memory)
    seen: list[str] = []

    def cut_off(table: str, rows: int) -> None:
        seen.extend([table] * rows)
        if table == "memories":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(file, address, load(), cut_off)
    with pytest.raises(StoreError, match="cut off"):
        opened(address)
    again: list[str] = []
    migrate(file, address, load(), lambda table, rows: again.extend([table] * rows))

    assert "memories" in seen
    assert "memories" not in again
    assert everything(address) == everything(file)


def test_a_connection_that_broke_is_opened_again(address: str) -> None:
    import psycopg

    with opened(address) as memory:
        memory.remember("The cat is called Mo")
        with psycopg.connect(postgres.server(), autocommit=True) as db:
            db.execute(
                "SELECT pg_terminate_backend(l.pid) FROM pg_stat_activity AS l "
                "WHERE l.application_name = 'engram' AND l.pid <> pg_backend_pid()"
            )
        assert contents(memory.recall("what is the cat called?")) == ["The cat is called Mo"]
        memory.remember("The dog is called Rex")
        assert memory.stats().memories == 2


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with pytest.raises(DatabaseDown) as refused:
        opened("postgresql://me:secret@127.0.0.1:1/nowhere")
    assert "secret" not in str(refused.value)


def test_what_does_not_fit_into_memory_is_searched_by_the_server_with_the_same_answers(address: str) -> None:
    questions = [text for text, _ in queries(7, 300, 15)]
    wanted = Filters(kinds=frozenset({Kind.EPISODIC}), layers=frozenset({Layer.WORKING}))

    def asked(in_memory: int) -> tuple[list[list[str]], list[list[str]], str]:
        with Engram.open(
            address, embedder=HashEmbedder(), config={"store": {"in_memory": in_memory}}
        ) as memory:
            tools = memory.maintenance._caller.tools  # noqa: SLF001 - to wait for the indexes
            assert isinstance(tools.store, PostgresStore)
            space = tools.embedder.space
            tools.store.vectors.sign(space, np.zeros(space.dims, dtype=np.float32))
            memory.recall(questions[0])
            tools.store.settle()
            red = memory.seen_by(Access(Scope("red"), Role.AGENT), "bob")
            plain = [contents(memory.recall(text, limit=10)) for text in questions]
            filtered = [contents(red.recall(text, limit=10, filters=wanted)) for text in questions]
            return plain, filtered, tools.index.stats(space).mode

    with opened(address) as memory:
        memory.remember_many(list(drafts(7, 300)))
        red = memory.seen_by(Access(Scope("red"), Role.AGENT), "anna")
        red.remember_many(list(drafts(8, 40)))
    held, held_filtered, mode = asked(1_000_000)
    assert mode == "exact"
    searched, searched_filtered, mode = asked(20)
    assert mode == "stored"

    assert [hits[:1] for hits in searched] == [hits[:1] for hits in held]
    pairs = [*zip(held, searched, strict=True), *zip(held_filtered, searched_filtered, strict=True)]
    shared = [len(set(one) & set(other)) / max(1, len(one)) for one, other in pairs]
    assert sum(shared) / len(shared) > 0.95


def test_a_connection_sees_no_namespace_that_it_has_not_named(address: str) -> None:
    import psycopg

    from engram.store.postgres.wall import OPEN, WALLED

    with opened(address) as memory:
        for place in ("red", "blue"):
            tell(memory.seen_by(Access(Scope(place), Role.AGENT), "anna"))
        reader = memory.seen_by(Access(Scope("red"), Role.AGENT), "bob")
        store = memory.maintenance._caller.tools.store  # noqa: SLF001 - what an engine's own connection sees
        assert isinstance(store, SqliteStore)
        with store.reading():
            reader.recall("where does Anna live?")
            with store.at_one_moment() as own:
                assert {name for (name,) in ask(own, "SELECT name FROM namespaces")} == {"red"}

    def counted(db: psycopg.Connection[Any]) -> dict[str, int]:
        lines = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone() for name in WALLED}
        return {name: line[0] for name, line in lines.items() if line and line[0]}

    with psycopg.connect(address, autocommit=True) as db:
        whole = counted(db)
        (red,) = db.execute("SELECT id FROM namespaces WHERE name = 'red'").fetchone() or (0,)
        db.execute("SELECT set_config('role', current_user || '_reader', false)")
        every = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall()
        assert {name for (name,) in every} == OPEN | set(WALLED)

        assert counted(db) == {}
        db.execute("SET engram.namespaces = '*'")
        with pytest.raises(psycopg.Error):
            counted(db)
        db.execute(f"SET engram.namespaces = '{red}'")
        half = counted(db)
        assert {"memories", "texts", "embeddings", "turns", "events", "facts", "mentions"} <= set(half)
        assert all(half[name] < count for name, count in whole.items() if name in half)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("UPDATE memories SET content = 'mine'")


def test_an_engine_follows_what_others_write_without_being_asked(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr(listener, "BEGINS_AFTER_S", 0.0)
    monkeypatch.setattr(listener, "AGAIN_S", 0.0)
    with opened(address) as memory:
        memory.remember("The cat is called Mo")
        memory.recall("what is the cat called?")
        store = memory.maintenance._caller.tools.store  # noqa: SLF001 - what it holds without a question
        assert isinstance(store, PostgresStore)
        (table,) = store._tables._tables.values()  # noqa: SLF001
        hears = store._listener.connected  # noqa: SLF001
        for number in range(2):
            assert hears.wait(60)
            held = table.size
            other = [sys.executable, "-c", OTHER, address, f"The dog number {number} is called Rex"]
            subprocess.run(other, check=True, timeout=120)
            ends = time.monotonic() + 60
            while table.size == held and time.monotonic() < ends:
                time.sleep(0.02)
            assert table.size > held
            hears.clear()  # set again by the connection that comes after this one
            with psycopg.connect(postgres.server(), autocommit=True) as db:
                db.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
                )


OTHER = """
import sys
from engram import Engram
from engram.testing import HashEmbedder

with Engram.open(sys.argv[1], embedder=HashEmbedder()) as memory:
    memory.remember(sys.argv[2])
"""

ENGINE = """
import sys
from itertools import count
from engram import Access, Engram, Scope
from engram.testing import HashEmbedder

address, name = sys.argv[1:]
place = Access(Scope(f"team{int(name[1:]) % 3}"))
with Engram.open(address, embedder=HashEmbedder(), access=place) as memory:
    print("open", flush=True)
    for number in count():
        said = f"Engine {name} counts {name}x{number}"
        kept = memory.remember(said).memory
        print("kept", kept.id, flush=True)
        found = [hit.memory.id for hit in memory.recall(f"who counts {name}x{number}?")]
        if kept.id not in found:
            print("lost", kept.id, flush=True)
            sys.exit("what was written is not found")
"""


@dataclass
class EngineProcess:
    """An engine of its own that writes and recalls until it is killed, and what it said it has kept."""

    process: subprocess.Popen[str]
    said: list[str]
    reading: threading.Thread

    @classmethod
    def start(cls, address: str, name: str) -> EngineProcess:
        command = [sys.executable, "-c", ENGINE, address, name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said: list[str] = []
        assert process.stdout is not None
        reading = threading.Thread(target=said.extend, args=(process.stdout,))
        reading.start()
        return cls(process, said, reading)

    def kill(self) -> None:
        self.process.kill()
        self.reading.join()
        with self.process:
            pass  # waits for it and closes its pipe


@pytest.mark.slow
def test_engines_that_are_killed_lose_nothing_and_disturb_nobody(address: str) -> None:
    opened(address).close()
    many, rounds, pause_s = (int(part) for part in os.environ.get("ENGRAM_TEST_ENGINES", "4x4x2").split("x"))
    running = [EngineProcess.start(address, f"e{number}") for number in range(many)]
    ended: list[EngineProcess] = []
    while any(not one.said for one in running):
        time.sleep(0.1)
    for number in range(rounds):
        time.sleep(pause_s)
        failed = ["".join(one.said[-5:]) for one in running if one.process.poll() is not None]
        assert failed == []
        one = running.pop(0)
        one.kill()
        ended.append(one)
        running.append(EngineProcess.start(address, f"e{many + number}"))
    for one in running:
        one.kill()
    said = [line.split() for one in [*ended, *running] for line in one.said]
    kept = {words[1] for words in said if words[0] == "kept" and len(words) > 1}

    assert len(kept) > rounds
    assert not [words for words in said if words[0] == "lost"]
    with Engram.open(address, embedder=HashEmbedder(), access=Access.everything()) as memory:
        there = {line["id"] for line in memory.export()}
        assert kept - there == set()
        assert [finding.name for finding in memory.doctor() if not finding.ok] == []


def test_a_session_goes_on_at_whichever_engine_is_asked(address: str) -> None:
    with opened(address) as first, opened(address) as second:
        name = first.sessions.start(agent="helper").id
        begun = first.sessions.turn(name, "My sister Anna lives in Bremen")
        assert begun.messages[-1]["content"] == "My sister Anna lives in Bremen"
        second.sessions.reply(name, "A fine town, Bremen.")  # the other one hears the answer
        second.sessions.hold(name, "We plan a visit in May")
        later = first.sessions.turn(name, "When do we go?")
        spoken = [one["content"] for one in later.messages]
        assert "A fine town, Bremen." in spoken
        assert "We plan a visit in May" in " ".join(spoken)
        second.sessions.turn(name, "And how do we get there?")  # the last question was left without an answer
        assert second.sessions.end(name) is not None
        said = [turn.content for turn in second.turns(name)]
        assert said == [
            "My sister Anna lives in Bremen",
            "A fine town, Bremen.",
            "When do we go?",
            "And how do we get there?",
        ]
        other = second.sessions.start(agent="helper").id
        assert first.sessions.start(agent="helper").id != other  # it is awake: a talk of its own


@contextmanager
def served(address: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """An engine as `deploy/docker-compose.yml` starts it, but for the port."""
    command = [sys.executable, "-m", "engram", "serve", "--host", "127.0.0.1", "--port", "0", "--json"]
    told = {"ENGRAM_FILE": address, "ENGRAM_API_KEY": "k" * 48, "PYTHONUNBUFFERED": "1"}
    bearer = {"Authorization": f"Bearer {told['ENGRAM_API_KEY']}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **told}) as run:
        try:
            assert run.stdout is not None
            url = json.loads(run.stdout.readline())["url"]
            with httpx.Client(base_url=url, headers=bearer, timeout=60) as client:
                yield client, run
        finally:
            run.kill()


@pytest.mark.slow
def test_two_servers_behind_a_balancer_are_one_memory(address: str) -> None:
    with served(address) as (first, process), served(address) as (second, _):
        balancer = cycle((first, second))

        def say(path: str, told: dict[str, str], **headers: str) -> dict[str, Any]:
            answer = next(balancer).post(path, json=told, headers=headers)
            assert answer.status_code < 300, answer.text
            found: dict[str, Any] = answer.json()
            return found

        assert next(balancer).get("/health").json()["status"]
        kept = [say("/v1/memories", {"content": f"Room {n} is {c}"}) for n, c in enumerate(("red", "blue"))]
        asked = [next(balancer).get("/v1/recall", params={"q": "which colour is room 1?"}) for _ in range(2)]
        assert {one.json()["hits"][0]["memory"]["content"] for one in asked} == {"Room 1 is blue"}
        again = [say("/v1/memories", {"content": "Once only"}, **{"Idempotency-Key": "k1"}) for _ in range(2)]
        assert again[0]["memory"]["id"] == again[1]["memory"]["id"]
        session = say("/v1/sessions", {"agent": "helper"})["id"]
        say(f"/v1/sessions/{session}/turn", {"message": "My sister Anna lives in Bremen"})
        say(f"/v1/sessions/{session}/reply", {"reply": "Noted."})
        process.kill()
        process.wait()
        later = second.post(f"/v1/sessions/{session}/turn", json={"message": "Where does she live?"}).json()
        assert "My sister Anna lives in Bremen" in [one["content"] for one in later["messages"]]
        there = {line["id"] for line in second.get("/v1/memories").json()["memories"]}
        assert {one["memory"]["id"] for one in kept} <= there


# ---------------------------------------------------------------- units side by side


@contextmanager
def stores(address: str, count: int) -> Iterator[list[PostgresStore]]:
    """So many engines' stores of one database."""
    with ExitStack() as opened_:
        yield [
            opened_.enter_context(
                closing(PostgresStore.open_address(address, SystemClock(), StoreSettings(busy_timeout_s=30)))
            )
            for _ in range(count)
        ]


def keep(store: PostgresStore, namespace: str, number: int, pause: Callable[[], object] = int) -> Memory:
    """Write a memory, every other with a vector, and two events, with a pause in the middle of the unit."""
    content = f"{namespace} counts {number}"
    memory = making.make(content, id=f"{namespace}-{number}", scope=Scope(namespace))

    def work(unit: Unit) -> None:
        vector = Embedded(making.SPACE, making.vector(number)) if number % 2 else None
        unit.add(memory, making.found_by(content), vector, "")
        pause()
        unit.change(replace(memory, importance=0.9), Verb.UPDATED, "")

    store.write(work, "tester", namespace)
    return memory


def test_units_of_other_namespaces_go_on_beside_one_that_takes_long(address: str) -> None:
    begun, may_end, done = threading.Event(), threading.Event(), list[str]()

    def pause() -> None:
        begun.set()
        assert may_end.wait(60)

    def write(store: PostgresStore, namespace: str, number: int, pause: Callable[[], object] = int) -> None:
        keep(store, namespace, number, pause)
        done.append(f"{namespace}-{number}")

    with stores(address, 3) as (first, second, third):
        for namespace in ("acme", "blue"):
            keep(first, namespace, 0)
        slow = threading.Thread(target=write, args=(first, "acme", 1, pause))
        slow.start()
        assert begun.wait(60)
        same = threading.Thread(target=write, args=(third, "acme", 2))
        same.start()
        write(second, "blue", 1)
        seen = [event.memory for event in second.ledger.after("", Access.everything(), 100)]
        assert "acme-1" not in seen  # nor was it waited for
        assert done == ["blue-1"]
        may_end.set()
        slow.join()
        same.join()
        assert done == ["blue-1", "acme-1", "acme-2"]
        assert first.ledger.newest() == third.ledger.newest()


def test_units_that_wait_for_each_other_are_done_again(address: str) -> None:
    both = threading.Barrier(2, timeout=60)
    runs: list[str] = []

    def judge(store: PostgresStore, namespace: str, keys: Sequence[str]) -> None:
        def work(unit: Unit) -> None:
            runs.append(namespace)
            for place, key in enumerate(keys):
                unit.upkeep.judge(Judgement("gate", key, namespace, START))
                if not place and len(runs) < 3:
                    both.wait()

        store.write(work, "tester", namespace)

    with stores(address, 2) as (first, second):
        other = threading.Thread(target=judge, args=(second, "blue", ("two", "one")))
        other.start()
        judge(first, "acme", ("one", "two"))
        other.join()
        found = first.upkeep.judged("gate", ["one", "two"])
    assert len(runs) >= 3  # one of them once more, or both
    assert len({one.verdict for one in found.values()}) == 1


def test_a_unit_that_is_about_more_than_it_said_is_done_whole(address: str) -> None:
    with stores(address, 1) as (store,):
        here, there = (making.make(name, id=name, scope=Scope(name)) for name in ("acme", "blue"))

        def work(unit: Unit) -> None:
            for memory in (here, there):
                unit.add(memory, making.found_by(memory.content), None, "")

        store.write(work, "tester", "acme")
        store.write(lambda unit: unit.erase("acme", "asked to"), "tester", "acme")
        assert [store.memories.get(name, Access.everything()) for name in ("acme", "blue")] == [None, there]


NAMESPACES, KEPT = [f"n{number}" for number in range(6)], 25


def write_many(store: PostgresStore, mine: Sequence[str], seed: int) -> None:
    """Write to some namespaces, with pauses; now and then what is about anything, which goes alone."""
    chance = Random(seed)
    for number in range(KEPT):
        for namespace in mine:
            memory = keep(store, namespace, number, lambda: time.sleep(chance.random() * 0.02))
            if number % 7 == 6:
                making.change(store, replace(memory, status=Status.ARCHIVED), Verb.ARCHIVED)


def follow(store: PostgresStore, writing: threading.Event) -> tuple[list[str], set[int], list[int]]:
    """Ask for what is new until nobody writes; ids of events, keys of vectors, and memories in each table."""
    events, keys, upto = list[str](), set[int](), 0
    while True:
        is_last = not writing.is_set()
        events += [one.id for one in store.ledger.after("".join(events[-1:]), Access.everything(), 10_000)]
        changes = store.vectors.changes(making.SPACE, upto, 10_000)
        upto = changes.upto
        keys |= set(changes.keys.tolist())
        found = [store.texts.ask(tuple(terms("counts")), Access(Scope(one))) for one in NAMESPACES]
        if is_last:
            every = View(Access.everything(), ANY_STATUS)
            return events, keys, [len(one.search(every, 1_000).keys) for one in found]


@pytest.mark.slow
def test_whoever_follows_misses_nothing_however_units_overlap(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, chance, commit = threading.Event(), Random(7), Writer._commit  # noqa: SLF001

    def late(self: Writer) -> None:
        time.sleep(chance.random() * 0.02)  # a slow disk: numbers are given out long before others see them
        commit(self)

    monkeypatch.setattr(Writer, "_commit", late)
    writing.set()
    with stores(address, 5) as (first, second, third, fourth, fifth), ThreadPoolExecutor(5) as pool:
        followed = [pool.submit(follow, one, writing) for one in (fourth, fifth)]
        parts = zip((first, second, third), (NAMESPACES[:2], NAMESPACES[2:4], NAMESPACES[4:]), strict=True)
        written = [pool.submit(write_many, store, mine, seed) for seed, (store, mine) in enumerate(parts)]
        try:
            for one in written:
                one.result()
        finally:
            writing.clear()
        events = [event.id for event in first.ledger.after("", Access.everything(), 10_000)]
        rows = first.memories.keys([f"{name}-{number}" for name in NAMESPACES for number in range(KEPT)])
        keys = {row for id_, row in rows.items() if int(id_.split("-")[1]) % 2}
        for follower in followed:
            assert follower.result() == (events, keys, [KEPT] * len(NAMESPACES))
        assert [int(event.split("-")[2]) for event in events] == list(range(1, len(events) + 1))
        assert len(rows) == KEPT * len(NAMESPACES)
        assert [finding.name for finding in first.check() if not finding.ok] == []


def test_work_is_held_by_one_engine_and_free_at_once_afterwards(address: str) -> None:
    with opened(address) as first, opened(address) as second:
        for memory, other in ((first, second), (second, first)) * 5:
            store = memory.maintenance._caller.tools.store  # noqa: SLF001 - two runs at one moment
            with store.lease("upkeep"), pytest.raises(UpkeepBusy):
                other.consolidate()
        assert first.consolidate().run.id
