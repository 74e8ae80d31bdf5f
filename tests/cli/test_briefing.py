"""`engram resume`, `pack`, `commitments` and `triggers` at a shell."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_a_resume_and_a_pack_are_printed_as_they_are(shell: Shell) -> None:
    shell.remember("Never deploy on Fridays", "--category", "constraint")
    shell.remember("The red \x1b[31m server stands in Bremen")

    resume, pack = shell.says("resume"), shell.says("pack", "--task", "write the notes")

    assert resume.startswith("# Resume ")
    assert "Never deploy on Fridays" in resume
    assert pack.startswith("# Recall pack ")
    assert pack.index("## P0 constraints") < pack.index("Never deploy") < pack.index("write the notes")
    assert "\x1b" not in resume + pack
    assert len(shell.says("resume", "--budget", "300")) <= 301
    assert shell.json("pack")["words"] == shell.json("pack")["words"] > 10
    assert shell.json("resume", "--compact")["form"] == "compact"


def test_the_parts_of_both_are_shown(shell: Shell) -> None:
    shell.remember("Never deploy on Fridays", "--category", "constraint")

    assert "rules" in shell.says("pack", "--parts")
    assert "of 3000 words" in shell.says("pack", "--parts")
    assert "characters" in shell.says("resume", "--parts")


def test_a_commitment_goes_its_way(shell: Shell) -> None:
    assert "nothing is open" in shell.says("commitments")
    loop = shell.json("commitments", "open", "Send the quote", "--due", "2099-12-31")["id"]
    assert (
        shell.json("commitments", "open", "Call", "the", "bank", "--waiting-on", "Ada")["state"] == "waiting"
    )

    table = shell.says("commitments")
    assert "2099-12-30" in table  # midnight ends the day before
    assert "waits for Ada" in table
    assert "2 commitments" in table
    assert shell.says("commitments", "list", "--state", "open", "-q").strip() == loop
    assert "Send the quote" in shell.says("commitments", "show", loop)
    assert "legal" in shell.says("commitments", "wait", loop, "legal")
    assert shell.says("commitments", "close", loop, "--dropped", "--because", "too dear").startswith(
        "dropped"
    )
    assert shell.json("commitments", "list", "--state", "dropped")["commitments"][0]["because"] == "too dear"
    assert shell.says("commitments", "reopen", loop, "-q").strip() == loop
    assert shell("commitments", "open", "x", "--due", "some day").exit_code == 2


def test_a_trigger_goes_its_way(shell: Shell) -> None:
    assert "no triggers yet" in shell.says("triggers")
    shell.remember("Acme ships from Bremen")
    trigger = shell.json("triggers", "add", "order", "supply chain", "--load", "Acme")["id"]

    assert "order, supply chain" in shell.says("triggers")
    assert trigger in shell.says("triggers", "match", "my", "orders")
    assert "nothing" in shell.says("triggers", "match", "tea")
    assert shell.json("triggers", "match", "orders")["triggers"][0]["pages"] == ["entity:Acme"]
    assert "Ada" in shell.says("triggers", "edit", trigger, "--load", "Ada")
    assert shell.says("triggers", "list", "-q").strip() == trigger
    assert shell.says("triggers", "remove", trigger).startswith("removed")
    assert shell("triggers", "remove", trigger).exit_code == 2
