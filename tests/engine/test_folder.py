"""A folder of files: a file for each namespace, few of them open, and the same memory for whoever asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import AccessDenied, InvalidInput, KeyNeeded, KeyNotWanted, TooMuchWritten
from engram.keys import FileState, state_of
from engram.model.scope import Access, Role, Scope
from engram.opening import file_of_namespace, namespaces_in
from engram.testing import FakeClock, HashEmbedder

pytestmark = pytest.mark.files
FEW = {"store.open_files": 2}
WRITES = """
import sys
from engram import Engram
from engram.model.scope import Access, Scope
from engram.testing import HashEmbedder
with Engram.open(sys.argv[1], access=Access.everything(), embedder=HashEmbedder(),
                 config={"store.open_files": 2}) as memory:
    for number in range(int(sys.argv[3])):
        place = Scope(f"tenant-{number % 5}")
        content = f"{sys.argv[2]} keeps parcel {number} in bay {number * 7}"
        print(memory.remember(content, scope=place).memory.id, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return f"{tmp_path / 'tenants'}/"


@pytest.fixture
def everybody(folder: str) -> Iterator[Engram]:
    with opened(folder, access=Access.everything()) as memory:
        yield memory


def opened(folder: str, **more: object) -> Engram:
    return Engram.open(folder, embedder=HashEmbedder(), config=FEW, **more)  # type: ignore[arg-type]


def contents(memory: Engram, namespace: str) -> set[str]:
    return {one.content for one in memory.list(scope=Scope(namespace), limit=1_000)}


def test_each_namespace_has_a_file_of_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    names = [
        "default",
        "acme",
        "Acme",
        "ACME",
        "con",
        "a/b",
        "../up",
        "a.db",
        "a%2fb",
        "名前",
        "é",
        "e\u0301",
    ]
    names += [" ", "x" * 128, "X" * 128, "名" * 128, "-wal", "nul", "com1", "a+", "~"]
    files = {str(file_of_namespace(tmp_path, name)).lower(): name for name in names}

    assert len(files) == len(names), "no two share one, also where capitals are not told apart"
    for name in names:
        file = file_of_namespace(tmp_path, name)
        assert tmp_path in file.parents
        assert max(len(part) for part in file.parts) < 200
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / "Notes.db").touch()
    (tmp_path / "acme.db.backups").mkdir()
    assert namespaces_in(tmp_path) == sorted(names), "and other files are passed over"


def test_tenants_are_apart_and_few_files_are_open(folder: str) -> None:
    names = [f"tenant-{number}" for number in range(7)]
    with opened(folder) as memory:
        for name in names:
            memory.seen_by(Access(Scope(name)), name).remember(f"The {name} office is in Bremen")
            assert len(memory.stats_of_open().by_namespace) <= 2

        for name in names:
            tenant = memory.seen_by(Access(Scope(name), Role.AGENT), "bot")
            hits = tenant.recall("where is the office?").hits
            assert [hit.memory.content for hit in hits] == [f"The {name} office is in Bremen"]
            with pytest.raises(AccessDenied):
                tenant.recall(
                    "where is the office?", scope=Scope("tenant-0" if name != "tenant-0" else "tenant-1")
                )
        with pytest.raises(AccessDenied):
            memory.remember("Written elsewhere", scope=Scope("tenant-3"))
        assert {one.actor for one in memory.seen_by(Access(Scope("tenant-1")), "x").history.events()} == {
            "tenant-1"
        }
        assert memory.stats().memories == 0, "who stands in the default namespace sees that one"
    assert namespaces_in(folder) == ["default", *names]


def test_what_a_tenant_may_write_is_counted_on_when_its_file_was_closed_meanwhile(folder: str) -> None:
    clock, limits = FakeClock(), {**FEW, "limits.memories_a_day": 2}
    with Engram.open(folder, embedder=HashEmbedder(), config=limits, clock=clock) as memory:
        bots = [memory.seen_by(Access(Scope(f"tenant-{n}"), Role.AGENT), "bot") for n in range(4)]
        for colour in ("red", "blue"):
            for number, bot in enumerate(bots):
                bot.remember(f"The van of depot {number} is {colour}")
                clock.advance(minutes=1)
        with pytest.raises(TooMuchWritten):
            bots[0].remember("The barn is green")


def test_whoever_sees_all_namespaces_names_one_or_gets_all(everybody: Engram, folder: str) -> None:
    everybody.remember("My editor is vim")
    everybody.remember("Our editor is emacs", scope=Scope("acme"))
    everybody.remember_many([{"content": f"Globex has {n} vans", "scope": Scope("globex")} for n in (2, 3)])

    assert contents(everybody, "acme") == {"Our editor is emacs"}
    assert everybody.stats().by_namespace == {"default": 1, "acme": 1, "globex": 2}
    exported = list(everybody.export())
    assert {one["scope"]["namespace"] for one in exported} == {"default", "acme", "globex"}
    assert [one["content"] for one in everybody.export(scope=Scope("acme"))] == ["Our editor is emacs"]
    with pytest.raises(InvalidInput):
        everybody.remember_many([{"content": "One", "scope": Scope("acme")}, {"content": "Two"}])
    assert everybody.stats().memories == 4, "what was refused changed nothing"

    with opened(folder.replace("tenants", "moved"), access=Access.everything()) as other:
        adopted = other.memories.adopt([*exported, {"content": ""}])
        assert [one["id"] for one in exported] == list(adopted.ids[:4])
        assert [one.index for one in adopted.refused] == [4]
        assert other.stats().by_namespace == {"default": 1, "acme": 1, "globex": 2}


def test_what_is_in_somebodys_hands_keeps_its_file_open(everybody: Engram) -> None:
    for number in range(4):
        for content in ("The van is red", "The barn is blue", "The boat is green"):
            everybody.remember(f"{content} at {number}", scope=Scope(f"farm-{number}"))
    acme = everybody.seen_by(Access(Scope("farm-0")), "ada")
    talk, pieces = acme.session(agent="ada"), acme.export()
    first = next(pieces)
    with talk.turn("Which van is red?") as turn:
        for number in range(1, 4):
            assert len(contents(everybody, f"farm-{number}")) == 3
        assert "The van is red at 0" in str(turn.context.messages)
        turn.reply = "The one at 0."

    assert len({first["id"], *(one["id"] for one in pieces)}) == 3
    assert {one.content for one in acme.history.turns(talk.id)} == {"Which van is red?", "The one at 0."}
    talk.suspend()
    del talk, turn, pieces
    for number in (1, 2, 3):
        contents(everybody, f"farm-{number}")
    assert "farm-0" not in everybody.stats_of_open().by_namespace, "let go of, it is closed like others"
    assert [one.agent for one in acme.sessions.list()] == ["ada"], "and the session is asleep in it"


@pytest.mark.slow
def test_the_owner_looks_after_all_files_at_once(folder: str, tmp_path: Path) -> None:
    with opened(folder) as memory:
        for name in ("acme", "globex"):
            tenant = memory.seen_by(Access(Scope(name)), name)
            tenant.remember("Zebedee Quartermain brings the parcels")
            tenant.remember("The gate is locked at nine")

        assert {one.name for one in memory.doctor()} >= {"files", "embedder"}
        assert memory.consolidate().run.state == "done"
        memory.backups.make()
        assert len(memory.backups.list()) == 3
        assert all(one.ok for one in memory.backups.check())
        memory.backups.make(tmp_path / "copy")
        certificate = memory.vault.purge(person="Zebedee Quartermain")
        assert certificate.removed["memories"] == 2
        assert certificate.remaining == 0
        assert memory.vault.verify(certificate)
        assert memory.seen_by(Access(Scope("acme")), "acme").count() == 1

    with opened(f"{tmp_path / 'copy'}/", access=Access.everything()) as copy:
        assert copy.stats().by_namespace == {"acme": 2, "globex": 2}
        for access in (Access(Scope("acme"), Role.AGENT), Access(role=Role.AGENT, all_namespaces=True)):
            agent = copy.seen_by(access, "bot")
            for refused in (agent.backups.make, agent.consolidate):
                with pytest.raises(AccessDenied):
                    refused()
        owner = copy.seen_by(Access(Scope("acme")), "acme")
        assert owner.backups.make().file.startswith(str(tmp_path / "copy" / "acme.db")), "of its own file"
        with pytest.raises(AccessDenied):
            owner.maintenance.configure({"recall.limit": 1})
        copy.maintenance.configure({"recall.limit": 1})
        assert len(owner.recall("parcels and gates")) <= 1


@pytest.mark.slow
def test_every_file_is_encrypted_under_the_key_of_the_folder(folder: str) -> None:
    with opened(folder, key="correct horse battery staple", access=Access.everything()) as memory:
        memory.remember("The safe is behind the painting", scope=Scope("acme"))

    for name in ("default", "acme"):
        assert state_of(file_of_namespace(folder, name)) is FileState.SEALED
    with pytest.raises(KeyNeeded):
        opened(folder, key="wrong")
    with pytest.raises(KeyNeeded):
        opened(folder)
    with opened(folder, key="correct horse battery staple", access=Access.everything()) as memory:
        assert contents(memory, "acme") == {"The safe is behind the painting"}
    file = file_of_namespace(folder, "acme")
    with Engram.open(file, key="correct horse battery staple", access=Access(Scope("acme"))) as alone:
        assert alone.stats().memories == 1, "each opens by itself too"


@pytest.mark.parametrize("key", [None, "wrong"])
def test_no_file_in_clear_or_under_another_key_comes_between_vaults(folder: str, key: str | None) -> None:
    opened(folder, key="correct horse battery staple").close()

    with pytest.raises(KeyNeeded):
        opened(folder, key=key, access=Access(Scope("acme")))

    assert namespaces_in(folder) == ["default"]


def test_no_vault_comes_between_files_in_clear(folder: str) -> None:
    opened(folder).close()

    with pytest.raises(KeyNotWanted):
        opened(folder, key=bytes(32), access=Access(Scope("acme")))

    assert namespaces_in(folder) == ["default"]


@pytest.mark.slow
def test_many_threads_and_few_open_files(everybody: Engram) -> None:
    faults: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(6):
                place = Scope(f"tenant-{(thread + number) % 6}")
                everybody.remember(
                    f"Thread {thread} put box {number} on shelf {thread * 10 + number}", scope=place
                )
                everybody.recall("which shelf?", scope=place)
        except BaseException as error:  # noqa: BLE001 - told below
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert sum(len(contents(everybody, f"tenant-{number}")) for number in range(6)) == 36
    assert len(everybody.stats_of_open().by_namespace) <= 2


@pytest.mark.slow
def test_two_processes_share_a_folder_and_one_is_killed(folder: str) -> None:
    def begun(name: str, writes: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WRITES, folder, name, str(writes)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})

    steady, doomed = begun("Ann", 40), begun("Bob", 10_000)
    assert doomed.stdout is not None
    kept = [doomed.stdout.readline().strip() for _ in range(23)]
    doomed.send_signal(signal.SIGKILL)
    kept += doomed.communicate()[0].split()[:-1]
    kept += steady.communicate()[0].split()

    assert steady.returncode == 0
    with opened(folder, access=Access.everything()) as memory:
        there = {one["id"] for one in memory.export()}
        assert set(kept) <= there, "whatever was acknowledged is there"
        assert all(one.ok for one in memory.doctor())
