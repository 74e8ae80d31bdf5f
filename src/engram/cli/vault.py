"""`engram vault`: encrypt the file, open and lock it, change its key."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

import click

from engram.cli.options import CommandRun, Group, pass_run
from engram.cli.output import say, say_json
from engram.errors import BadKey, KeyNeeded
from engram.keys.finding import KEY_FILE_VARIABLE, KEY_VARIABLE
from engram.model.plain import plain
from engram.opening import place

keychain_option = click.option(
    "--keychain", is_flag=True, help="Make a key and keep it in the keychain of this system."
)
key_file_option = click.option(
    "--key-file", type=click.Path(dir_okay=False), help="Take the key from this file; make it if need be."
)


@click.group("vault", cls=Group, otherwise="status")
def vault() -> None:
    """Encrypt the file, open and lock it, change its key."""


@vault.command("init")
@keychain_option
@key_file_option
@click.option(
    "--fields", is_flag=True, help="Seal only what is sensitive; the file stays readable otherwise."
)
@pass_run
def init(run: CommandRun, keychain: bool, key_file: str | None, fields: bool) -> None:
    """Encrypt the file: under a passphrase, unless told otherwise.

    With ENGRAM_KEY or ENGRAM_KEY_FILE set, that is the key. The file in clear is overwritten once everything
    has been found again in the encrypted one.
    """
    from engram.api.vault import init_vault

    key = _key_of(key_file) if key_file else _key_at_hand()
    passphrase = "" if key is not None or keychain else ask_passphrase("Passphrase", twice=True)
    path = place(run.file)
    where = init_vault(path, passphrase=passphrase, key=key, fields=fields, config=run.config)
    done = "What is sensitive is sealed" if fields else "Encrypted"
    _told(run, {"vault": path, "key": where}, f"{done}. The key is {where}.")


@vault.command("status")
@pass_run
def status(run: CommandRun) -> None:
    """Tell whether the file is encrypted and whether a key is at hand."""
    from engram.api.vault import vault_status

    found = vault_status(place(run.file))
    words = {
        "new": "There is no file yet.",
        "plain": "Not encrypted: `engram vault init` encrypts it.",
        "fields": "Sensitive contents are sealed; the rest of the file is not encrypted.",
        "vault": "Encrypted.",
    }[found.state]
    if found.state in {"vault", "fields"}:
        words += " A key is at hand." if found.unlocked else " Locked: `engram vault unlock` opens it."
    _told(run, plain(found), words)


@vault.command("unlock")
@pass_run
def unlock(run: CommandRun) -> None:
    """Hold the key, so that commands, servers, hooks and agents open the file, until `lock` or logout."""
    from engram.api.vault import unlock_vault

    path = place(run.file)
    where = unlock_vault(path, _key_at_hand() or ask_passphrase("Passphrase"))
    _told(run, {"vault": path, "held": where}, f"Unlocked. The key is held in {where}.")


@vault.command("lock")
@pass_run
def lock(run: CommandRun) -> None:
    """Hold the key no longer. Whoever has the file open keeps it open."""
    from engram.api.vault import lock_vault

    was = lock_vault(place(run.file))
    _told(run, {"locked": was}, "Locked." if was else "No key was held.")


@vault.command("rotate")
@keychain_option
@key_file_option
@pass_run
def rotate(run: CommandRun, keychain: bool, key_file: str | None) -> None:
    """Give the file another key; the old one opens nothing any more, nor do backups made under it."""
    from engram.api.vault import rotate_vault

    path = place(run.file)
    old = _current(path)
    new = _key_of(key_file) if key_file else None
    passphrase = "" if new is not None or keychain else ask_passphrase("New passphrase", twice=True)
    where = rotate_vault(path, key=old, passphrase=passphrase, new_key=new)
    _told(run, {"vault": path, "key": where}, f"The file has another key. It is {where}.")


@vault.command("export-key")
@pass_run
def export_key(run: CommandRun) -> None:
    """Print the key itself, to be kept where nobody finds it. Whoever has it can read the file."""
    from engram.api.vault import export_key as shown

    path = place(run.file)
    key = shown(path, _current(path))
    _told(run, {"key": key}, key)


@vault.command("remove")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_run
def remove(run: CommandRun, yes: bool) -> None:
    """Write the file in clear again."""
    from engram.api.vault import remove_vault

    path = place(run.file)
    if not yes:
        click.confirm("Afterwards everybody who can read the file can read what is in it. Go on?", abort=True)
    remove_vault(path, key=_current(path))
    _told(run, {"vault": None}, "The file is no vault any more.")


@vault.command("erase-session")
@click.argument("session")
@pass_run
def erase_session(run: CommandRun, session: str) -> None:
    """Erase a conversation for good: its turns and the memories that came from them."""
    with run.open() as memory:
        removed = memory.vault.erase_session(session)
    told = ", ".join(f"{number} {name}" for name, number in removed.items() if number)
    _told(run, {"removed": removed}, f"Erased: {told or 'nothing'}.")


@vault.command("audit")
@click.option("-n", "--limit", default=100, show_default=True, help="So many lines at most.")
@click.option("--after", default=0, show_default=True, help="Go on after this number.")
@pass_run
def audit(run: CommandRun, limit: int, after: int) -> None:
    """Tell who looked, and who was not let, oldest first; with --json as a list to be kept elsewhere."""
    with run.open(whole_file=True) as memory:
        entries = memory.vault.audit(limit=limit, after=after)
    lines = [
        f"{one.number:>6}  {one.at:%Y-%m-%d %H:%M:%S}  {one.what:<10}  {one.actor:<12}  {one.subject}"
        for one in entries
    ]
    _told(run, {"entries": plain(entries)}, "\n".join(lines) or "Nothing yet.")


@vault.command("purge")
@click.argument("person", required=False, default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_run
def purge(run: CommandRun, person: str, yes: bool) -> None:
    """Take a PERSON, or the place that --namespace, --user and the like name, out of the file for good.

    Prints a signed certificate of what was removed. It holds no words.
    """
    what = person or str(run.scope)
    if not yes:
        click.confirm(f"Everything about {what} goes, and cannot be brought back. Go on?", abort=True)
    with run.open(whole_file=True) as memory:
        made = memory.vault.purge(person=person) if person else memory.vault.purge(scope=run.scope)
    say_json(plain(made))


def _current(path: str) -> bytes | str | None:
    """What opens the vault now: what is at hand, or what is asked for. None: what is held."""
    from engram.keys import find_keys

    at_hand = _key_at_hand()
    if at_hand is not None:
        return at_hand
    try:
        find_keys(path)
    except KeyNeeded:
        return ask_passphrase("Passphrase")
    return None


def _key_at_hand() -> bytes | str | None:
    if text := os.environ.get(KEY_VARIABLE):
        return text
    name = os.environ.get(KEY_FILE_VARIABLE)
    return _key_of(name) if name else None


def _key_of(name: str) -> bytes:
    """The key in a file; a new one, for this user alone, when there is no such file."""
    path = Path(name)
    if not path.exists():
        number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(number, "w") as out:
            out.write(secrets.token_hex(32) + "\n")
    return path.read_bytes()


def ask_passphrase(what: str, *, twice: bool = False) -> str:
    """A passphrase from the person who sits there; a line of standard input where nobody does."""
    if sys.stdin.isatty():
        return str(click.prompt(what, hide_input=True, confirmation_prompt=twice))
    line = sys.stdin.readline().rstrip("\n")
    if not line:
        raise BadKey("No passphrase was given: type one, or set ENGRAM_KEY or ENGRAM_KEY_FILE.")
    return line


def _told(run: CommandRun, told: dict[str, object], words: str) -> None:
    if run.json:
        say_json(told)
    else:
        say(run, words)
