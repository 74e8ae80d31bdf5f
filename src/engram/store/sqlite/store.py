"""The store: one SQLite file. Reads go through a pool, writes through one thread."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from engram.errors import AccessDenied, Overloaded, StoreClosed, StoreError
from engram.lazily import lazily, logging, shutil, tempfile
from engram.model.clock import Cancellation, Clock, cancelled_by, current_cancellation
from engram.ports import Unit
from engram.store.sqlite.connection import (
    IN_MEMORY,
    Db,
    Opener,
    StoreSettings,
    ask_value,
    can_hold_a_log,
    pad,
    translated,
)
from engram.store.sqlite.entities import SqliteEntities
from engram.store.sqlite.memories import SqliteMemories
from engram.store.sqlite.migrate import is_current, make_in_memory, migrate, says_current
from engram.store.sqlite.readers import Readers, lease, snapshot
from engram.store.sqlite.relations import SqliteRelations
from engram.store.sqlite.table import Tables
from engram.store.sqlite.texts import SqliteTexts
from engram.store.sqlite.vectors import SqliteVectors
from engram.store.sqlite.views import Places

if TYPE_CHECKING:
    from engram.model.event import Finding
    from engram.store.sqlite import unit as sqlite_unit
    from engram.store.sqlite import upkeep, writer
    from engram.store.sqlite.backups import SqliteBackups
    from engram.store.sqlite.bus import SqliteBus
    from engram.store.sqlite.facts import SqliteFacts
    from engram.store.sqlite.feedback import SqliteOpinions, SqliteRecalls
    from engram.store.sqlite.ledger import SqliteAudit, SqliteLedger
    from engram.store.sqlite.maintenance import SqliteUpkeep
    from engram.store.sqlite.records import SqliteAnswers, SqliteSpending, SqliteTokens, SqliteTriggers
    from engram.store.sqlite.snapshots import SqliteSnapshots
    from engram.store.sqlite.turns import SqliteOrigins, SqliteTurns
    from engram.store.sqlite.unit import SqliteUnit, WriterNotes
    from engram.store.sqlite.writer import Writer
else:
    sqlite_unit = lazily("engram.store.sqlite.unit")
    upkeep = lazily("engram.store.sqlite.upkeep")
    writer = lazily("engram.store.sqlite.writer")

T = TypeVar("T")
Found = TypeVar("Found")

DATA_VERSION = "PRAGMA data_version"
LATER, LATER_S = 128, 1.0
"""So much patient work is handed over together, or what came in so many seconds."""


_LATER: Mapping[str, tuple[str, str, str]] = {
    "facts": ("facts", "SqliteFacts", "readers places clock"),
    "turns": ("turns", "SqliteTurns", "readers places"),
    "origins": ("turns", "SqliteOrigins", "readers places"),
    "spending": ("records", "SqliteSpending", "readers writer clock"),
    "recalls": ("feedback", "SqliteRecalls", "readers writer"),
    "ledger": ("ledger", "SqliteLedger", "readers places"),
    "audit": ("ledger", "SqliteAudit", "readers writer opener"),
    "tokens": ("records", "SqliteTokens", "readers writer"),
    "answers": ("records", "SqliteAnswers", "readers writer"),
    "triggers": ("records", "SqliteTriggers", "readers writer"),
    "snapshots": ("snapshots", "SqliteSnapshots", "readers writer opener"),
    "opinions": ("feedback", "SqliteOpinions", "readers"),
    "bus": ("bus", "SqliteBus", "readers places"),
    "upkeep": ("maintenance", "SqliteUpkeep", "readers places"),
}
"""The nouns that are made with the first look at them: their module, their class, and what it takes."""


class SqliteStore:
    """A bundle of nouns, one way to write, and upkeep.

    Made by `open`; whoever opened it closes it. Used by any thread.
    """

    is_shared: ClassVar = False
    """Whether several engines may serve it: what one has in mind is then kept for the others."""
    _Places: ClassVar = Places
    _Readers: ClassVar = Readers

    if TYPE_CHECKING:
        facts: SqliteFacts
        turns: SqliteTurns
        origins: SqliteOrigins
        spending: SqliteSpending
        recalls: SqliteRecalls
        ledger: SqliteLedger
        audit: SqliteAudit
        tokens: SqliteTokens
        answers: SqliteAnswers
        triggers: SqliteTriggers
        snapshots: SqliteSnapshots
        opinions: SqliteOpinions
        bus: SqliteBus
        upkeep: SqliteUpkeep
    else:

        def __getattr__(self, name: str) -> object:
            """A noun that a question seldom asks: it is loaded and made with the first look at it."""
            if name not in _LATER:
                raise AttributeError(name)
            module, kind, takes = _LATER[name]
            with self._making:
                if name not in vars(self):
                    made = getattr(import_module(f"engram.store.sqlite.{module}"), kind)
                    setattr(self, name, made(*(getattr(self, f"_{one}") for one in takes.split())))
            return vars(self)[name]

    def __init__(self, opener: Opener, writes: Writer | None, folder: str | None = None) -> None:
        self._opener = opener
        self._writer = writes
        self._readers = self._Readers(opener, writes)
        self._places = places = self._Places(self._readers)
        self.memories = SqliteMemories(self._readers, places)
        self._later: list[tuple[Callable[[Unit], object], tuple[str, str]]] = []
        """What can wait: the work, who does it and about which namespace."""
        self._later_lock = threading.Lock()
        self._later_until = 0.0
        save = None if writes is None or opener.passing else partial(writes.run_later, within=writer.BLOCKS)
        self._tables = Tables(save)
        self.texts = SqliteTexts(self._readers, places, self._tables)
        self.vectors = SqliteVectors(self._readers, writes)
        self.relations = SqliteRelations(self._readers, places)
        self.entities = SqliteEntities(self._readers, places)
        self._clock = opener.clock
        self._making = threading.Lock()
        self._notes: WriterNotes | None = None
        """What the writer keeps in mind between two pieces of work."""
        self._has_erased = False
        """Whether something was erased that backups may hold. Set by the writer."""
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True) if folder else None

    @classmethod
    def open(cls, path: str | Path, clock: Clock, settings: StoreSettings | None = None) -> SqliteStore:
        """Open a file, or make it. `:memory:` touches no disk and goes at close.

        A file that is there, in a folder where nothing can be made, is opened for reading.
        """
        settings = settings or StoreSettings()
        if str(path) == IN_MEMORY:
            opener = Opener.in_memory(settings, clock)
        else:
            if Path(path).exists() and not can_hold_a_log(str(path)):
                settings = replace(settings, read_only=True)
            opener = Opener(str(path), settings, clock)
        with translated(opener.path, settings.busy_timeout_s):
            return cls(opener, _open_writer(opener))

    @cached_property
    def backups(self) -> SqliteBackups:
        """Copies of the file. What makes them is loaded when it is asked for."""
        from engram.store.sqlite.backups import SqliteBackups

        return SqliteBackups(self._readers, self._opener, self.flush if self._writer else None)

    def write(self, work: Callable[[Unit], T], actor: str, namespace: str = "") -> T:
        """Run the work inside the writer and wait until it is on disk. An exception leaves nothing behind.

        Work that is about one `namespace` only says so: in a database others write to theirs meanwhile. It
        may then be run more than once, so it changes nothing but by its unit.
        """
        return self._write(work, actor, namespace)

    def look_and_write(
        self, look: Callable[[], Found], work: Callable[[Unit, Found], T], actor: str, namespace: str = ""
    ) -> T:
        """The same of work that begins with a look at what is known, where nobody else writes between.

        `look` reads by the nouns of this store. It comes first, so it never sees what may be taken back.
        """

        def both(unit: Unit) -> T:
            with self._readers.over(self._writing().connection):
                found = look()
            return work(unit, found)

        return self._write(both, actor, namespace, first=True)

    def _write(self, work: Callable[[Unit], T], actor: str, namespace: str, *, first: bool = False) -> T:
        if not first:  # what looks at what is known does not ask how often it was used
            self._hand_over_later()
        task = self._task(work, actor, current_cancellation(), namespace)
        result = cast("T", self._writing().run(task, within=namespace, first=first))
        if self._has_erased:
            self._has_erased = False
            self.backups.drop_all()  # they hold what was erased; the next is due at once
        return result

    def write_later(
        self, work: Callable[[Unit], object], actor: str, namespace: str = "", *, patient: bool = False
    ) -> None:
        """Hand work over without waiting. Dropped when the queue is full, or the file is read-only.

        Patient work waits for more of its kind, or for other work.
        """
        if self._writer is None:
            return
        with self._later_lock:
            self._later.append((work, (actor, namespace)))
            enough = len(self._later) >= LATER or self._opener.clock.monotonic() >= self._later_until
        if enough or not patient:
            self._hand_over_later()

    def _hand_over_later(self) -> None:
        """Let the writer do what can wait: in groups, as waking it costs more than most of that work."""
        with self._later_lock:
            waiting, self._later = self._later, []
            self._later_until = self._opener.clock.monotonic() + LATER_S
        if self._writer is None:
            return
        for (actor, within), alike in groupby(waiting, key=itemgetter(1)):
            works = [work for work, _ in alike]
            try:
                self._writer.run_later(self._task(partial(_each, works), actor, within=within), within)
            except Overloaded:
                logging.getLogger(__name__).warning("The write queue is full: a count of uses was dropped.")

    def reading(self) -> AbstractContextManager[None]:
        """Inside, all that this thread reads is of one moment. Nothing else is to be waited for there."""
        return self._readers.hold()

    def flush(self) -> None:
        """Wait until everything handed over so far is written."""
        self._hand_over_counts()
        self._hand_over_later()
        if self._writer is not None:
            self._writer.run(lambda _: None, within=writer.QUEUE)

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""
        return 0 if self._writer is None else self._writer.waiting

    def leave_nothing(self, *, compact: bool = False) -> None:
        """Leave nothing of what was erased in the file or its log; with `compact` free space is given back.

        It takes as long as what was erased, not as the file: what becomes free is overwritten at once.
        """
        self._writing().run(upkeep.compact if compact else upkeep.tidy, alone=True)

    def vacuum(self, *, full: bool = True) -> None:
        """Give freed space back and leave nothing of erased memories in the file or its log.

        Unless `full`, only what can be done without writing the whole file anew.
        """
        self._writing().run(upkeep.vacuum if full else upkeep.tidy, alone=True)

    def check(self, *, repair: bool = False, quick: bool = False) -> list[Finding]:
        """Look for damage; with `repair` mend what can be rebuilt (text index, names, counters)."""
        if self._writer is None:
            from engram.model.event import Finding

            return [
                Finding("file", ok=True, detail="opened for reading; open it for writing to have it checked")
            ]
        self.flush()
        with self._readers.lend() as db:
            found = upkeep.look(db, quick=quick)
        return upkeep.mended(found, partial(self._writer.run, alone=True)) if repair else found

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Hold a certain work for oneself, over all processes; raises UpkeepBusy when somebody else does."""
        return lease(self._opener, name)

    @contextmanager
    def at_one_moment(self) -> Iterator[Db]:
        """A connection that sees everything as it is now, however long it reads."""
        with self._readers.lend() as db, snapshot(db):
            yield db

    def copy(self) -> SqliteStore:
        """A private copy of everything as it is now, to try things on; closing it removes it."""
        self.flush()
        folder = None if self._opener.memory else tempfile.mkdtemp(prefix="engram-")
        if folder is None:
            opener = Opener.in_memory(self._opener.settings, self._opener.clock)
        else:
            opener = replace(self._opener, path=str(Path(folder, "memory.engram")), passing=True)
        with translated(opener.path, opener.settings.busy_timeout_s):
            with self._readers.lend() as db:
                copied = upkeep.copy(db, opener)
            return SqliteStore(opener, writer.Writer(opener, copied), folder)

    def let_go(self) -> None:
        """Give up what is held in memory and can be read again: the tables of all namespaces but the last."""
        self._tables.let_go()
        self._readers.shrink()

    def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""
        self._hand_over_counts()
        if self._writer is not None:
            self._hand_over_later()
            self._put_away()
            self._writer.close()
        self._readers.close()
        if self._writer is not None and self._opener.settings.key is not None and not self._opener.passing:
            pad(self._opener.path)
        if self._remove is not None:
            self._remove()

    def _hand_over_counts(self) -> None:
        for name in vars(self).keys() & {"recalls", "audit"}:
            getattr(self, name).hand_over()

    def _put_away(self) -> None:
        """Keep what the next process begins with, unless the store was closed before."""
        try:
            with self._readers.lend() as db:
                self._tables.save(db)
        except StoreClosed:
            return

    def _task(
        self,
        work: Callable[[Unit], T],
        actor: str,
        cancellation: Cancellation | None = None,
        within: str = "",
    ) -> Callable[[Db], T]:
        def task(db: Db) -> T:
            with cancelled_by(cancellation):
                notes = self._notes
                if notes is None or notes.are_many or notes.version != self._version(db):
                    notes = self._notes = sqlite_unit.WriterNotes(db)
                unit = sqlite_unit.SqliteUnit(
                    db, self._places, self._opener.clock, actor, notes, self._kept_to(db, within)
                )
                result = work(unit)
                unit.finish()
                self._number(unit)
                self._has_erased = self._has_erased or unit.has_erased
                notes.version = None if unit.has_erased else self._version(db)
                return result

        return task

    def _kept_to(self, db: Db, within: str) -> str:
        """The namespace that a unit must keep to; empty: it may be about anything, as nobody else writes."""
        del db, within
        return ""

    def _number(self, unit: SqliteUnit) -> None:
        """Let a unit that is done write what others follow by number."""
        unit.number()

    def _version(self, db: Db) -> object:
        """Changes when others write: another process, or work of this one that is no unit or fails."""
        return ask_value(db, DATA_VERSION), db.total_changes(), self._writing().rolled_back

    def _writing(self) -> Writer:
        if self._writer is None:
            raise AccessDenied(f"write to {self._opener.path}: it was opened for reading")
        return self._writer


def _each(works: Sequence[Callable[[Unit], object]], unit: Unit) -> None:
    """Do several pieces of work as one."""
    for work in works:
        work(unit)


def _open_writer(opener: Opener) -> Writer | None:
    """The writer of a file whose schema is the present one; None when it is opened for reading."""
    if opener.settings.read_only:
        _check_schema(opener)
        return None
    db = opener.writer()
    try:
        if opener.memory:
            make_in_memory(db)
        elif migrate(db, opener.clock):
            upkeep.index_names(db)
    except BaseException:
        db.close()
        raise
    return writer.Writer(opener, db)


def _check_schema(opener: Opener) -> None:
    db = opener.reader()
    try:
        if not (says_current(db) or is_current(db)):
            raise StoreError(f"{opener.path} has an older schema: open it once for writing.")
    finally:
        db.close()
