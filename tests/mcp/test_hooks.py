"""Hooks as a coding agent runs them: its message on stdin, context on stdout, never a failure."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, __version__
from engram.api.contexts import brief
from engram.cli import hooks
from engram.cli.setup import hook_entries
from engram.errors import ConfigError
from tests.cli.shell import Shell
from tests.tables import every

PLUGIN = Path(__file__).parents[2] / "plugin"


def told(capsys: pytest.CaptureFixture[str], event: str, **given: Any) -> str:
    """The context that a hook adds; empty when it adds none."""
    hooks.run(event, json.dumps(given).encode(), hooks.HookPlace)
    said, complaints = capsys.readouterr()
    assert complaints == ""
    return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""


def transcript(path: Path, *lines: dict[str, Any] | str) -> Path:
    told = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{line}\n" for line in told), encoding="utf-8")
    return path


def said(role: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {"type": role, "message": message, "uuid": uuid, "timestamp": "2026-11-01T10:00:00Z", **more}


def test_a_prompt_brings_what_is_remembered_about_it(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.remember("My editor is Helix")

    assert "Helix" in told(capsys, "prompt-submit", prompt="which editor do I use?")


@every("prompt", ["", "ok", "yes", "/compact my editor is what", None])
def test_what_asks_for_nothing_brings_nothing(
    shell: Shell, capsys: pytest.CaptureFixture[str], prompt: str | None
) -> None:
    shell.remember("My editor is Helix")

    assert told(capsys, "prompt-submit", prompt=prompt) == ""


def test_a_session_starts_with_what_is_pinned_or_important(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.remember("Deploys need two reviews", "--pin")
    shell.remember("The customer is Initech", "--importance", "0.9")
    shell.remember("Lunch was soup", "--importance", "0.1")

    brief = told(capsys, "session-start", source="startup")

    assert "two reviews" in brief
    assert "Initech" in brief
    assert "soup" not in brief


def test_what_was_said_is_captured_once(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = transcript(
        tmp_path / "talk.jsonl",
        said("user", "I prefer tabs over spaces in Go code.", "u1"),
        said(
            "assistant",
            [{"type": "thinking", "thinking": "I love spaces"}, {"type": "text", "text": "Noted."}],
            "u2",
        ),
        said("user", [{"type": "tool_result", "content": "My dog is called Rex"}], "u3"),
        said("user", "My cat is called Tom.", "u4", isMeta=True),
        said("user", "<memory note='x'>My bird is called Kim.</memory>", "u5"),
        {"type": "summary", "summary": "x"},
        "no JSON",
    )
    for event in ("stop", "stop", "pre-compact"):
        told(capsys, event, session_id="s1", transcript_path=str(path))

    kept = shell.json("list")["memories"]

    assert ["tabs" in memory["content"] for memory in kept] == [True]
    assert kept[0]["usage"]["repeated"] == 0
    turns = shell.json("turns", "s1")
    assert [turn["content"] for turn in turns] == ["I prefer tabs over spaces in Go code.", "Noted."]


def test_of_a_long_transcript_only_the_end_is_read_at_stop(tmp_path: Path) -> None:
    lines = [said("user", f"Line number {number} of a long talk", f"u{number}") for number in range(100)]
    path = transcript(tmp_path / "talk.jsonl", *lines)

    read = [one["content"] for one in hooks.messages_in(path, 2_000)]

    assert 0 < len(read) < 20
    assert read[-1] == "Line number 99 of a long talk"
    assert len([*hooks.messages_in(path)]) == 100


@every(
    ("event", "sent"),
    product(hooks.EVENTS, [b"", b"nonsense", b"[]", b"\xff\xfe", b'{"prompt": "where is my file?"}']),
)
def test_a_hook_never_fails(file: Path, capsys: pytest.CaptureFixture[str], event: str, sent: bytes) -> None:
    file.write_bytes(b"no database" * 100)

    hooks.run(event, sent, hooks.HookPlace)

    said, complaints = capsys.readouterr()
    assert said == ""
    assert len(complaints.splitlines()) <= 1


def test_a_memory_that_cannot_be_opened_is_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> hooks.HookPlace:
        raise ConfigError("A setting\nhas no meaning.")

    hooks.run("session-start", b"{}", fails)

    assert (
        capsys.readouterr().err
        == "engram hook session-start: ConfigError: E5001: A setting has no meaning.\n"
    )


def test_a_glance_says_what_the_facade_says(shell: Shell, file: Path) -> None:
    for said in (
        "My editor is Helix",
        "Ada lives in Berlin",
        "Deploys need two reviews",
        "I moved to Bonn in May",
    ):
        shell.remember(said)
    shell.remember("Never push on Fridays", "--pin")
    shell.remember("Only for apollo: my editor is Zed", "--project", "apollo")
    where = hooks.HookPlace(str(file))

    with Engram.open(file, access=where.access) as memory, where.look() as glance:
        for query in (
            "which editor do I use?",
            "where does Ada live",
            "what about deploys and reviews",
            "",
            "bread",
        ):
            briefs = [brief(one, query, budget=300, pinned=True, dry=True) for one in (memory, glance)]
            assert briefs[0] == briefs[1]
            assert "Zed" not in briefs[1].text


def test_no_memory_yet_says_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "session-start") == ""
    assert not file.exists()


def test_the_command_takes_the_options_of_all_others(shell: Shell) -> None:
    shell.remember("My editor is Helix", "--project", "apollo")
    prompt = json.dumps({"prompt": "which editor do I use?"})

    assert "Helix" in shell.says("hook", "prompt-submit", "--project", "apollo", stdin=prompt)
    assert shell.says("hook", "prompt-submit", "--project", "zeus", stdin=prompt) == ""


@pytest.mark.slow
def test_the_short_way_and_the_long_way_say_the_same(shell: Shell) -> None:
    shell.remember("My editor is Helix")
    prompt = json.dumps({"prompt": "which editor do I use?"}).encode()
    short, long = (
        subprocess.run(
            [sys.executable, "-m", "engram", *words], input=prompt, capture_output=True, check=True
        )
        for words in (["hook", "prompt-submit"], ["--quiet", "hook", "prompt-submit"])
    )

    assert short.stdout == long.stdout != b""


@every("words", ["hook prompt-submit --user=ada", "--project zeus hook prompt-submit --preset default"])
def test_the_short_way_loads_neither_command_line_nor_engine(shell: Shell, words: str) -> None:
    shell.remember("Deploys need two reviews", "--pin")
    shell.remember("Apollo needs no reviews", "--project", "apollo")
    names = ("bpe_openai", "click", "engram.capture", "engram.engine", "httpx", "rich")
    heavy = f"[name for name in {names} if sys.modules.get(name)]"
    code = f"import sys; from engram.cli import main; main(); print({heavy}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()],
        input=b'{"prompt": "how many reviews does a deploy need?"}',
        capture_output=True,
        check=True,
    )

    assert b"two reviews" in done.stdout
    assert b"Apollo" not in done.stdout
    assert done.stderr.decode().split() == ["[]"]


@every(
    "words", ["hook stop --quiet", "hook tea", "hook stop stop", "hook stop --file", "hook stop -- --file x"]
)
def test_what_else_is_said_goes_the_long_way(words: str) -> None:
    assert not hooks.run_quickly(words.split())


def test_the_plugin_has_the_hooks_that_setup_writes() -> None:
    shipped = json.loads((PLUGIN / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]

    assert shipped == {event: [entry] for event, entry in hook_entries("engram").items()}


def test_stdin_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"prompt": "\xff"}')))

    assert hooks.run_quickly(["hook", "stop"])
    assert capsys.readouterr().out == ""


def test_the_plugin_is_of_this_version() -> None:
    about = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))

    assert about["version"] == __version__
