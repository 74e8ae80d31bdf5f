"""The bus from the command line."""

from __future__ import annotations

from tests.cli.shell import Shell

REX, ADA = ("--project", "apollo", "--agent", "rex"), ("--project", "apollo", "--agent", "ada")


def test_one_agent_offers_and_another_receives(shell: Shell) -> None:
    assert "nobody subscribed" in shell.says("bus", "list")
    wish = shell.json("bus", "subscribe", "--topic", "deploy", *ADA)
    learned = shell.remember("The staging deploy needs the VPN", "--tag", "deploy", *REX)
    offer = shell.json("bus", "publish", learned, *REX)
    listed = shell.json("bus", "list")
    assert [one["id"] for one in listed["subscriptions"]] == [wish["id"]]
    assert [one["id"] for one in listed["publications"]] == [offer["id"]]
    assert "bus.deliver" in shell.says("bus", "deliver")
    assert "VPN" in shell.says("recall", "What does the staging deploy need?", *ADA)
    assert shell("bus", "unsubscribe", wish["id"], *ADA).exit_code == 0
    assert shell("bus", "unsubscribe", wish["id"], *ADA).exit_code == 1
    assert shell("bus", "withdraw", offer["id"], *REX).exit_code == 0
