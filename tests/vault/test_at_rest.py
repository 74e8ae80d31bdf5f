"""Nothing of what was said is in the folder of a vault: in use, closed, killed, rotated."""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from engram import Engram
from engram.api import vault
from engram.errors import EngramError, StoreBusy
from engram.testing import HashEmbedder

KEY, OTHER = bytes(range(32)), bytes(range(32, 64))
WORDS = [f"planted{number:02d}{random.Random(number).randbytes(4).hex()}" for number in range(50)]


def fill(path: str, key: bytes | None) -> None:
    """Fifty secrets in every place that words come to."""
    with Engram.open(path, key=key, embedder=HashEmbedder()) as memory:
        for number, word in enumerate(WORDS):
            match number % 5:
                case 0:
                    memory.remember(f"my sister calls the boat {word}", tags=[word])
                case 1:
                    memory.observe(f"hm, {word} ok thanks", "noted", session=f"s{number}")
                case 2:
                    found = memory.remember(f"Anna {word.title()} lives in Bremen").memory
                    memory.update(found.id, content=f"Anna {word.title()} lives in Oslo")
                case 3:
                    memory.sources.text(f"# Notes\n\nThe boat {word} is blue.", title=word)
                case _:
                    memory.session(id=f"t{number}").turn(f"what about {word}?").begin()
        memory.flush()
        memory.recall(WORDS[0])
        for info in memory.sessions.list():
            memory.sessions.suspend(info.id)


def hits(folder: Path) -> list[str]:
    """Which of the words stand in any file of a folder."""
    raw = b"".join(one.read_bytes().lower() for one in folder.rglob("*") if one.is_file())
    return [word for word in WORDS if word.encode() in raw]


def entropy(raw: bytes) -> float:
    counts = Counter(raw)
    return -sum(n / len(raw) * math.log2(n / len(raw)) for n in counts.values())


@pytest.mark.slow
def test_fifty_secrets_are_nowhere_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    path = str(folder / "memory.db")
    fill(path, KEY)
    assert hits(folder) == []
    assert entropy(Path(path).read_bytes()) >= 7.99

    with Engram.open(path, key=KEY, embedder=HashEmbedder()) as memory:  # in use
        for word in WORDS:
            memory.remember(f"again {word} and more")
        assert hits(folder) == []
        log = Path(f"{path}-wal").read_bytes()
        assert entropy(log[: len(log) // 4096 * 4096]) >= 7.99
        memory.consolidate(dry=True)
        assert hits(folder) == []
        assert len(memory.recall(WORDS[3]).hits) > 0

    vault.rotate_vault(path, key=KEY, new_key=OTHER)
    assert hits(folder) == []


@pytest.mark.slow
def test_a_clear_file_leaves_nothing_when_it_becomes_a_vault(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    path = str(folder / "memory.db")
    fill(path, None)
    assert hits(folder)

    vault.init_vault(path, key=KEY)

    assert hits(folder) == []


WORK = """
import sys
from engram.api import vault
what, path = sys.argv[1:]
a, b = bytes(range(32)), bytes(range(32, 64))
print("begun", flush=True)
if what == "init": vault.init_vault(path, key=a)
if what == "rotate": vault.rotate_vault(path, key=a, new_key=b)
if what == "remove": vault.remove_vault(path, key=a)
if what == "init-passphrase": vault.init_vault(path, passphrase="one")
if what == "rotate-passphrase": vault.rotate_vault(path, key="one", passphrase="two")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "before", "after"),
    [
        ("init", None, KEY),
        ("rotate", KEY, OTHER),
        ("remove", KEY, None),
        ("init-passphrase", None, "one"),
        ("rotate-passphrase", "one", "two"),
    ],
)
def test_killed_on_the_way_it_is_the_old_file_or_the_new(
    what: str, before: bytes | str | None, after: bytes | str | None, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    with Engram.open(first / "memory.db", key=before, embedder=HashEmbedder()) as memory:
        memory.remember_many([f"{word} is the name of boat {n}" for n, word in enumerate(WORDS)] * 20)
        contents = {one.content for one in memory.list(limit=200).memories}
    chance, ended = random.Random(what), Counter[str]()
    for number in range(8):
        folder = tmp_path / f"try{number}"
        subprocess.run(["cp", "-a", str(first), str(folder)], check=True)
        path = str(folder / "memory.db")
        process = subprocess.Popen([sys.executable, "-c", WORK, what, path], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        ended[opened_by(path, before, after, contents)] += 1
        if after is not None and before is not None:
            assert hits(folder) == []
    assert ended["neither"] == 0, ended


def opened_by(path: str, before: bytes | str | None, after: bytes | str | None, contents: set[str]) -> str:
    """Which key opens it, with everything in it."""
    for name, key in (("old", before), ("new", after)):
        try:
            with Engram.open(path, key=key, embedder=HashEmbedder()) as memory:
                assert {one.content for one in memory.list(limit=200).memories} == contents
                assert all(one.ok for one in memory.doctor())
        except StoreBusy:
            raise
        except EngramError:
            continue
        leftovers = [one.name for one in Path(path).parent.iterdir() if one.name.endswith(("-new", "-old"))]
        assert leftovers == []
        if name == "new" and key is not None:
            assert hits(Path(path).parent) == []
        return name
    return "neither"


def test_files_belong_to_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Engram.open(folder / "memory.db", key="correct horse", embedder=HashEmbedder()) as memory:
        memory.remember("tea")
        modes = {one.name: one.stat().st_mode & 0o077 for one in folder.iterdir()}
    assert set(modes.values()) == {0}
    assert folder.stat().st_mode & 0o077 == 0
