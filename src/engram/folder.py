"""A folder of files: a call on the memory comes in, and goes to the file of the namespace it is about.

    tenants/default.db     the default namespace, and what a folder has once: tokens, answers to keyed writes
    tenants/acme.db        one file for each other namespace, with its backups beside it
    tenants/%41cme.db      what not every file system tells apart is spelled by its bytes

`store.open_files` are open at a time; the one that has been quiet longest is closed when another is needed.
What holds a file open is a `Lease`: a call, an answer that is still being read, a session in somebody's
hands. Each file is a memory of its own: what holds of one file when a process is killed, when two work on it
or when it is damaged holds of each.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import cache, cached_property, partial, wraps
from inspect import signature
from itertools import chain
from operator import attrgetter
from pathlib import Path
from threading import Lock, RLock
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from engram.api.caller import RecallLimits, WriteAllowance
from engram.api.recalling import Recalling
from engram.api.verbs import VerbsBefore
from engram.config import change_now
from engram.errors import (
    AccessDenied,
    EngramError,
    InvalidInput,
    KeyNeeded,
    KeyNotWanted,
    StoreClosed,
    StoreError,
    UpkeepBusy,
)
from engram.keys import read_slots, write_slots
from engram.lazily import dataclass
from engram.model.capture import ImportedRecords, Refusal
from engram.model.event import ArchiveReport, Backup, Finding, PurgeCertificate, Stats
from engram.model.maintenance import Report, RunKind, Tally
from engram.model.scope import DEFAULT_NAMESPACE, Access, Role, Scope
from engram.opening import Overrides, file_of_namespace, namespaces_in

if TYPE_CHECKING:
    from engram.config import Config
    from engram.keys import VaultKeys

T = TypeVar("T")
Engram = Any
"""An open memory: the engine stands a floor above and hands its own class over."""
TIGHT_SHARE = 4
"""When memory is short, a fourth of the files stay open."""
CALLERS = 1_000
"""So many callers' counts of what they have written are kept."""
FACADES = 64
"""So many callers have a facade on one file at a time."""
HOMES = ("engram.engine", "engram.api")
"""Where the classes live that have verbs: the facade and what hangs on it."""
AT_HOME = frozenset({"tokens", "answers"})
"""Nouns that the folder has once, whatever namespace is asked about."""
BY_NOUNS = frozenset({"open", "consolidate", *vars(VerbsBefore)})
"""What the facade does by verbs of its nouns."""


# ---------------------------------------------------------------- files
# Which files are open, and who holds them.


@dataclass(eq=False)
class OpenFile:
    """One file, and how many hold it. Its own lock is for opening and closing."""

    namespace: str
    memory: Engram | None = None
    holders: int = 0
    lock: RLock = field(default_factory=RLock)
    facades: OrderedDict[tuple[Access, str], Engram] = field(default_factory=OrderedDict)

    @property
    def is_answering(self) -> bool:
        """Whether an answer of a model is waited for, which would be lost if the file were closed."""
        seen = (one for one in (self.memory, *self.facades.values()) if one is not None)
        return any("sessions" in vars(one) and one.sessions._turns for one in seen)  # noqa: SLF001


class Lease:
    """Keeps a file open as long as somebody refers to it."""

    def __init__(self, files: NamespaceFiles, held: OpenFile) -> None:
        self._files = files
        self._held: OpenFile | None = held

    def memory(self, access: Access, actor: str) -> Engram:
        """The memory in that file as a caller sees it."""
        assert self._held is not None  # noqa: S101 - it is asked before it is given back
        return self._files.facade(self._held, access, actor)

    def give_back(self) -> None:
        """Let go of the file. Safe to call twice."""
        held, self._held = self._held, None
        if held is not None:
            self._files.let_go(held)

    def __del__(self) -> None:
        # Wherever this thread is just now: nothing is locked and nothing closed here.
        if self._held is not None:
            self._files.dropped.append(self._held)


class NamespaceFiles:
    """The files of a folder, so many open at a time. Any thread may use it; `close` closes every file."""

    def __init__(
        self, folder: str, config: Config, access: Access, opener: Callable[..., Engram], key: Any
    ) -> None:
        self.folder = folder
        self.config = config
        self.access = access
        self._opener = opener
        self._key = key
        self._master: bytes | None = None
        """What the key led to: a passphrase is stretched once, not for each file."""
        self._fits = False
        """Whether it has opened a file of the folder."""
        self._home = file_of_namespace(folder, DEFAULT_NAMESPACE)
        self._open: OrderedDict[str, OpenFile] = OrderedDict()
        self.dropped: deque[OpenFile] = deque()
        """Files of leases that nobody gave back and nobody refers to any more."""
        self._lock = Lock()
        self._closed = False
        self._limits: RecallLimits | None = None
        self._allowances: OrderedDict[tuple[Access, str], WriteAllowance] = OrderedDict()

    def lease(self, namespace: str) -> Lease:
        """Hold the file of a namespace, opened or made if need be. Raises as opening does."""
        if namespace != DEFAULT_NAMESPACE and not self._home.exists():
            self.lease(DEFAULT_NAMESPACE).give_back()
        with self._lock:
            if self._closed:
                raise StoreClosed
            held = self._open.setdefault(namespace, OpenFile(namespace))
            self._open.move_to_end(namespace)
            held.holders += 1
        lease = Lease(self, held)
        try:
            with held.lock:
                if held.memory is None:
                    held.memory = self._opened(namespace)
        except BaseException:
            lease.give_back()
            raise
        return lease

    def let_go(self, held: OpenFile) -> None:
        """Somebody needs it no longer; files beyond the number that may be open are closed."""
        with self._lock:
            held.holders -= 1
            while self.dropped:
                self.dropped.popleft().holders -= 1
        most, memory = self.config.store.open_files, held.memory
        is_tight = memory is not None and memory._tools.pressure.relieve().is_tight  # noqa: SLF001 - its own
        self._close_idle(most // TIGHT_SHARE if is_tight else most)

    def facade(self, held: OpenFile, access: Access, actor: str) -> Engram:
        """The memory in a file that is held, for one caller."""
        with held.lock:
            assert held.memory is not None  # noqa: S101 - whoever holds it has opened it
            root = held.memory
            if (access, actor) == (root.access, root._caller.actor):  # noqa: SLF001 - its own folder
                return root
            found, gone = held.facades.pop((access, actor), None), None
            if found is None:
                found = root.seen_by(access, actor)
                self._share_counts(found, access, actor)
            held.facades[access, actor] = found
            if len(held.facades) > FACADES:
                _, gone = held.facades.popitem(last=False)
        if gone is not None:
            gone.settle()
        return found

    def settle(self, access: Access, actor: str) -> None:
        """Read what a caller said and still waits, wherever that is open."""
        for held in self._open_now():
            with held.lock:
                found = held.facades.pop((access, actor), None)
            if found is not None:
                found.settle()

    def open_memories(self) -> list[Engram]:
        """The memories whose files are open now."""
        return [held.memory for held in self._open_now() if held.memory is not None]

    def close(self) -> None:
        """Close every file. Safe to call twice."""
        with self._lock:
            self._closed = True
        for held in self._open_now():
            self._close(held)

    def _open_now(self) -> list[OpenFile]:
        with self._lock:
            return list(self._open.values())

    def _opened(self, namespace: str) -> Engram:
        """Open a file, or make it. That of the default namespace is made first: its key is that of all."""
        file = file_of_namespace(self.folder, namespace)
        if not file.exists() and not self._fits:
            self._try_key(namespace)
        if not file.exists() and (slots := read_slots(self._home)) is not None:
            write_slots(file, slots)
        opened_here = self.access.scope.namespace == namespace and not self.access.all_namespaces
        access = self.access if opened_here else Access(Scope(namespace))
        opener = partial(self._opener, str(file), access=access)
        try:
            memory = opener(key=self._key if self._master is None else self._master)
        except (KeyNeeded, KeyNotWanted):
            if self._master is None:
                raise
            memory = opener(key=self._key)  # it was given a key of its own, or none
        keys = memory._tools.keys  # noqa: SLF001 - its own folder
        if keys is not None and self._master is None:
            self._master = cast("VaultKeys", keys).master
        self._fits = True
        self._limits = self._limits or RecallLimits(self.config.limits, memory._tools.clock)  # noqa: SLF001
        memory._recalling = Recalling(memory._caller, self._limits)  # noqa: SLF001
        return memory

    def _try_key(self, new: str) -> None:
        """Open another file, if there is one: no new one is in clear among vaults, or under another key."""
        there = [name for name in namespaces_in(self.folder) if name != new]
        if there:
            self._opened(DEFAULT_NAMESPACE if DEFAULT_NAMESPACE in there else there[0]).close()

    def _share_counts(self, memory: Engram, access: Access, actor: str) -> None:
        """What a caller may write in a day does not begin anew when a file is opened again."""
        caller = memory._caller  # noqa: SLF001
        with self._lock:
            caller.allowance = self._allowances.setdefault((access, actor), caller.allowance)
            caller.allowance.tools = caller.tools
            self._allowances.move_to_end((access, actor))
            while len(self._allowances) > CALLERS:
                self._allowances.popitem(last=False)

    def _close_idle(self, most: int) -> None:
        """Close those that nobody holds and that have been quiet longest; with an open turn, last."""
        with self._lock:
            idle = [held for held in self._open.values() if not held.holders and held.memory is not None]
            beyond = len(self._open) - most
        if beyond > 0:
            for held in sorted(idle, key=lambda open_file: open_file.is_answering)[:beyond]:
                self._close(held, unless_held=True)

    def _close(self, held: OpenFile, *, unless_held: bool = False) -> None:
        """Close one; whoever wants it meanwhile waits, and opens it again."""
        with held.lock:
            with self._lock:
                if unless_held and held.holders:
                    return
                memory, held.memory = held.memory, None
            callers = list(held.facades.values())
            held.facades.clear()
            try:
                for caller in callers:
                    caller.settle()
            finally:
                if memory is not None:
                    memory.close()
        with self._lock:
            if not held.holders and held.memory is None and self._open.get(held.namespace) is held:
                del self._open[held.namespace]


# ---------------------------------------------------------------- facade
# A memory over the files: the same classes, each verb of which is carried out by the file it is about.


def open_folder(
    kind: type[T],
    opener: Callable[..., T],
    where: str,
    config: Config,
    brought: Overrides,
    caller: tuple[Access, str],
) -> T:
    """The memory over a folder. The file its caller stands at is opened at once: a wrong key tells."""
    from engram.embed import open_embedder

    access, actor = caller
    opener = partial(
        opener,
        config=config,
        clock=brought.clock,
        embedder=brought.embedder or open_embedder(config.embed, brought.clock),  # one model for all files
        advisor=brought.advisor,
        actor=actor,
    )
    _make_folder(Path(where))
    files = NamespaceFiles(where, config, access, opener, brought.key)
    files.lease(access.scope.namespace).give_back()
    return over_files(kind, files, access, actor)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder {path} cannot be made ({error.strerror}).") from error


def over_files(kind: type[T], files: NamespaceFiles, access: Access, actor: str) -> T:
    """The memory over a folder as a caller sees it."""
    memory = _new(kind)
    memory._begin(files, access, actor)  # noqa: SLF001 - made here
    return cast("T", memory)


_NOUNS: dict[str, type] = {}
"""The classes of nouns, by name, as they were first asked for."""


@dataclass(frozen=True, slots=True)
class Call:
    """A verb by its path from the facade (`facts.add`), and what it is given."""

    path: str
    args: Sequence[Any] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def on(self, memory: Engram) -> Any:
        """Carry it out."""
        return attrgetter(self.path)(memory)(*self.args, **self.more)

    def without(self, name: str, *, first: bool = False) -> Call:
        """The same without an argument, which may also be given `first`."""
        more = {key: value for key, value in self.more.items() if key != name}
        return Call(self.path, self.args[1:] if first else self.args, more)

    def given(self, name: str) -> Any:
        """An argument that may be given first or by name; None when it is not."""
        return self.args[0] if self.args else self.more.get(name)


class Routed:
    """What a class has whose verbs go to files. A noun knows its name, what somebody holds its lease."""

    _files: NamespaceFiles
    _access: Access
    _actor: str
    _noun: str
    _kept: tuple[Any, Lease] | None

    def _begin(self, files: NamespaceFiles, access: Access, actor: str, noun: str = "") -> None:
        self._files, self._access, self._actor, self._noun, self._kept = files, access, actor, noun, None

    def _carry_out(
        self, verb: str, made: Callable[..., Any], args: Sequence[Any], more: Mapping[str, Any]
    ) -> Any:
        if self._kept is not None:
            real, lease = self._kept
            return self._given(getattr(real, verb)(*args, **more), lease)
        call = Call(f"{self._noun}.{verb}".lstrip("."), args, more)
        if call.path in WHOLE and self._looks_after(call.path):
            return WHOLE[call.path](self, call)
        if call.path in FOR_OWNER:
            raise AccessDenied("change settings: only the owner of the folder may")
        if call.path in SPLIT and self._access.all_namespaces:
            return SPLIT[call.path](self, call)
        return self._at(self._namespace(made, args, more), call)

    def _at(self, namespace: str, call: Call) -> Any:
        """Carry a verb out in the file of one namespace; what the folder has once, in that of the default."""
        if call.path.partition(".")[0] in AT_HOME:
            return self._in(DEFAULT_NAMESPACE, self._access, call)
        return self._in(namespace, _within(self._access, namespace), call)

    def _as_owner(self, namespace: str, call: Call) -> Any:
        """Carry a verb out in a file as the owner of all that it holds."""
        return self._in(namespace, Access(Scope(namespace), timezone=self._access.timezone), call)

    def _in(self, namespace: str, access: Access, call: Call) -> Any:
        lease = self._files.lease(namespace)
        try:
            given = call.on(lease.memory(access, self._actor))
        except BaseException:
            lease.give_back()
            raise
        return self._given(given, lease)

    def _names(self) -> list[str]:
        """Every namespace; that of the folder itself last: what its file says holds for all."""
        found = namespaces_in(self._files.folder)
        return sorted(found, key=lambda name: name == DEFAULT_NAMESPACE)

    def _each(self, call: Call | Callable[[str], Call], names: Iterable[str] | None = None) -> Iterator[Any]:
        """Carry a verb out in one file after the other, by one call or one of its own for each namespace.

        A file in which it fails keeps it from no other; the first failure is raised in the end.
        """
        failed: EngramError | None = None
        for namespace in self._names() if names is None else names:
            try:
                yield self._as_owner(namespace, call if isinstance(call, Call) else call(namespace))
            except EngramError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _read(self, name: str) -> Any:
        """A property, or a noun."""
        if self._kept is not None:
            real, lease = self._kept
            return self._given(getattr(real, name), lease)
        path = f"{self._noun}.{name}".lstrip(".")
        if path not in _NOUNS:
            own = self._access.scope.namespace
            lease = self._files.lease(own)
            try:
                found = attrgetter(path)(lease.memory(_within(self._access, own), self._actor))
            finally:
                lease.give_back()
            if not has_verbs(type(found)):
                return found
            _NOUNS[path] = type(found)
        noun = _new(_NOUNS[path])
        noun._begin(self._files, self._access, self._actor, path)  # noqa: SLF001 - made here
        return noun

    def _given(self, given: Any, lease: Lease) -> Any:
        """What a verb gives: something with verbs, or read piece by piece, keeps the file open that long."""
        if has_verbs(type(given)):
            kept = _new(type(given))
            kept._begin(self._files, self._access, self._actor)  # noqa: SLF001 - made here
            kept._kept = (given, lease)  # noqa: SLF001
            return kept
        if isinstance(given, Iterator):
            return _through(given, lease)
        if self._kept is None:
            lease.give_back()
        return given

    def _by_namespace(self, call: Call, name: str) -> dict[str, dict[int, Any]]:
        """What is given under a name, by its namespace and place in the list."""
        own, by_name = self._access.scope.namespace, dict[str, dict[int, Any]]()
        for place, item in enumerate(call.given(name)):
            by_name.setdefault(_named(item) or own, {})[place] = item
        return by_name or {own: {}}

    def _looks_after(self, path: str) -> bool:
        """Whether a verb that is about whole files is about all of them: for who owns the folder."""
        if self._access.all_namespaces or self._access.role is not Role.OWNER:
            return self._access.role is Role.OWNER
        at_home = self._access.scope == Scope() and path not in OF_MEMORIES
        return at_home and self._access.covers(self._files.access)

    def _namespace(self, made: Callable[..., Any], args: Sequence[Any], more: Mapping[str, Any]) -> str:
        """Which namespace a call is about: the caller's own; with all of them, the one that it names."""
        own = self._access.scope.namespace
        if not self._access.all_namespaces:
            return own
        bound = signature(made).bind(self, *args, **more).arguments
        more = next((one for one in bound.values() if isinstance(one, dict) and "scope" in one), bound)
        return _named(more) or own


def _new(kind: type) -> Any:
    """An object of the class whose verbs go to files; `_begin` tells it where."""
    made = _routed(kind)
    return made.__new__(made)


@cache
def _routed(kind: type) -> Any:
    """The class whose verbs go to files, made of one whose verbs are carried out."""
    base = FolderFacade if hasattr(kind, "seen_by") else KeptVerbs if hasattr(kind, "__enter__") else Routed
    members: dict[str, Any] = {"__doc__": kind.__doc__, "__module__": kind.__module__, "_kind": kind}
    for name, made in offered(kind).items():
        if (name in BY_NOUNS and base is FolderFacade) or name in vars(base):
            continue
        if isinstance(made, FunctionType):
            members[name] = _verb(name, made)
        elif isinstance(made, property | cached_property):
            members[name] = _property(name, made)
    return type(kind.__name__, (base, kind), members)


def _verb(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(made)
    def verb(self: Routed, *args: Any, **more: Any) -> Any:
        return self._carry_out(name, made, args, more)

    return verb


def _property(name: str, made: Any) -> property:
    def write(self: Routed, value: Any) -> None:
        assert self._kept is not None  # noqa: S101 - only what is in somebody's hands has such
        setattr(self._kept[0], name, value)

    return property(
        lambda self: self._read(name), write if getattr(made, "fset", None) else None, doc=made.__doc__
    )


class KeptVerbs(Routed):
    """Something in somebody's hands, as a session or a turn, that is used in a `with` block."""

    def __enter__(self) -> Self:
        self._real.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._real.__exit__(*error)

    @property
    def _real(self) -> Any:
        assert self._kept is not None  # noqa: S101 - only made with one
        return self._kept[0]


class FolderFacade(Routed):
    """What the memory over a folder does itself."""

    _kind: type

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._files.config

    @property
    def access(self) -> Access:
        """Who asks here, and what they may see and change."""
        return self._access

    @property
    def path(self) -> str:
        """Where the files are."""
        return self._files.folder

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out, in all files that are open."""
        return sum(open_memory.writes_waiting for open_memory in self._files.open_memories())

    def seen_by(self, access: Access, actor: str) -> Engram:
        """The same folder for another caller."""
        return over_files(self._kind, self._files, access, actor)

    def hand_over_recall(self, *asked: object, **options: object) -> bool:
        """Whether a process beside this one recalls: none does over a folder."""
        del asked, options
        return False

    def stats_of_open(self) -> Stats:
        """How much is kept in the files that are open now."""
        return _stats([open_memory.stats() for open_memory in self._files.open_memories()])

    def settle(self) -> None:
        """Read what was heard here and still waits, in files that are open."""
        self._files.settle(self._access, self._actor)

    def close(self) -> None:
        """Finish what is waiting and close every file. Safe to call twice."""
        self._files.close()


# ---------------------------------------------------------------- all files
# Verbs about the folder as a whole: one file after the other, and one answer made of theirs.


def _listed(self: Routed, call: Call) -> list[Any]:
    return [*chain.from_iterable(self._each(call))]


def _summed(self: Routed, call: Call) -> int:
    return sum(self._each(call.without("progress")))


def _counted(self: Routed, call: Call) -> Stats:
    return _stats([*self._each(call)])


def _exported(self: Routed, call: Call) -> Iterator[Any]:
    scope = call.more.get("scope")
    if scope is not None:
        return cast("Iterator[Any]", self._at(scope.namespace, call))
    return chain.from_iterable(self._each(call))


def _examined(self: Routed, call: Call) -> list[Finding]:
    every: dict[str, list[Finding]] = {}
    for namespace in self._names():
        try:
            every[namespace] = self._as_owner(namespace, call)
        except EngramError as error:
            advice = "`engram doctor --repair` saves what can be read"
            every[namespace] = [Finding("file", ok=False, detail=error.message, advice=advice)]
    return found_in_files(every)


def found_in_files(every: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """What was found in each file as one list: all of the default namespace, of the others what is wrong."""
    mended = sum(finding.mended for found in every.values() for finding in found)
    counted = Finding("files", ok=True, detail=f"{len(every):,} looked at", mended=mended)
    wrong = [
        replace(finding, detail=f"{namespace}: {finding.detail}")
        for namespace, found in every.items()
        for finding in found
        if namespace != DEFAULT_NAMESPACE and not finding.ok
    ]
    return [*every.get(DEFAULT_NAMESPACE, ()), counted, *wrong]


def _maintained(self: Routed, call: Call) -> Report:
    """A run in each file, as one report. In the background, files that have had theirs are passed over."""
    stopping, progress = call.more.get("stopping"), call.more.get("progress")
    kind = RunKind.DREAM if call.path.endswith("dream") else RunKind.CONSOLIDATE
    last_run = Call("maintenance.last", (kind,))
    through = self._as_owner(DEFAULT_NAMESPACE, last_run) if stopping else None

    def due() -> Iterator[str]:
        for number, namespace in enumerate(names := self._names()):
            if stopping is not None and stopping():
                return
            if progress is not None:
                progress(number, len(names))
            if through is not None and namespace != DEFAULT_NAMESPACE:
                last = self._as_owner(namespace, last_run)
                if last is not None and last > through:
                    continue
            yield namespace

    reports: list[Report] = [*self._each(call.without("progress"), names=due())]
    if not reports:
        raise UpkeepBusy(call.path)
    counts = Counter[tuple[str, str]]()
    for report in reports:
        counts.update({(tally.step, tally.rule): tally.count for tally in report.tallies})
    return replace(
        reports[-1],
        tallies=tuple(Tally(step, rule, count) for (step, rule), count in counts.items()),
        decided=tuple(decision for report in reports for decision in report.decided),
        more=any(report.more for report in reports),
    )


def _backed_up(self: Routed, call: Call) -> Any:
    """A copy or an archive of each file; with a place for them, in a folder there."""
    to, rest, is_archive = call.given("to"), call.without("to", first=True), call.path.endswith("archive")

    def to_its_own(namespace: str) -> Call:
        file = file_of_namespace(to, namespace) if to else None
        if file is not None:
            _make_folder(file.parent)
            file = file.with_suffix(".engram") if is_archive else file
        return replace(rest, args=(file, *rest.args))

    made: list[Any] = [*self._each(to_its_own)]
    if is_archive:
        return ArchiveReport(sum(one.rows for one in made), sum(one.memories for one in made))
    return Backup(str(to or self._files.folder), made[-1].made_at, sum(one.size_bytes for one in made))


def _purged(self: Routed, call: Call) -> PurgeCertificate:
    """A person goes from every file; a place from its own, and its tokens from where tokens are."""
    scope = call.more.get("scope")
    wanted = [name for name in self._names() if scope is None or name in (scope.namespace, DEFAULT_NAMESPACE)]
    certificates: list[PurgeCertificate] = [self._as_owner(name, call) for name in wanted]
    removed = sum((Counter(certificate.removed) for certificate in certificates), Counter[str]())
    whole = replace(
        certificates[-1],
        removed=dict(removed),
        remaining=sum(certificate.remaining for certificate in certificates),
    )
    signing = Call("vault._signed", (whole,))
    return cast("PurgeCertificate", self._as_owner(DEFAULT_NAMESPACE, signing))


def _configured(self: Routed, call: Call) -> Any:
    """Settings for files that are open and for those that will be."""
    changed = self._as_owner(DEFAULT_NAMESPACE, call)
    change_now(self._files.config, changed)
    for memory in self._files.open_memories():
        change_now(memory.config, changed)
    return changed


def _in_one(self: Routed, call: Call) -> Any:
    """Statements of one namespace, as all of them are kept or none. Raises InvalidInput."""
    by_name = self._by_namespace(call, "drafts")
    if len(by_name) > 1:
        raise InvalidInput("In a folder, one call takes statements of one namespace: make a call for each.")
    namespace, drafts = by_name.popitem()
    return self._at(namespace, replace(call.without("drafts"), args=([*drafts.values()],)))


def _adopted(self: Routed, call: Call) -> ImportedRecords:
    """Records, each in the file of its namespace, and what became of them in the order given."""
    by_name, rest = self._by_namespace(call, "records"), call.without("records")
    ids: dict[int, str] = {}
    refused: list[Refusal] = []
    every: list[ImportedRecords] = []
    for namespace, records in by_name.items():
        imported: ImportedRecords = self._at(namespace, replace(rest, args=([*records.values()],)))
        places = list(records)
        ids.update(zip(places, imported.ids, strict=False))
        refused += [replace(refusal, index=places[refusal.index]) for refusal in imported.refused]
        every.append(imported)
    return ImportedRecords(
        tuple(id_ for imported in every for id_ in imported.taken),
        tuple(id_ for imported in every for id_ in imported.known),
        tuple(refused),
        tuple(ids[place] for place in sorted(ids)),
        sum(imported.related for imported in every),
        every[-1].run,
    )


def _named(given: Any) -> str:
    """The namespace that a statement, or its place, names; empty when none."""
    scope = given.get("scope") if isinstance(given, Mapping) else getattr(given, "scope", given)
    named = scope.get("namespace") if isinstance(scope, Mapping) else getattr(scope, "namespace", "")
    return named if isinstance(named, str) else ""


def _stats(every: Sequence[Stats]) -> Stats:
    summed: dict[str, Any] = {}
    for count in fields(Stats):
        values = [getattr(stats, count.name) for stats in every]
        groups = count.default_factory is dict
        summed[count.name] = dict(sum(map(Counter, values), Counter[str]())) if groups else sum(values)
    return Stats(**summed)


Whole = Callable[[Routed, Call], Any]
WHOLE: Mapping[str, Whole] = {
    "stats": _counted,
    "export": _exported,
    "maintenance.doctor": _examined,
    "maintenance.dream": _maintained,
    "maintenance.reembed": _summed,
    "maintenance.vacuum": _summed,
    "maintenance.consolidate": _maintained,
    "maintenance.configure": _configured,
    "backups.make": _backed_up,
    "backups.archive": _backed_up,
    "backups.list": _listed,
    "backups.check": _examined,
    "vault.purge": _purged,
}
"""Verbs about whole files, and how one answer comes of many. For who looks after the folder."""
FOR_OWNER = frozenset({"maintenance.configure"})
"""Those that the owner of one file may not do for it alone."""
OF_MEMORIES = frozenset({"stats", "export"})
"""Those that show memories: only for who may see all namespaces."""
SPLIT: Mapping[str, Whole] = {"remember_many": _in_one, "memories.adopt": _adopted}
"""Verbs that take many memories at once."""


# ---------------------------------------------------------------- classes with verbs


def offered(kind: type) -> dict[str, Any]:
    """What a class offers by name, in its order, with what it has from its parents."""
    return {
        name: made
        for parent in reversed(kind.mro()[:-1])
        for name, made in vars(parent).items()
        if not name.startswith("_")
        and isinstance(made, FunctionType | classmethod | property | cached_property)
    }


def has_verbs(kind: type) -> bool:
    """Whether this is a class of ours that does something, not a value."""
    if not any(kind.__module__ == home or kind.__module__.startswith(f"{home}.") for home in HOMES):
        return False
    if getattr(kind, "_is_protocol", False):  # a part that anybody may bring: it is handed out as it is
        return False
    settled = getattr(kind, "__dataclass_params__", None)
    return (settled is None or not settled.frozen) and bool(offered(kind))


def _within(access: Access, namespace: str) -> Access:
    """The same caller inside one file: whoever may see all namespaces is there the owner of this one."""
    return replace(access, scope=Scope(namespace), all_namespaces=False) if access.all_namespaces else access


def _through(items: Iterable[T], lease: Lease) -> Iterator[T]:
    try:
        yield from items
    finally:
        lease.give_back()
