"""`engram observe` and `engram turns`: what was said goes in, what was learned comes out."""

from __future__ import annotations

import json

from engram.testing import ScriptedServer
from engram.testing.model_server import fails
from tests.cli.shell import Shell


def test_what_was_learned_and_what_was_left_out_is_told(shell: Shell) -> None:
    told = shell.says("observe", "Hi! I live in Berlin. How are you?", "--session", "s", "--speaker", "Anna")

    assert "1 turn read by rules · 1 statement kept" in told
    assert "Anna: I live in Berlin." in told
    assert "left out · a reaction: Hi!" in told
    assert "left out · a reaction: How are you?" in told


def test_a_program_gets_the_whole_observation(shell: Shell) -> None:
    heard = shell.json("observe", "I live in Berlin.", "--message-id", "m1", "--time", "2026-01-02")

    assert heard["logged"] == 1
    assert [receipt["memory"]["content"] for receipt in heard["receipts"]] == ["I live in Berlin."]
    assert shell.json("observe", "I live in Berlin.", "--message-id", "m1")["known"] == 1


def test_messages_come_from_stdin_as_a_list_or_line_by_line(shell: Shell) -> None:
    talk = [
        {"role": "user", "content": "I live in Berlin."},
        {"role": "assistant", "content": "Noted!"},
    ]
    heard = shell.json("observe", "--messages", "--session", "s", stdin=json.dumps(talk))
    assert heard["logged"] == 2
    lines = "\n".join(json.dumps(message) for message in talk)
    assert shell.json("observe", "--messages", "--session", "s", stdin=lines)["known"] == 2
    whole = json.dumps({"messages": [*talk, {"role": "user", "content": "I work at Acme."}]})
    again = shell.json("observe", "--messages", "--session", "s", stdin=whole)
    assert [receipt["memory"]["content"] for receipt in again["receipts"]] == ["I work at Acme."]


def test_a_conversation_can_be_read_again_word_for_word(shell: Shell) -> None:
    shell.says("observe", "I live in Berlin.", "--session", "s", "--speaker", "Anna")
    shell.says("observe", "Lovely city!", "--as", "assistant", "--session", "s")

    told = shell.says("turns", "s")

    assert "Anna  I live in Berlin." in told
    assert "assistant  Lovely city!" in told
    assert [turn["part"] for turn in shell.json("turns", "s")] == ["user", "assistant"]


def test_messages_that_are_none_are_refused(shell: Shell) -> None:
    assert shell.json("observe", "--messages", stdin="not json", code=2)["error"]["code"] == "E2007"
    assert shell.json("observe", "--messages", stdin="7", code=2)["error"]["code"] == "E2007"
    assert shell("observe", "words", "--messages", stdin="[]").exit_code == 2


def test_quiet_prints_ids_only(shell: Shell) -> None:
    told = shell.says("--quiet", "observe", "I live in Berlin.")
    assert len(told.split()) == 1
    assert shell.json("show", told.split()[0])["memory"]["content"] == "I live in Berlin."


def test_a_memory_shows_the_words_it_came_from(shell: Shell) -> None:
    kept = shell.json("observe", "Hi! I live in Berlin.", "--speaker", "Anna")["receipts"][0]["memory"]["id"]

    assert "by Anna  Hi! I live in Berlin." in shell.says("show", kept)
    assert [turn["content"] for turn in shell.json("show", kept)["said"]] == ["Hi! I live in Berlin."]


def test_what_models_have_cost_is_told(shell: Shell) -> None:
    assert shell.says("stats", "--models") == "no model was asked in the last 30 days\n"
    assert shell.json("stats", "--models") == {"spending": []}


def test_a_person_reads_why_no_model_helped(shell: Shell) -> None:
    with ScriptedServer(fails(404, "model_not_found")) as service:
        options = [f"--set=llm.{name}" for name in ("level=auto", f"base_url={service.url}", "model=large")]
        said = shell.says("observe", "I moved to Berlin last week and I love it.", *options)
        checked = shell("doctor", *options)

    assert "no model helped: the last call to large failed" in said
    assert "404" in said
    assert checked.exit_code == 1
    assert "404" in checked.output
