"""`engram vault`: encrypt the file, open and lock it, change its key."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engram.cli.maintain import salvage_lines, size
from engram.cli.options import CommandRun, Group, command, pass_run
from engram.cli.output import ask_first, counted, done, say_json, steps, table, tell
from engram.errors import BadKey, KeyNeeded
from engram.keys import KEY_FILE_VARIABLE, KEY_VARIABLE
from engram.model.clock import SystemClock, zone_of
from engram.model.plain import moment, plain
from engram.model.scope import DEFAULT_NAMESPACE
from engram.opening import file_of_namespace, is_folder, namespaces_in, place

if TYPE_CHECKING:
    from engram.model.event import ArchiveReport


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
    from engram.api.vault import check_no_key, init_vault, init_vault_like

    path, *rest = _files(run)
    check_no_key(path, SystemClock())
    key = _key_of(key_file) if key_file else _key_at_hand()
    passphrase = "" if key is not None or keychain else ask_passphrase("Passphrase", twice=True)
    where = init_vault(path, passphrase=passphrase, key=key, fields=fields, config=run.config)
    for another in rest:
        init_vault_like(another, path, passphrase or key, fields=fields, config=run.config)
    what = "What is sensitive is sealed" if fields else "Encrypted"
    tell(run, {"vault": path, "key": where}, f"{what}. The key is {where}.")


@vault.command("status")
@pass_run
def status(run: CommandRun) -> None:
    """Tell whether the file is encrypted and whether a key is at hand."""
    from engram.api.vault import vault_status

    state = vault_status(_files(run)[0])
    words = {
        "new": "There is no file yet.",
        "plain": "Not encrypted: `engram vault init` encrypts it.",
        "fields": "Sensitive contents are sealed; the rest of the file is not encrypted.",
        "vault": "Encrypted.",
    }[state.state]
    if state.state in {"vault", "fields"}:
        words += " A key is at hand." if state.unlocked else " Locked: `engram vault unlock` opens it."
    tell(run, plain(state), words)


@vault.command("unlock")
@pass_run
def unlock(run: CommandRun) -> None:
    """Hold the key, so that commands, servers, hooks and agents open the file, until `lock` or logout."""
    from engram.api.vault import unlock_vault

    path = _files(run)[0]
    where = unlock_vault(path, _key_at_hand() or ask_passphrase("Passphrase"))
    tell(run, {"vault": path, "held": where}, f"Unlocked. The key is held in {where}.")


@vault.command("lock")
@pass_run
def lock(run: CommandRun) -> None:
    """Hold the key no longer. Whoever has the file open keeps it open."""
    from engram.api.vault import lock_vault

    was = lock_vault(_files(run)[0])
    tell(run, {"locked": was}, "Locked." if was else "No key was held.")


@vault.command("rotate")
@keychain_option
@key_file_option
@pass_run
def rotate(run: CommandRun, keychain: bool, key_file: str | None) -> None:
    """Give the file another key; the old one opens nothing any more, nor do backups made under it."""
    from engram.api.vault import rotate_vault

    path = run.one_file
    old = _current(path)
    new = _key_of(key_file) if key_file else None
    passphrase = "" if new is not None or keychain else ask_passphrase("New passphrase", twice=True)
    where = rotate_vault(path, key=old, passphrase=passphrase, new_key=new)
    tell(run, {"vault": path, "key": where}, f"The file has another key. It is {where}.")


@vault.command("export-key")
@pass_run
def export_key(run: CommandRun) -> None:
    """Print the key itself, to be kept where nobody finds it. Whoever has it can read the file."""
    from engram.api.vault import export_key as shown

    path = _files(run)[0]
    key = shown(path, _current(path))
    tell(run, {"key": key}, key)


@vault.command("remove")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_run
def remove(run: CommandRun, yes: bool) -> None:
    """Write the file in clear again."""
    from engram.api.vault import remove_vault

    path = run.one_file
    if not yes:
        ask_first("Afterwards everybody who can read the file can read what is in it.", "Go on?")
    remove_vault(path, key=_current(path))
    tell(run, {"vault": None}, "The file is no vault any more.")


@vault.command("erase-session")
@click.argument("session")
@pass_run
def erase_session(run: CommandRun, session: str) -> None:
    """Erase a conversation for good: its turns and the memories that came from them."""
    with run.open() as memory:
        removed = memory.vault.erase_session(session)
    counts = ", ".join(f"{number} {name}" for name, number in removed.items() if number)
    tell(run, {"removed": removed}, f"Erased: {counts or 'nothing'}.")


@vault.command("audit")
@click.option("-n", "--limit", default=100, show_default=True, help="So many lines at most.")
@click.option("--after", default=0, show_default=True, help="Go on after this number.")
@pass_run
def audit(run: CommandRun, limit: int, after: int) -> None:
    """Tell who looked, and who was not let, oldest first; with --json as a list to be kept elsewhere."""
    with run.open(whole_file=True) as memory:
        entries = memory.vault.audit(limit=limit, after=after)
    lines = [
        f"{row.number:>6}  {row.at:%Y-%m-%d %H:%M:%S}  {row.what:<10}  {row.actor:<12}  {row.subject}"
        for row in entries
    ]
    tell(run, {"entries": plain(entries)}, "\n".join(lines) or "Nothing yet.")


@vault.command("purge")
@click.argument("person", required=False, default="")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_run
def purge(run: CommandRun, person: str, yes: bool) -> None:
    """Take a PERSON, or the place that --namespace, --user and the like name, out of the file for good.

    Prints a signed certificate of what was removed. It holds no words.
    """
    if not person and not run.is_scoped:
        raise click.UsageError("Say whom: a PERSON, or a place such as --user NAME or --namespace NAME.")
    if not yes:
        what = person or str(run.scope)
        ask_first(f"Everything about {what} goes, and cannot be brought back.", "Go on?")
    with run.open(whole_file=True) as memory:
        certificate = memory.vault.purge(person=person) if person else memory.vault.purge(scope=run.scope)
        parts = [part for part in person.split() if part != person and memory.entities.get(part) is not None]
    say_json(plain(certificate))
    if parts:
        click.echo(
            f"Still spoken of: {', '.join(parts)}. Purge them too if they are the same person.", err=True
        )


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


def _files(run: CommandRun) -> list[str]:
    """The file that is meant; of a folder all, that with the folder's own key first."""
    where = place(run.file)
    if run.namespace or not is_folder(where):
        return [run.one_file]
    names = sorted({DEFAULT_NAMESPACE, *namespaces_in(where)}, key=lambda name: name != DEFAULT_NAMESPACE)
    return [str(file_of_namespace(where, name)) for name in names]


# ---------------------------------------------------------------- backup
# `engram backup` makes, lists and puts back copies of the file, and saves a damaged one.


@click.group("backup", cls=Group, otherwise="make")
def backup() -> None:
    """Copy the whole memory, put a copy back, save a damaged one."""


@backup.command("make")
@click.option("--to", type=click.Path(), help="A file to make; else one joins those beside it.")
@pass_run
def make(run: CommandRun, to: str | None) -> None:
    """Copy everything as it is now and check the copy; the memory may be in use meanwhile."""
    with run.open(whole_file=True) as memory:
        copy = memory.backups.make(to)
    message = done("backed up to", f"{copy.file}, {size(copy.size_bytes)}")
    tell(run, {"backups": [copy]}, message, quiet=[copy.file])


@backup.command("list")
@pass_run
def list_backups(run: CommandRun) -> None:
    """The copies beside the memory, oldest first."""
    with run.open(whole_file=True) as memory:
        copies = memory.backups.list()
    rows = [(copy.made_at.strftime("%Y-%m-%d %H:%M"), size(copy.size_bytes), copy.file) for copy in copies]
    none = "There is no backup yet: one is made by itself when the memory is a day old."
    listing = table(("made", "size", "file"), rows) if rows else none
    tell(run, {"backups": copies}, listing, quiet=[copy.file for copy in copies])


@backup.command("restore")
@click.argument("copy", type=click.Path(dir_okay=False), required=False)
@click.option("--at", help="Instead of a COPY: the newest one from before this time.")
@pass_run
def restore_backup(run: CommandRun, copy: str | None, at: str | None) -> None:
    """Put a copy in the place of the memory, which nobody may have open; the present one is kept.

    With --at what happened between the copy and that time is told by kind: it is not in the copy.
    """
    from engram.opening import restore_at
    from engram.opening import restore_backup as put_back

    if (copy is None) == (at is None):
        raise click.UsageError("Name a COPY, or a time by --at.")
    missing: dict[str, int] = {}
    if at is not None:
        time = moment("time", at, zone_of(run.config.timezone))
        chosen, former, missing = restore_at(run.one_file, time, run.config)
        copy = chosen.file
    else:
        former = put_back(run.one_file, str(copy), run.config)
    lost = ", ".join(f"{count} {verb}" for verb, count in missing.items()) or "nothing"
    lines = [f"  the former file is {former}"] if former else []
    lines += [f"  between the copy and that time, and not in it: {lost}"] if at else []
    value = {"restored": copy, "kept": former, **({"missing": missing} if at else {})}
    tell(run, value, done("restored", str(copy)), *lines)


@backup.command("archive")
@click.argument("target", type=click.Path())
@click.option("--encrypt", is_flag=True, help="Ask for a passphrase and encrypt the archive under it.")
@pass_run
def archive(run: CommandRun, target: str, encrypt: bool) -> None:
    """Write everything the memory knows into one archive, from which an equal memory can be made.

    Memories, relations, facts, entities, turns, history, knowledge and the rest as lines of JSON in a zip,
    with hashes. Tokens of the server stay behind.
    """
    passphrase = ask_passphrase("Passphrase of the archive", twice=True) if encrypt else ""
    with run.open(whole_file=True) as memory:
        report = memory.backups.archive(target, passphrase)
    _say_archive(run, report, "archived", target)


@backup.command("unpack")
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@pass_run
def unpack(run: CommandRun, source: str) -> None:
    """Make a new memory of an archive: name one that is not there by --file."""
    from engram.opening import restore_archive
    from engram.store.sqlite.archive import is_sealed

    passphrase = ask_passphrase("Passphrase of the archive") if is_sealed(Path(source)) else ""
    report = restore_archive(run.one_file, source, run.config, passphrase)
    _say_archive(run, report, "unpacked", source)


@command("migrate")
@click.argument("source")
@click.argument("target")
@pass_run
def migrate(run: CommandRun, source: str, target: str) -> None:
    """Move the whole memory: SOURCE and TARGET are a file or postgresql://… each.

    Every row is brought over and compared by count and hash. The target must be new or empty; a move that was
    cut off goes on when the same command is given again. The source stays as it is.
    """
    from engram.opening import migrate as move
    from engram.opening import shown

    with steps(run, "moving") as moved:
        report = move(source, target, run.config, lambda _, rows: moved.add(rows))
    _say_archive(run, report, "moved", shown(target))


def _say_archive(run: CommandRun, report: ArchiveReport, what: str, file: str) -> None:
    counts = f"{counted(report.memories, 'memory', 'memories')}, {report.rows:,} rows in all"
    tell(run, {**plain(report), "file": file}, done(what, f"{counts}: {file}"), quiet=())


@backup.command("salvage")
@click.option("--backup", "chosen", type=click.Path(dir_okay=False), help="A copy to fill the gaps from.")
@pass_run
def salvage_command(run: CommandRun, chosen: str | None) -> None:
    """Save what can be read of a damaged file.

    Rows are read page by page; what lay on damaged pages comes from the newest sound backup. The damaged file
    is kept beside the new one, and the memories that could not be saved are named.
    """
    from engram.opening import salvage

    report = salvage(run.one_file, run.config, chosen)
    tell(run, report, *salvage_lines(report), quiet=())
