"""On a real terminal: questions are asked, an editor opens, bars appear."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from engram.cli.options import CommandRun
from engram.cli.output import steps
from engram.testing import FakeClock
from tests.cli.shell import Shell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")

START = "from engram.cli import main; main()"


def on_a_terminal(*words: str, typed: str = "", **variables: str) -> tuple[int, str]:
    """Exit code and everything a person sees, prompts and their own typing included."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", START, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "80", **variables},
    ) as running:
        os.close(theirs)
        os.write(ours, typed.encode())
        seen = bytearray()
        try:
            while more := os.read(ours, 65_536):
                seen += more
        except OSError:  # how Linux says that the other end was closed
            pass
    os.close(ours)
    return running.returncode, seen.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_erasing_explains_itself_and_asks(shell: Shell) -> None:
    memory_id = shell.remember("The party is on Friday")

    code, seen = on_a_terminal("erase", memory_id, typed="n\n")
    assert (code, "nothing brings it back" in seen, "Nothing was changed" in seen) == (1, True, True)
    assert shell.json("show", memory_id)["memory"]["content"] == "The party is on Friday"

    code, seen = on_a_terminal("erase", memory_id, typed="y\n")
    assert (code, f"erased {memory_id[:8]}" in seen) == (0, True)
    assert shell("show", memory_id).exit_code == 1


@pytest.mark.slow
def test_editing_opens_the_editor(shell: Shell, tmp_path: Path) -> None:
    memory_id = shell.remember("The party is on Friday")
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "file.write_text(file.read_text().replace('Friday', 'Sunday'))\n",
        encoding="utf-8",
    )

    code, seen = on_a_terminal("edit", memory_id, EDITOR=f"{sys.executable} {editor}")
    assert (code, "The party is on Sunday" in seen) == (0, True)
    code, seen = on_a_terminal("edit", memory_id, EDITOR=f"{sys.executable} {editor}")
    assert (code, "nothing changed" in seen) == (0, True)
    assert shell.json("show", memory_id)["memory"]["version"] == 2


@pytest.mark.slow
def test_the_tour_waits_for_the_reader(home: Path) -> None:
    code, seen = on_a_terminal("demo", typed="\n" * 5)

    assert (code, seen.count("to go on")) == (0, 4)
    assert max(map(len, seen.splitlines())) <= 80


def test_a_bar_appears_only_when_the_work_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    clock = FakeClock()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with steps(CommandRun(clock=clock), "importing", total=10) as counting:
            counting.add(1)
            os.write(theirs, b"|")
            clock.advance(seconds=2)
            counting.add(1)
        os.write(theirs, b"|")
        seen = b""
        while seen.count(b"|") < 2:
            seen += os.read(ours, 65_536)
    os.close(ours)

    early, late, _ = seen.decode().split("|")
    assert (early, "importing" in late, "2/10" in late) == ("", True, True)
