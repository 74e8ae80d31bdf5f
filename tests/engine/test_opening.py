"""Opening: what a user meets before anything is remembered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram, EngramError
from engram.errors import AccessDenied, KeyNeeded, StoreClosed, StoreError
from engram.opening import IDS_AT_ONCE, new_id
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


@pytest.fixture
def medium() -> Iterator[Path]:
    """A folder in which others may read and nothing can be made, with a memory in it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with Engram.open(place / "m.db") as memory:
            memory.remember("The cat is called Mia")
        (place / "m.db").chmod(0o444)
        place.chmod(0o555)
        try:
            yield place
        finally:
            place.chmod(0o755)


AS_A_READER = """
import ctypes, os, sys
DROP_FROM_BOUNDING_SET, CAP_DAC_OVERRIDE = 24, 1  # what lets root write where nobody may
ctypes.CDLL(None).prctl(DROP_FROM_BOUNDING_SET, CAP_DAC_OVERRIDE, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


EVERY_COMMAND = """
import json, sys
from click.testing import CliRunner
from engram import Engram
from engram.cli.app import app
file = sys.argv[1]
run = lambda *words: CliRunner().invoke(app, ["--file", file, *words])
recalled = run("recall", "what is the cat called?", "--json")
told = {"recall": [recalled.exit_code, "The cat is called Mia" in recalled.stdout]}
for name in ("list", "stats", "doctor", "export", "history", "resume"):
    told[name] = run(name).exit_code
told["context"] = run("context", "the cat").exit_code
refused = run("remember", "The dog is called Rex")
told["remember"] = [refused.exit_code, f"write to {file}: it was opened for reading" in refused.stderr]
told["library"] = Engram.open(file, read_only=True).count()
print(json.dumps(told))
"""


def as_a_reader(*words: str) -> subprocess.CompletedProcess[str]:
    """Python run by somebody who may write only where a folder says so, even if it is root."""
    source = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", AS_A_READER, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": "/nonexistent", "PYTHONPATH": source},
    )


@pytest.mark.slow
@pytest.mark.files
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere root writes everywhere")
def test_a_read_only_medium_is_read(medium: Path) -> None:
    file = str(medium / "m.db")

    done = as_a_reader("-c", EVERY_COMMAND, file)
    assert json.loads(done.stdout) == {
        "recall": [0, True],
        **dict.fromkeys(("list", "stats", "doctor", "export", "history", "resume", "context"), 0),
        "remember": [4, True],
        "library": 1,
    }, done.stderr
    assert [path.name for path in medium.iterdir()] == ["m.db"]


@pytest.mark.slow
@pytest.mark.files
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere root writes everywhere")
def test_changes_that_a_read_only_medium_hides_are_not_passed_over(medium: Path) -> None:
    (medium / "m.db-wal").write_bytes(b"changes that were not brought in")

    refused = as_a_reader("-m", "engram", "--file", str(medium / "m.db"), "list")

    assert refused.returncode == 3
    assert "copy both to another folder" in refused.stderr


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


@pytest.mark.files
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_branches_off_never_makes_the_ids_of_the_one_it_came_from() -> None:
    assert uuid.UUID(new_id()).version == 4  # and others are ready to be taken
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, new_id().encode())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 100).decode()
    mine = {new_id() for _ in range(2 * IDS_AT_ONCE)}
    assert len(mine) == 2 * IDS_AT_ONCE
    assert theirs
    assert theirs not in mine
