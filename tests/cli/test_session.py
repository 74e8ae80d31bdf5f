"""`engram session`: conversations from the command line."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_a_turn_is_taken_and_its_session_listed(shell: Shell) -> None:
    shell.says("remember", "The web shop is deployed with fly.io")
    said = shell.says("session", "turn", "monday", "how is the web shop deployed?", "--reply", "With fly.io")
    [told] = shell.json("session")["sessions"]

    assert "fly.io" in said
    assert "user: how is the web shop deployed?" in said
    assert (told["id"], told["state"], told["turns"]) == ("monday", "suspended", 1)
    assert "monday" in shell.says("session", "list")
    assert shell.says("session", "list", "-q").strip() == "monday"
    assert "fly.io" in shell.says("session", "show", "monday")


def test_something_is_held_in_mind_and_a_session_ends(shell: Shell) -> None:
    shell.says("session", "turn", "monday", "hello there")
    shell.says("session", "hold", "monday", "ask Anna")

    assert "ask Anna" in [slot["content"] for slot in shell.json("session", "show", "monday")["slots"]]
    assert shell.says("session", "suspend", "monday").startswith("asleep")
    assert shell.says("session", "end", "monday").startswith("ended monday")
    assert "no sessions yet" in shell.says("session")
    assert shell("session", "show", "monday").exit_code != 0


def test_a_flow_and_a_project(shell: Shell) -> None:
    shell.says("session", "learn", "release", "test", "tag")
    told = shell.says(
        "session", "learn", "release", "test", "tag", "--outcome", "failure", "--result", "late"
    )

    assert "1 of 2 runs went well" in told
    assert shell.json("session", "complete", "apollo", "--lesson", "Ask first")["lessons"]
    assert shell.says("session", "complete", "apollo").startswith("complete apollo")
