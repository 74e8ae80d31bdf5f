from __future__ import annotations

import pytest

from tests.cli.shell import Shell


@pytest.fixture
def memory_id(shell: Shell) -> str:
    return shell.remember("The staging server is called heron")


def test_forgetting_can_be_undone(shell: Shell, memory_id: str) -> None:
    said = shell.says("forget", memory_id[:8], "--because", "old news")

    assert said.startswith(f"forgotten {memory_id[:8]}")
    assert f"engram restore {memory_id[:8]}" in said
    assert shell.json("show", memory_id)["memory"]["status"] == "archived"
    assert shell.json("restore", memory_id)["status"] == "active"
    assert "old news" in shell.says("history", memory_id)


def test_erasing_needs_a_yes_when_nobody_can_be_asked(shell: Shell, memory_id: str) -> None:
    refused = shell("erase", memory_id, stdin="y\n")

    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert shell.json("show", memory_id)["memory"]["id"] == memory_id


def test_an_erased_memory_is_gone_and_the_bare_fact_stays(shell: Shell, memory_id: str) -> None:
    assert shell.json("erase", memory_id[:8], "--yes") == {"erased": memory_id}

    assert shell("show", memory_id).exit_code == 1
    events = [one for one in shell.json("history")["events"] if one["memory"] == memory_id]
    assert events[0]["verb"] == "erased"
    assert "heron" not in str(events)
    assert b"heron" not in shell.file.read_bytes()


def test_pinning_and_letting_go(shell: Shell, memory_id: str) -> None:
    assert shell.json("pin", memory_id)["pinned"] is True
    assert "pinned The staging" in shell.says("list")
    assert shell.json("list", "--pinned")["memories"]
    assert shell.json("pin", memory_id, "--off")["pinned"] is False


def test_confirming_vouches_for_it(shell: Shell, memory_id: str) -> None:
    assert shell.json("confirm", memory_id)["verification"] == "user_confirmed"


def test_a_status_can_be_set_and_nonsense_is_refused(shell: Shell, memory_id: str) -> None:
    assert (
        shell.json("status", memory_id, "challenged", "--because", "Ben doubts it")["status"] == "challenged"
    )
    assert "challenged The staging" in shell.says("list")
    assert shell.json("status", memory_id, "sleepy", code=2)["error"]["code"] == "E2000"


def test_a_status_change_without_sense_is_refused(shell: Shell, memory_id: str) -> None:
    shell.says("status", memory_id, "invalidated")

    result = shell("status", memory_id, "merged")

    assert (result.exit_code, result.stderr[:12]) == (2, "error E2010:")


def test_what_did_not_help_stays_away_from_like_questions(shell: Shell, memory_id: str) -> None:
    question = "what is the staging server called?"
    assert shell.json("recall", question)["hits"]

    said = shell.says("feedback", memory_id, "--not-helpful", "--query", question)

    assert "90 days" in said
    assert shell.json("recall", question, code=1)["hits"] == []
    assert shell.json("show", memory_id)["memory"]["usage"]["unhelpful"] == 1


def test_feedback_must_say_which(shell: Shell, memory_id: str) -> None:
    assert shell("feedback", memory_id).exit_code == 2


def test_two_memories_are_connected_and_parted(shell: Shell, memory_id: str) -> None:
    other = shell.remember("Heron runs the nightly build")

    said = shell.says("relate", other, memory_id, "--type", "supports", "--weight", "0.5")
    assert said.strip() == f"{other[:8]} supports → {memory_id[:8]}"
    assert "supports" in [edge["type"] for edge in shell.json("show", memory_id)["relations"]]
    assert shell.json("unrelate", other, memory_id, "--type", "supports") == {"removed": True}
    assert shell.json("unrelate", other, memory_id, "--type", "supports", code=1) == {"removed": False}


def test_a_circle_of_causes_is_refused(shell: Shell, memory_id: str) -> None:
    other = shell.remember("Ada named the machines after birds")
    shell.says("relate", memory_id, other, "--type", "caused_by")

    assert shell.json("relate", other, memory_id, "--type", "caused_by", code=2)["error"]["code"] == "E2013"


def test_fields_change_and_the_version_counts(shell: Shell, memory_id: str) -> None:
    changed = shell.json(
        "edit",
        memory_id,
        "--category",
        "technical",
        "--tag",
        "ops,birds",
        "--importance",
        "0.9",
        "--detail",
        "a=b",
    )

    assert (changed["version"], changed["category"], changed["details"]) == (2, "technical", {"a": "b"})
    assert set(changed["tags"]) == {"ops", "birds"}
    assert changed["content"] == "The staging server is called heron"


def test_new_words_may_come_from_stdin(shell: Shell, memory_id: str) -> None:
    shell.says("edit", memory_id, "--content", "-", stdin="The staging server is called osprey\n")

    assert shell.json("recall", "osprey")["hits"][0]["memory"]["id"] == memory_id


def test_an_empty_content_is_refused(shell: Shell, memory_id: str) -> None:
    assert shell.json("edit", memory_id, "--content", "", code=2)["error"]["code"] == "E2001"


def test_without_a_field_and_without_a_terminal_nothing_can_be_edited(shell: Shell, memory_id: str) -> None:
    result = shell("edit", memory_id)

    assert result.exit_code == 2
    assert "--content" in result.stderr


def test_quiet_changes_say_only_the_id(shell: Shell, memory_id: str) -> None:
    for words in (
        ("pin", memory_id),
        ("confirm", memory_id),
        ("forget", memory_id),
        ("erase", memory_id, "--yes"),
    ):
        assert shell.says(*words, "--quiet").strip() == memory_id
