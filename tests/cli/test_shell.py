"""The installed command in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from engram.cli.app import COMMANDS, OTHER_WORDS, app
from engram.engine import Engram
from tests.cli.shell import Shell
from tests.tables import every

START = "from engram.cli import main; main()"
START_WATCHED = (
    "import atexit, sys; "
    "atexit.register(lambda: print(*(name for name, one in sys.modules.items() if one), file=sys.stderr))"
)
NOT_TO_ASK = {
    *(f"engram.{name}" for name in ("capture", "maintain", "server", "workspace", "session", "bench", "llm")),
    *(f"engram.{name}" for name in ("store.sqlite.archive", "store.sqlite.salvage", "text.propositions")),
    *("httpx", "cryptography", "starlette", "onnxruntime", "tokenizers"),
}
HEAVY = ("numpy", "apsw", "httpx", "rich", "engram.engine", "engram.bench.commands", "engram.cli.demo")


NOT_FOR_A_HOOK = {
    *("bpe_openai", "click", "numpy.random", "platformdirs", "rich", "zipfile"),
    *("engram.engine", "engram.model.event", "engram.model.maintenance", "engram.rules.sameness"),
    *("engram.store.sqlite.ledger", "engram.store.sqlite.maintenance", "engram.store.sqlite.unit"),
    *("hashlib", "html", "logging", "tomllib", "uuid", "zoneinfo"),
}


def engram(*words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START, *words],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", **variables},
    )


def test_help_lists_every_command_and_loads_nothing_heavy() -> None:
    watch = f"{START_WATCHED}; {START}"

    done = subprocess.run([sys.executable, "-c", watch, "--help"], capture_output=True, text=True, check=True)

    assert all(f"  {name} " in done.stdout for section in COMMANDS.values() for name in section)
    assert "Exit codes" in done.stdout
    assert set(HEAVY) & set(done.stderr.split()) == set()


def test_a_question_loads_nothing_that_writes_maintains_or_serves(tmp_path: Path) -> None:
    file, watch = tmp_path / "tea.db", f"{START_WATCHED}; {START}"
    with Engram.open(file) as memory:
        memory.remember("Anna drinks green tea with her lunch.")
    asked = {
        ("recall", "what does Anna drink with her lunch?"): set[str](),
        ("hook", "prompt-submit", f"--file={file}"): NOT_FOR_A_HOOK,
    }

    for words, also in asked.items():
        done = subprocess.run(
            [sys.executable, "-c", watch, *words],
            input=json.dumps({"prompt": "what does Anna drink with her lunch?"}),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONUTF8": "1", "ENGRAM_FILE": str(file)},
        )
        loaded = set(done.stderr.split())

        assert "green tea" in done.stdout
        assert loaded & (NOT_TO_ASK | also) == set(), words


def test_the_table_of_commands_says_what_each_command_says_itself() -> None:
    context = click.Context(app)
    for section in COMMANDS.values():
        for name, (_, what) in section.items():
            command = app.get_command(context, name)
            assert command is not None
            assert (command.name, (command.help or "").split("\n")[0]) == (name, what)


def test_every_command_answers_to_help(shell: Shell) -> None:
    for section in COMMANDS.values():
        for name in section:
            assert shell.says(name, "--help").startswith(f"Usage: app {name}")


def test_no_option_of_a_command_takes_the_place_of_another() -> None:
    def check(command: click.Command) -> None:
        names = [one.name for one in command.params]
        flags = [flag for one in command.params for flag in (*one.opts, *one.secondary_opts)]
        assert len(names) == len(set(names)), (command.name, names)
        assert len(flags) == len(set(flags)), (command.name, flags)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                check(inner)

    check(app)


def test_nothing_at_all_asks_for_help(shell: Shell) -> None:
    assert shell.says() == shell.says("--help")
    assert 'engram remember "My editor is Helix"\n' in shell.says()
    assert "speed" in shell.says("bench")
    assert shell.json(code=2)["error"]["code"] == "E2000"


def test_a_benchmark_hears_of_json_wherever_it_stands(shell: Shell, tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_text("{}", encoding="utf-8")

    before = json.loads(shell.says("--json", "bench", "everyday", "--data", str(data)))
    after = json.loads(shell.says("bench", "everyday", "--data", str(data), "--json"))

    assert before["benchmark"] == after["benchmark"] == "everyday"


def test_every_option_that_a_person_sees_is_explained() -> None:
    context = click.Context(app)
    commands = [
        app,
        *(app.get_command(context, name) for name in app.list_commands(context) if name != "bench"),
    ]
    unexplained = [
        f"{command.name} {option.opts[0]}"
        for command in commands
        if command is not None
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert unexplained == []


@pytest.mark.slow
def test_a_pipe_and_a_question_work_in_processes_of_their_own(home: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "memory.engram")

    stored = engram("remember", "-", stdin="Mein Name ist Zoë 🦉\n", ENGRAM_FILE=file)
    asked = engram("--json", "recall", "Zoë", ENGRAM_FILE=file)

    assert (stored.returncode, stored.stdout[:7], stored.stderr) == (0, "stored ", "")
    assert json.loads(asked.stdout)["hits"][0]["memory"]["content"] == "Mein Name ist Zoë 🦉"


@every(
    ("words", "code", "said"),
    [
        (("remmeber", "x"), 2, "Did you mean `engram remember`?"),
        (("show", "ffffffff"), 1, "error E2011:"),
        (("list", "--nonsense"), 2, "error E2000:"),
    ],
)
def test_errors_are_one_line_on_stderr(shell: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    done = shell(*words)

    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    as_json = shell("--json", *words)
    assert (as_json.exit_code, as_json.stderr) == (code, "")
    assert set(json.loads(as_json.stdout)["error"]) == {"code", "message"}


@every(
    ("words", "said"),
    [
        (("show", ""), "ID is empty"),
        (("facts", "add", "", "", ""), "SUBJECT is empty"),
        (("reason", ""), "QUESTION is empty"),
        (("timeline", ""), "ABOUT is empty"),
        (("recall", ""), "The question is empty"),
        (("ingest", "text", ""), "TEXT is empty"),
        (("remember", ""), "The content is empty"),
        (("session", "learn", "deploy", ""), "STEPS is empty"),
    ],
)
def test_an_empty_word_is_refused_in_words(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell(*words)

    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not shell.json("list")["memories"]


@every(
    ("words", "meant"),
    [
        ("search", "recall"),
        ("add", "remember"),
        ("delete", "forget"),
        ("get", "recall"),
        ("help", "--help"),
        ("version", "--version"),
        ("log", "history"),
        ("ls", "list"),
    ],
)
def test_words_of_other_tools_are_understood_as_a_question(shell: Shell, words: str, meant: str) -> None:
    assert f"`engram {meant}`" in shell(words, "x").stderr


def test_every_other_word_leads_to_a_command() -> None:
    with click.Context(app) as context:
        for meant in set(OTHER_WORDS.values()) - {"--help", "--version"}:
            assert app.get_command(context, meant.partition(" ")[0]), meant


@every(
    ("words", "leads"),
    [
        (("forget", "My editor is Helix"), True),
        (("show", "My editor"), True),
        (("memory", "pin", "the editor"), True),
        (("show", "deadbeef"), False),
    ],
)
def test_words_in_place_of_an_id_are_led_to_where_ids_are(
    shell: Shell, words: tuple[str, ...], leads: bool
) -> None:
    shell("remember", "My editor is Helix")

    done = shell(*words)

    assert (done.exit_code, done.stdout) == (1, "")
    assert (f"engram recall {words[-1].lower()}" in done.stderr.lower()) is leads
    assert set(json.loads(shell("--json", *words).stdout)["error"]) == {"code", "message"}


@every(
    "words",
    [
        ("remember", ""),
        ("observe", " "),
        ("remember", "--lines"),
        ("remember", "--expires", "yesterday", "x"),
    ],
)
def test_what_keeps_nothing_says_so_and_makes_no_file(
    shell: Shell, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "fresh.db"

    done = shell(*words, "--file", str(file))

    assert (done.exit_code, done.stdout) == (2, "")
    assert "empty" in done.stderr or "over" in done.stderr
    assert not file.exists()


def test_a_session_without_words_and_a_text_without_substance_say_so(shell: Shell) -> None:
    assert shell.says("turns", "nosuch").strip() == "nothing was said there"
    assert json.loads(shell("--json", "turns", "nosuch").stdout) == []
    assert "greeting" in shell.says("ingest", "text", "hello there")


def test_a_folder_is_no_file_of_lines(shell: Shell, tmp_path: Path) -> None:
    done = shell("import", str(tmp_path))

    assert done.exit_code == 2
    assert "of no system that is known" in done.stderr


def test_help_of_a_group_tells_whole_sentences(shell: Shell) -> None:
    said = " ".join(shell.says("session", "--help").split())

    assert "..." not in said.partition("Commands:")[2]
    assert "Keep how a flow ran, as one procedure that counts its runs." in said


def test_a_path_alone_is_taken_in(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "house.md").write_text("# House\n\nQuiet hours start at 22:00.\n")

    assert "1 stored" in shell.says("ingest", str(tmp_path))
    assert "Usage: app ingest" in shell.says("ingest")


@every(
    ("time", "stored"),
    [
        ("yesterday", True),
        ("last week", True),
        ("2026-03-01", True),
        ("buy milk tomorrow", False),
        ("01.03.26", False),
    ],
)
def test_a_time_may_be_said_in_words(shell: Shell, time: str, stored: bool) -> None:
    done = shell("remember", f"Lunch with Sara, {time}", "--at", time)

    assert (done.exit_code == 0) is stored
    assert stored or "is no time" in done.stderr


def test_a_process_that_fails_says_so(home: Path, tmp_path: Path) -> None:
    done = engram("remmeber", "x", ENGRAM_FILE=str(tmp_path / "memory.engram"))

    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean" in done.stderr


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(home: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "memory.engram")
    with Engram.open(file) as memory:  # more than a pipe holds
        memory.remember_many([f"Note {n}: {'word ' * 1_500}{n}" for n in range(20)])

    with subprocess.Popen(
        [sys.executable, "-c", START, "export"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
        env={**os.environ, "ENGRAM_FILE": file},
    ) as reading:
        assert reading.stdout is not None
        assert reading.stderr is not None
        reading.stdout.readline()
        reading.stdout.close()
        complaint = reading.stderr.read()
    assert complaint == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_an_interrupt_leaves_with_130(home: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START, "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell's background job ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
        env={**os.environ, "ENGRAM_FILE": str(tmp_path / "memory.engram"), "PYTHONPROFILEIMPORTTIME": "1"},
    ) as waiting:
        assert waiting.stderr is not None
        # The last module that the command loads before it reads stdin.
        assert any(line.rstrip().endswith(b"| engram.cli.app") for line in waiting.stderr)
        waiting.send_signal(signal.SIGINT)
        _, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 130


@pytest.mark.slow
def test_completion_offers_commands_and_options(home: Path) -> None:
    offered = engram(_ENGRAM_COMPLETE="bash_complete", COMP_WORDS="engram re", COMP_CWORD="1").stdout
    options = engram(
        _ENGRAM_COMPLETE="bash_complete", COMP_WORDS="engram recall --exp", COMP_CWORD="2"
    ).stdout

    assert {line.partition(",")[2] for line in offered.split()} == {
        "remember",
        "recall",
        "reason",
    }
    assert "--explain" in options


@pytest.mark.slow
def test_no_color_holds_for_errors_and_tables(home: Path, tmp_path: Path) -> None:
    done = engram("list", "--no-color", ENGRAM_FILE=str(tmp_path / "memory.engram"), FORCE_COLOR="1")

    assert "\x1b[3" not in done.stdout
