"""Opening: a path and settings come in, every part opened and joined comes out as tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from engram import plugins
from engram.config import Config, own_folder
from engram.errors import ConfigError, EngramError, KeyNeeded, NoSuchFile, StoreError
from engram.lazily import dataclass, hashlib, uuid
from engram.model.clock import Clock, SystemClock
from engram.model.scope import DEFAULT_NAMESPACE
from engram.ports import Advisor, Embedder, Finder, NoAdvisor, Spending, Store, Tools
from engram.pressure import PressureGauge
from engram.rules.sealing import without_password
from engram.text.tokens import count

if TYPE_CHECKING:
    from datetime import datetime

    from engram.keys import VaultKeys
    from engram.model.event import ArchiveReport, Backup, SalvageReport
    from engram.store.sqlite import SqliteStore, StoreSettings
    from engram.store.sqlite.connection import Opener

T = TypeVar("T")
PR_SET_DUMPABLE = 4
FILE_VARIABLE = "ENGRAM_FILE"
POSTGRES = frozenset({"postgresql", "postgres"})
OLD_VARIABLE = "ENGRAM_DB"
"""What an older system called it."""
ENDING = ".db"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
"""What stands for itself in the name of a file. Capitals do not: some file systems do not tell them apart."""
TAKEN = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
"""Names that Windows keeps for itself."""
PART_LENGTH = 180
"""A longer name goes on in a folder: most file systems take 255 bytes, and backups add to it."""
GOES_ON = "+"


@dataclass(frozen=True, slots=True)
class Overrides:
    """Parts that a user brings along; what is None is made from the settings."""

    clock: Clock | None = None
    embedder: Embedder | None = None
    advisor: Advisor | None = None
    key: bytes | str | None = field(default=None, repr=False)
    """What opens a vault: 32 bytes, their hexadecimal digits or base64, or a passphrase."""


_CHANCE: list[bytes] = []
"""Random bytes for ids to come. A process that branches off draws its own."""
ID_BYTES = 16
IDS_AT_ONCE = 256


def new_id() -> str:
    """A random id (UUID 4).

    The system is asked for many at once: Python lets another thread go first at each asking, in the middle of
    a write that all threads wait for.
    """
    while True:
        with suppress(IndexError):
            return str(uuid.UUID(bytes=_CHANCE.pop(), version=4))
        drawn = os.urandom(ID_BYTES * IDS_AT_ONCE)
        _CHANCE.extend(drawn[at : at + ID_BYTES] for at in range(0, len(drawn), ID_BYTES))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_CHANCE.clear)


def place(path: str | Path | None) -> str:
    """The given file, the one that `ENGRAM_FILE` (or `ENGRAM_DB`) names, or the user's own."""
    return str(path or os.environ.get(FILE_VARIABLE) or os.environ.get(OLD_VARIABLE) or default_file())


def is_address(where: str) -> bool:
    """Whether memories are kept elsewhere than in a file: in PostgreSQL, or in what an extension brings."""
    return "://" in where


def is_there(where: str) -> bool:
    """Whether there is a file; of an address only opening it tells."""
    return is_address(where) or Path(where).exists()


def beside(where: str) -> str:
    """What to name files after that belong to a memory: the file itself, or a name for its address."""
    if is_folder(where):
        return str(file_of_namespace(where, DEFAULT_NAMESPACE))
    if not is_address(where):
        return where
    return str(default_file().with_name(f"address-{hashlib.sha256(where.encode()).hexdigest()[:12]}"))


def is_folder(where: str) -> bool:
    """Whether this is a folder of files: it ends as one, or is one."""
    return not is_address(where) and (where.endswith(("/", os.sep)) or Path(where).is_dir())


def file_of_namespace(folder: str | Path, namespace: str) -> Path:
    """Where a namespace is kept; any name has a place, no two the same, and `namespaces_in` reads it back."""
    spelled = "".join(
        char if char in PLAIN else "".join(f"%{byte:02x}" for byte in char.encode()) for char in namespace
    )
    if spelled in TAKEN:
        spelled = f"%{ord(spelled[0]):02x}{spelled[1:]}"
    parts = [spelled[at : at + PART_LENGTH] for at in range(0, len(spelled), PART_LENGTH)] or [""]
    return Path(folder).joinpath(*(part + GOES_ON for part in parts[:-1]), parts[-1] + ENDING)


def namespaces_in(folder: str | Path) -> list[str]:
    """The namespaces that have a file here, in order; other files are passed over."""
    return sorted(name for name in _spelled_in(Path(folder), "") if name is not None)


def _spelled_in(folder: Path, before: str) -> Iterator[str | None]:
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.name.endswith(ENDING):
                spelled = before + entry.name.removesuffix(ENDING)
                name = unquote(spelled, errors="replace")
                depth = len(before) // PART_LENGTH
                root = Path(entry.path).parents[depth]
                yield name if file_of_namespace(root, name) == Path(entry.path) else None
            elif entry.name.endswith(GOES_ON) and entry.is_dir():
                yield from _spelled_in(Path(entry.path), before + entry.name.removesuffix(GOES_ON))


def shown(where: str) -> str:
    """Where memories are kept, as it may be read by anybody: an address without its password."""
    return without_password(where) if is_address(where) else where


def default_file() -> Path:
    """The user's own file, in the data folder of this system."""
    return own_folder("data") / "memory.db"


def open_tools(where: str, settings: Config, brought: Overrides, *, read_only: bool) -> Tools:
    """Open a file, making it if need be, and everything that works on it. Raises KeyNeeded, KeyNotWanted."""
    from engram.embed import FormerEmbedders, open_embedder, open_reranker
    from engram.index import SignatureIndex

    clock = brought.clock or SystemClock()
    store, keys = _open(where, settings, clock, brought.key, read_only=read_only)
    index = SignatureIndex(store)
    try:
        embedder = brought.embedder or open_embedder(settings.embed, clock)
        return Tools(
            store=store,
            index=index,
            embedder=embedder,
            former=FormerEmbedders(embedder, store.vectors, settings.embed, clock),
            clock=clock,
            config=settings,
            new_id=new_id,
            count_tokens=count,
            advisor=brought.advisor or _advisor(settings, store.spending, clock),
            reranker=open_reranker(settings.rerank),
            finder=_finder(where, settings, brought, keys),
            keys=keys,
            pressure=PressureGauge(settings.limits.memory_mb, (store.let_go, index.let_go)),
        )
    except EngramError:
        store.close()
        raise


def _open(
    where: str, settings: Config, clock: Clock, key: bytes | str | None, *, read_only: bool
) -> tuple[Store, VaultKeys | None]:
    """A file, a database, or what an extension keeps memories in: `name://…`."""
    scheme, mark, _ = where.partition("://")
    if mark and scheme not in POSTGRES:
        return plugins.load("stores", scheme)(where, clock, settings.store, read_only), None
    return open_store(where, settings, clock, key, read_only=read_only)


def open_store(
    where: str, settings: Config, clock: Clock, key: bytes | str | None = None, *, read_only: bool = False
) -> tuple[SqliteStore, VaultKeys | None]:
    """The store of a file or database, and its keys when there are any. Raises KeyNeeded, KeyNotWanted."""
    from engram.keys import find_keys

    if is_address(where):
        from engram.store.postgres import PostgresStore

        # The server keeps the database; what is secret in it is sealed, as in a memory that has no file.
        sealing = next(iter(find_keys(":memory:", key)), None)
        how = store_settings(settings, read_only=read_only)
        kept = PostgresStore.open_address(where, clock, how)
        if _is_sealed_by(kept, sealing):
            return kept, sealing
        kept.close()
        raise KeyNeeded(without_password(where), wrong=sealing is not None)
    from engram.store.sqlite import SqliteStore
    from engram.store.sqlite.connection import is_unsettled

    wanted = store_settings(settings, read_only=read_only)
    if is_unsettled(where):
        from engram.store.sqlite.reencrypt import settle

        settle(where, clock)
    candidates = find_keys(where, key)
    for keys in candidates:
        _guard_process(keys)
        try:
            store = SqliteStore.open(where, clock, with_key(wanted, keys))
        except KeyNeeded:
            continue
        if _is_sealed_by(store, keys):
            return store, keys
        store.close()
    if candidates:
        raise KeyNeeded(where, wrong=True)
    return SqliteStore.open(where, clock, wanted), None


def _is_sealed_by(store: SqliteStore, keys: VaultKeys | None) -> bool:
    """Whether nothing in it was sealed by another key."""
    from engram.rules.sealing import ALL, KEY, fingerprint

    judgement = store.upkeep.judged(KEY, [ALL]).get(ALL)
    return judgement is None or judgement.verdict in ("", fingerprint(keys) if keys else "")


def store_settings(settings: Config, *, read_only: bool = False) -> StoreSettings:
    """How a file without a key is to be opened."""
    from engram.store.sqlite import StoreSettings

    own = {name: value for name, value in asdict(settings.store).items() if name != "open_files"}
    return StoreSettings(**own, read_only=read_only)


def with_key(settings: StoreSettings, keys: VaultKeys) -> StoreSettings:
    """How a file with a key is to be opened."""
    from engram.store.sqlite.snapshots import SESSIONS

    return replace(settings, key=keys.database, sessions=keys.key(SESSIONS))


def _advisor(settings: Config, spending: Spending, clock: Clock) -> Advisor:
    """The model that may be asked; where none may, nothing of it is loaded."""
    if settings.llm.level == "off" or not settings.llm.base_url.strip():
        return NoAdvisor()
    from engram.llm import open_advisor

    return open_advisor(settings.llm, spending, clock)


def _guard_process(keys: VaultKeys) -> None:
    """Keep a key inside the process, where the system knows how.

    No picture of its memory is left when it dies, no other process looks into it, and the key does not go to
    the disk when memory is short.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        library = ctypes.CDLL(None)
        library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        start = id(keys.master) + bytes.__basicsize__ - 1  # where CPython keeps what bytes hold
        library.mlock(ctypes.c_void_p(start), ctypes.c_size_t(len(keys.master)))


def _finder(where: str, settings: Config, brought: Overrides, keys: VaultKeys | None) -> Finder | None:
    """Processes that recall beside this one; not where a model or something brought along is to help."""
    asks = settings.llm.level != "off" and settings.llm.base_url and settings.llm.model
    if (
        not settings.recall.processes
        or where == ":memory:"
        or replace(brought, key=None) != Overrides()
        or asks
    ):
        return None
    from engram.crew import RecallPool

    return RecallPool(where, settings, keys.master if keys else None)


def restore_backup(path: str | Path | None, backup: str | Path, settings: Config) -> str:
    """Put a backup in the place of a memory that is not open; the name under which the former file is kept.

    Raises:
        NoSuchFile: there is no such backup.
        StoreBusy: somebody has the memory open.
        StoreCorrupt: the backup is not sound; nothing was changed.
        KeyNeeded: it is encrypted and no key fits.

    """
    from engram.store.sqlite import backups

    return _with_a_key(path, settings, lambda opener: backups.restore_backup(opener, Path(backup)))


def restore_at(
    path: str | Path | None, at: datetime, settings: Config, clock: Clock | None = None
) -> tuple[Backup, str, dict[str, int]]:
    """Put back the newest backup of a memory from before a time. Raises as `restore_backup` does.

    The backup, the name under which the former file is kept, and what happened between the backup and that
    time, by kind, as the former file's ledger tells it: it is not in the backup.
    """
    from engram.store.sqlite import backups

    return _with_a_key(path, settings, lambda opener: backups.restore_at(opener, at), clock)


def salvage(path: str | Path | None, settings: Config, backup: str | Path | None = None) -> SalvageReport:
    """Replace a damaged file by one with everything that could be saved; the damaged one is kept beside it.

    Raises:
        StoreError: nothing can be read and there is no backup; nothing was changed.

    """
    from engram.store.sqlite import backups

    chosen = Path(backup) if backup else None
    return _with_a_key(path, settings, lambda opener: backups.salvage_file(opener, chosen))


def restore_archive(
    path: str | Path | None, archive: str | Path, settings: Config, passphrase: str = ""
) -> ArchiveReport:
    """Make a new memory of an archive: equal to the one it was made of.

    Raises:
        FileExists: there is a memory already.
        BadArchive: it is none, is damaged, or the passphrase is wrong. Nothing was made.

    """
    from engram.store.sqlite.archive import read_archive
    from engram.store.sqlite.connection import Opener, translated

    opener = Opener(file_of(path), store_settings(settings), SystemClock())
    with translated(opener.path, opener.settings.busy_timeout_s):
        return read_archive(opener, Path(archive), passphrase)


def migrate(
    source: str | Path,
    target: str | Path,
    settings: Config,
    progress: Callable[[str, int], None] | None = None,
) -> ArchiveReport:
    """Move a memory from a file into PostgreSQL, or back: all of it, counted and hashed on both sides.

    Whoever writes to the source meanwhile is not waited for: what they write afterwards stays behind. A move
    that was cut off goes on where it stopped. The source stays as it is.

    Args:
        source: a file that is there, or `postgresql://…`.
        target: a file that is not there yet, or the address of an empty database.
        settings: how files are opened.
        progress: told the table and how many of its rows were moved just now.

    Raises:
        NoSuchFile: there is nothing at the source.
        FileExists: there is a file at the target already.
        StoreError: the database at the target is not empty.

    """
    for place_ in (str(source), str(target)):
        if is_folder(place_):
            raise ConfigError(f"{place_} is a folder of files: move them one by one.")
        if is_address(place_) and place_.partition("://")[0] not in POSTGRES:
            raise ConfigError(
                f"{shown(place_)} is neither a file nor postgresql://…: nothing is moved there."
            )
    if not is_there(str(source)):
        raise NoSuchFile(str(source))
    from engram.store.postgres.store import move_memory
    from engram.store.postgres.transfer import silent

    clock = SystemClock()
    store, _ = open_store(str(source), settings, clock, read_only=True)
    with closing(store):
        return move_memory(store, str(target), clock, store_settings(settings), progress or silent)


def file_of(path: str | Path | None, namespace: str = "") -> str:
    """The file of a memory that is kept in one; in a folder, that of a namespace. Raises ConfigError."""
    where = place(path)
    if is_folder(where):
        if not namespace:
            raise ConfigError(f"{where} is a folder of files: say which is meant, by --namespace.")
        return str(file_of_namespace(where, namespace))
    if is_address(where):
        raise ConfigError(
            f"{shown(where)} is no file: its server keeps backups (`pg_dump`); `engram migrate` moves a file "
            "into it."
        )
    return where


def _with_a_key(
    path: str | Path | None, settings: Config, work: Callable[[Opener], T], clock: Clock | None = None
) -> T:
    """Do it with each key that may fit, or without one where there is none; the first that works counts."""
    from engram.keys import find_keys
    from engram.store.sqlite.connection import Opener, translated

    where, plain = file_of(path), store_settings(settings)
    try:
        candidates = find_keys(where, None)
    except KeyNeeded:
        # A vault whose key is not here, or a plain file without a beginning: its pages will tell.
        candidates = ()
    ways = [with_key(plain, keys) for keys in candidates] or [plain]
    for way in ways:
        try:
            with translated(where, way.busy_timeout_s):
                return work(Opener(where, way, clock or SystemClock()))
        except StoreError:
            if way is ways[-1]:
                raise
    raise AssertionError
