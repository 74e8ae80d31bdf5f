"""`engram context` prints a prompt, or the table of where its tokens go."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_the_prompt_is_printed(shell: Shell) -> None:
    shell.remember("My editor is Helix")

    said = shell.says("context", "which", "editor", "do", "I", "use", "--system", "You help.")

    assert said.startswith("You help.")
    assert "My editor is Helix</memory>" in said
    assert said.rstrip().endswith("user: which editor do I use")


def test_the_table_explains_it(shell: Shell) -> None:
    shell.remember("My editor is Helix")

    said = shell.says("context", "which editor do I use", "--model", "claude-opus-4-6", "--explain")

    assert "anthropic · window 1,000,000" in said
    assert "recalled" in said
    assert "estimated as claude" in said


def test_a_program_gets_all_of_it(shell: Shell) -> None:
    told = shell.json("context", "hello there", "--budget", "300")

    assert told["budget"] == 300
    assert told["conversation"] == [{"role": "user", "content": "hello there"}]


def test_a_message_that_is_too_long_is_refused(shell: Shell) -> None:
    assert shell("context", "word " * 100, "--budget", "50").exit_code == 2
