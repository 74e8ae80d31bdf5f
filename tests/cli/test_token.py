"""`engram token`: who may come in from outside."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_a_token_is_made_listed_and_revoked(shell: Shell) -> None:
    made = shell.json("token", "create", "rex", "--role", "reader", "--project", "apollo", "--agent", "rex")
    listed = shell.json("token", "list")["tokens"]

    assert made["secret"].startswith("engram_")
    assert [(one["name"], one["role"], one["scope"]["agent"]) for one in listed] == [("rex", "reader", "rex")]
    assert made["secret"] not in shell.says("token", "list")
    assert shell.says("token", "revoke", "rex").startswith("revoked")
    assert shell.json("token")["tokens"] == []
    assert "revoked" in shell.says("token", "list", "--revoked")


def test_a_secret_is_shown_alone_when_asked_quietly(shell: Shell) -> None:
    assert shell.says("token", "create", "rex", "-q").startswith("engram_")
    assert "copy it now" in shell.says("token", "create", "ada", "--expires", "30d")


def test_what_is_not_there_cannot_be_revoked(shell: Shell) -> None:
    assert "no tokens yet" in shell.says("token", "list")
    assert shell("token", "revoke", "nobody").exit_code == 2
    shell.says("token", "create", "rex")
    shell.says("token", "create", "rex")
    assert "give the id" in shell("token", "revoke", "rex").output
