"""Archives: everything a file knows goes out as one archive, and comes back as an equal file.

A zip with a line of JSON for each row of each table, and a manifest with schema, counts and hashes. The same
memory always gives the same bytes. Encrypted on request: chunks of AES-GCM under a key stretched from a
passphrase, numbered, so that none can be cut off, changed or moved.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from engram.errors import BadArchive, ConfigError, FileExists
from engram.model.event import ArchiveReport
from engram.store.sqlite import upkeep
from engram.store.sqlite.connection import Db, Opener, ask, ask_value
from engram.store.sqlite.migrate import known, migrate
from engram.store.sqlite.salvage import Shape, insert_rows, shapes_of, without_triggers

FORMAT, VERSION = "engram-archive", 1
LEFT_OUT: Final = frozenset({"migrations", "blocks", "changes", "answers", "tokens"})
"""What is made anew, belongs to running servers, or lets somebody in."""
MANIFEST = "manifest.json"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every part: an archive tells what is in it, not when it was written."""
MAGIC: Final = b"ENGRAM-ARCHIVE-1"
CHUNK: Final = 1 << 20
SALT, NONCE, TAG = 16, 12, 16
COST: Final = 2**15
"""Of scrypt: about a tenth of a second."""


def write_archive(db: Db, out: IO[bytes], passphrase: str = "") -> ArchiveReport:
    """Write all tables as they are at one moment.

    Args:
        db: a connection that reads.
        out: where to; it need not be seekable.
        passphrase: encrypts the archive; empty leaves it readable.

    Raises:
        ConfigError: a passphrase was given and the cipher is not installed.

    """
    sealing = _Sealing(out, passphrase) if passphrase else None
    db.execute("BEGIN")
    try:
        with zipfile.ZipFile(sealing or out, "w", zipfile.ZIP_DEFLATED) as archive:
            tables = {shape.name: _write_table(db, shape, archive) for shape in _kept(db)}
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "schema": db.pragma("user_version"),
                "tables": tables,
            }
            archive.writestr(_part(MANIFEST), json.dumps(manifest, indent=1, sort_keys=True))
    finally:
        db.execute("ROLLBACK")
    if sealing is not None:
        sealing.finish()
    return ArchiveReport(sum(table["rows"] for table in tables.values()), tables["memories"]["rows"])


def read_archive(opener: Opener, source: Path, passphrase: str = "") -> ArchiveReport:
    """Make a new file of an archive.

    Raises:
        FileExists: there is a file already; an archive becomes a new one.
        BadArchive: it is no archive, is damaged, was changed, or the passphrase is wrong. Nothing was made.

    """
    path = Path(opener.path)
    if path.exists():
        raise FileExists(str(path))
    arriving = path.with_name(path.name + ".arriving")
    arriving.unlink(missing_ok=True)
    try:
        with _opened(source, passphrase) as archive:
            report = _unpack(archive, replace(opener, path=str(arriving)))
        arriving.rename(path)
    finally:
        for ending in ("", "-wal", "-shm"):
            arriving.with_name(arriving.name + ending).unlink(missing_ok=True)
    return report


def is_sealed(source: Path) -> bool:
    """Whether an archive is encrypted, by its first bytes."""
    with source.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


# ---------------------------------------------------------------- tables


def _kept(db: Db) -> list[Shape]:
    return [shape for shape in sorted(shapes_of(db), key=lambda one: one.name) if shape.name not in LEFT_OUT]


def _write_table(db: Db, shape: Shape, archive: zipfile.ZipFile) -> dict[str, Any]:
    names = shape.named
    order = names if shape.without_rowid else "rowid"
    rows, hashed = 0, hashlib.sha256()
    with archive.open(_part(f"tables/{shape.name}.jsonl"), "w") as part:
        for row in db.execute(f'SELECT {names} FROM "{shape.name}" ORDER BY {order}'):  # noqa: S608 - names of our schema
            line = json.dumps([_plain(value) for value in row], ensure_ascii=False).encode() + b"\n"
            hashed.update(line)
            part.write(line)
            rows += 1
    return {"columns": list(shape.columns), "rows": rows, "sha256": hashed.hexdigest()}


def _part(name: str) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(name, FIRST_DAY)
    part.compress_type = zipfile.ZIP_DEFLATED
    return part


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _stored(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def _unpack(archive: zipfile.ZipFile, opener: Opener) -> ArchiveReport:
    manifest = _manifest(archive)
    steps = tuple(step for step in known() if step.number <= manifest["schema"])
    with closing(opener.writer()) as db:
        migrate(db, opener.clock, steps)
        db.pragma("foreign_keys", False)  # noqa: FBT003 - the binding's own signature
        with db, without_triggers(db):
            for shape in _kept(db):
                db.execute(f'DELETE FROM "{shape.name}"')  # noqa: S608 - a new file has a line of totals
                _read_table(db, shape, manifest["tables"].get(shape.name), archive)
            broken = ask(db, "PRAGMA foreign_key_check")
            if broken:
                raise BadArchive(f"{len(broken)} rows point to what is not in it")
        migrate(db, opener.clock)
        upkeep.rebuild(db)
        db.pragma("journal_mode", "delete")
        memories = int(ask_value(db, "SELECT count(*) FROM memories"))
    return ArchiveReport(sum(one["rows"] for one in manifest["tables"].values()), memories)


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read(MANIFEST))
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise BadArchive("it has no manifest") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadArchive("it is of another program")
    if manifest.get("version") != VERSION or manifest.get("schema", 0) > known()[-1].number:
        raise BadArchive("it was written by a newer version: upgrade engram")
    return manifest


def _read_table(db: Db, shape: Shape, stated: dict[str, Any] | None, archive: zipfile.ZipFile) -> None:
    if stated is None:
        return
    if not set(stated["columns"]) <= set(shape.columns):
        raise BadArchive(f"its table {shape.name} has columns that are not known")
    hashed = hashlib.sha256()
    try:
        with archive.open(f"tables/{shape.name}.jsonl") as part:
            rows = _rows(part, hashed.update)
            taken = insert_rows(db, replace(shape, columns=tuple(stated["columns"])), rows)
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise BadArchive(f"its table {shape.name} cannot be read ({error})") from error
    if hashed.hexdigest() != stated["sha256"] or taken != stated["rows"]:
        raise BadArchive(f"its table {shape.name} is not what the manifest says")


def _rows(part: IO[bytes], hear: Callable[[bytes], None]) -> Iterator[tuple[Any, ...]]:
    for line in part:
        hear(line)
        yield tuple(_stored(value) for value in json.loads(line))


# ---------------------------------------------------------------- sealing


class _Sealing(io.RawIOBase):
    """A file that encrypts what is written to it, chunk by chunk. Whoever made it calls `finish`."""

    def __init__(self, out: IO[bytes], passphrase: str) -> None:
        self._out = out
        salt = os.urandom(SALT)
        self._cipher = _cipher(passphrase, salt)
        self._waiting = bytearray()
        self._number = 0
        out.write(MAGIC + salt)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waiting += data
        while len(self._waiting) > CHUNK:
            self._put(bytes(self._waiting[:CHUNK]), last=False)
            del self._waiting[:CHUNK]
        return len(data)

    def finish(self) -> None:
        """Write what is left, marked as the last."""
        self._put(bytes(self._waiting), last=True)
        self._waiting.clear()

    def _put(self, chunk: bytes, *, last: bool) -> None:
        self._out.write(self._cipher.encrypt(_nonce(self._number), chunk, b"last" if last else b"more"))
        self._number += 1


def _opened(source: Path, passphrase: str) -> zipfile.ZipFile:
    try:
        with source.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return zipfile.ZipFile(io.BytesIO(b"".join(_unsealed(file, passphrase))))
        return zipfile.ZipFile(source)
    except OSError as error:
        raise BadArchive(f"it cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise BadArchive("it is no archive, or it is damaged") from error


def _unsealed(file: IO[bytes], passphrase: str) -> Iterator[bytes]:
    if not passphrase:
        raise BadArchive("it is encrypted: give its passphrase")
    from cryptography.exceptions import InvalidTag

    cipher, number, chunk = _cipher(passphrase, file.read(SALT)), 0, file.read(CHUNK + TAG)
    while True:
        following = file.read(CHUNK + TAG)
        try:
            yield cipher.decrypt(_nonce(number), chunk, b"more" if following else b"last")
        except InvalidTag as error:
            raise BadArchive("the passphrase is wrong, or it was changed") from error
        if not following:
            return
        chunk, number = following, number + 1


def _cipher(passphrase: str, salt: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    except ImportError as missing:
        raise ConfigError(
            "An encrypted archive needs `cryptography`: pip install 'engram-cortex[vault]'."
        ) from missing
    return AESGCM(Scrypt(salt=salt, length=32, n=COST, r=8, p=1).derive(passphrase.encode()))


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE, "big")
