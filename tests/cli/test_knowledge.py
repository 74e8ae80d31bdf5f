from __future__ import annotations

import re

from tests.cli.shell import Shell


def test_facts_are_added_and_asked(shell: Shell) -> None:
    receipt = shell.json(
        "facts", "add", "Anna", "works at", "Siemens", "--confidence", "0.8", "--from", "2019-05-01"
    )
    shell.remember("Anna lives in Rome")

    assert receipt["memory"]["content"] == "Anna works at Siemens"
    lines = shell.says("facts", "list", "anna").splitlines()
    assert lines[0].split() == ["id", "subject", "predicate", "since", "until", "object"]
    assert lines[2].split()[1:] == ["anna", "work", "at", "2019-05-01", "siemens"]
    assert lines[-1] == "2 facts"
    [fact] = shell.json("facts", "list", "Anna", "works for")["facts"]
    assert (fact["fact"]["object"], fact["fact"]["confidence"]) == ("siemens", 0.8)
    assert (
        shell.says("facts", "list", "--object", "rome", "-q").strip()
        == shell.json("list")["memories"][0]["id"]
    )
    assert "no such fact" in shell.says("facts", "list", "Nobody")


def test_a_new_object_takes_the_old_ones_place(shell: Shell) -> None:
    shell.says("facts", "add", "Anna", "lives in", "Rome")

    assert shell.says("facts", "add", "Anna", "lives in", "Oslo").startswith("superseded")
    assert [one["fact"]["object"] for one in shell.json("facts", "history", "Anna")["facts"]] == [
        "rome",
        "oslo",
    ]
    assert [one["fact"]["object"] for one in shell.json("facts", "--json")["facts"]] == ["oslo"]
    assert "superseded rome" in shell.says("facts", "list", "Anna", "--history")
    shell.says("facts", "add", "Anna", "orbits", "Mars", "--one")
    assert shell.json("facts", "add", "Anna", "orbits", "Venus", "--one")["outcome"] == "superseded"


def test_facts_are_followed(shell: Shell) -> None:
    shell.says("facts", "add", "Anna", "works at", "Siemens")
    shell.says("facts", "add", "Siemens", "located in", "Munich")

    assert "anna work at siemens → siemens located in munich" in shell.says("facts", "chain", "Anna")
    [path] = shell.json("facts", "chain", "Anna", "--goal", "Munich")["paths"]
    assert path["names"] == ["anna", "siemens", "munich"]
    assert shell("facts", "chain", "Nobody").exit_code == 1


def test_a_fact_is_ended(shell: Shell) -> None:
    both = shell.remember("Anna lives in Rome and works at Acme")

    assert shell("facts", "end", both).exit_code == 2
    assert shell("facts", "end", both, "anna").exit_code == 2
    assert shell.says("facts", "end", both, "Anna", "works at", "Acme", "--at", "1d").startswith("ended")
    assert [one["fact"]["object"] for one in shell.json("facts", "list", "anna")["facts"]] == ["rome"]


def test_entities_are_listed_and_shown(shell: Shell) -> None:
    shell.remember("Anna lives in Rome")
    shell.remember("Anna went to the zoo with Bob")

    assert {one["name"] for one in shell.json("entities")["entities"]} >= {"Anna", "Bob", "Rome"}
    assert shell.says("entities", "list", "--type", "person", "--prefix", "b", "-q").split() == ["Bob"]
    said = shell.says("entities", "show", "ANNA")
    for words in ("person", "facts", "rome", "memories", "Anna went to the zoo with Bob", "beside it"):
        assert words in said
    assert shell.json("entities", "show", "anna")["entity"]["mentions"] == 2
    assert shell.json("entities", "show", "Nobody", code=1)["error"]["code"] == "E2021"
    assert shell.says("entities", "show", "anna", "-q").strip() == "Anna"


def test_an_empty_memory_knows_nobody(shell: Shell) -> None:
    assert "named yet" in shell.says("entities")
    assert "no such fact" in shell.says("facts")
    assert "contradicts" in shell.says("conflicts")


def test_names_are_joined_and_parted(shell: Shell) -> None:
    shell.remember("Anna Smith lives in Rome")
    shell.remember("Annie went to the zoo with Bob")

    assert shell.says("entities", "alias", "Anna Smith", "the boss").startswith("named Anna Smith")
    assert shell.json("entities", "merge", "Anna Smith", "Annie")["mentions"] == 2
    assert shell.says("entities", "split", "annie").startswith("split off")
    assert "no memory names" in shell.says("entities", "split", "the boss")


def test_a_timeline_is_told(shell: Shell) -> None:
    shell.remember("Anna lives in Rome")
    shell.remember("Anna lives in Oslo")

    kinds = [step["kind"] for step in shell.json("entities", "timeline", "Anna")["steps"]]
    assert kinds == ["first mention", "correction"]
    assert re.search(r"correction +\w{8}  Anna lives in Oslo", shell.says("entities", "timeline", "Anna"))


def test_conflicts_are_listed_and_settled(shell: Shell) -> None:
    rome = shell.remember("Anna lives in Rome", "--speaker", "Bob")
    oslo = shell.remember("Anna lives in Oslo", "--speaker", "Clara")

    assert len(shell.json("facts", "conflicts")["conflicts"]) == 1
    assert "anna live in oslo or rome" in shell.says("facts", "conflicts")
    said = shell.says("conflicts")
    assert "Anna lives in Rome" in said
    assert "engram conflicts resolve" in said
    assert shell.says("conflicts", "review") == "0 settled\n"  # no model is there to be asked
    assert shell.json("conflicts", "review")["settled"] == []
    shell.says("conflicts", "resolve", rome, oslo, "--keep", "b", "--because", "asked her")
    assert shell.json("conflicts")["conflicts"] == []
    assert shell.json("show", rome)["memory"]["status"] == "superseded"
