"""What holds for every test: UTC, no network, no thread left behind, chance that can be repeated."""

from __future__ import annotations

import atexit
import functools
import gc
import ipaddress
import os
import shutil
import socket
import ssl
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TypeVar

import apsw
import pytest
from hypothesis import HealthCheck, settings

from engram.model.clock import Clock, SystemClock
from engram.store.sqlite import SqliteStore, StoreSettings
from engram.store.sqlite.connection import Opener
from engram.store.sqlite.migrate import make_in_memory
from tests import postgres

# No deadlines: a busy machine is no bug. `ci` tries the same cases each time; `thorough` is for a night.
settings.register_profile(
    "fast", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", parent=settings.get_profile("fast"), derandomize=True, print_blob=True)
settings.register_profile("thorough", parent=settings.get_profile("fast"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "fast"))

# Days begin where the machine is, unless a test says otherwise: here that is UTC, wherever it stands.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

MEMORY_DISK = Path("/dev/shm")
LEFT_TO_END_S = 5.0
Answer = TypeVar("Answer")


class NetworkForbidden(RuntimeError):
    """A test reached for the network. Not an OSError, so that no fallback can swallow it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--network", action="store_true", help="let tests speak to other machines")
    parser.addoption("--postgres", action="store_true", help="keep the memories of tests in PostgreSQL")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--network"):
        forbid_network()
    spare_the_disk()
    # Each client reads the certificates of the whole world anew: longer than most tests take.
    ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]
    if config.getoption("--postgres"):
        keep_on_a_server()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--postgres"):
        for item in items:
            if item.get_closest_marker("files"):
                item.add_marker(pytest.mark.skip(reason="is about a file"))


def keep_on_a_server() -> None:
    """Every memory in the clear that a test opens is kept by a server, whatever file the test names."""
    from engram.store.postgres import PostgresStore

    open_file, kept = SqliteStore.open, ExitStack()
    addresses: dict[str, str] = {}
    if postgres.VARIABLE in os.environ:  # one of our own goes with all that is on it
        atexit.register(kept.close)

    def open_store(path: str | Path, clock: Clock, settings: StoreSettings | None = None) -> SqliteStore:
        settings = settings or StoreSettings()
        if settings.key is not None:
            return open_file(path, clock, settings)
        place = str(path) if str(path) != ":memory:" else uuid.uuid4().hex
        if place not in addresses:
            if str(path) != ":memory:":
                Path(path).touch()
            addresses[place] = kept.enter_context(postgres.new_memory())
        return PostgresStore.open_address(addresses[place], clock, settings)

    SqliteStore.open = open_store  # type: ignore[method-assign]


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays to the end: looking through it for garbage takes a tenth of all the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def spare_the_disk() -> None:
    """New files are copies of one that has the present schema, and nothing waits for the disk.

    What is killed loses nothing by that: what was written stays with the system. Only a power cut would tell.
    """
    if MEMORY_DISK.is_dir() and os.access(MEMORY_DISK, os.W_OK):
        tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY_DISK)
    open_any, open_writer = Opener._open, Opener.writer  # noqa: SLF001 - before its first write

    def opened(self: Opener, flags: int, name: str = "") -> apsw.Connection:
        db = open_any(self, flags, name)
        db.pragma("synchronous", "OFF")
        return db

    def writer(self: Opener) -> apsw.Connection:
        db = open_writer(self)
        if self.settings.synchronous == "NORMAL":
            db.pragma("synchronous", "OFF")
        if self.settings.key is None and not self.memory and not db.pragma("application_id"):
            with suppress(apsw.Error), closing(db.execute("SELECT 1 FROM sqlite_schema")) as tables:
                if tables.fetchone() is None:
                    make_in_memory(db)
        return db

    Opener._open, Opener.writer = opened, writer  # type: ignore[method-assign] # noqa: SLF001


def forbid_network() -> None:
    """From here on, sockets reach this machine only, and only its own names are looked up."""
    socket.socket.connect = _guarded(socket.socket.connect)  # type: ignore[method-assign]
    socket.socket.connect_ex = _guarded(socket.socket.connect_ex)  # type: ignore[method-assign]
    look_up = socket.getaddrinfo

    def look_up_here(host: str | bytes | None, *rest: object, **more: object) -> object:
        _check(host)
        return look_up(host, *rest, **more)  # type: ignore[arg-type]

    socket.getaddrinfo = look_up_here  # type: ignore[assignment]


def is_this_machine(host: object) -> bool:
    """Whether a host is only another name for the machine the tests run on."""
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _guarded(connect: Callable[..., Answer]) -> Callable[..., Answer]:
    def connect_here(self: socket.socket, address: object) -> Answer:
        if isinstance(address, tuple):  # a string is the path of a local socket
            _check(address[0])
        return connect(self, address)

    return connect_here


def _check(host: object) -> None:
    if not is_this_machine(host):
        message = f"A test reached for {host!r}: tests speak to this machine only (--network lifts this)."
        raise NetworkForbidden(message)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty memory: a copy of it is opened in a fifth of the time that making one takes."""
    path = tmp_path_factory.mktemp("template") / "empty.db"
    SqliteStore.open(path, SystemClock()).close()
    return path


@pytest.fixture
def file(tmp_path: Path, template: Path) -> Path:
    """Where an empty memory is kept."""
    return Path(shutil.copy(template, tmp_path / "memory.db"))


@pytest.fixture(scope="session", autouse=True)
def _no_thread_is_left_behind() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    for thread in left:
        thread.join(LEFT_TO_END_S)
    still = sorted(thread.name for thread in left if thread.is_alive())
    if still:
        pytest.fail(f"These threads outlived the tests that started them: {', '.join(still)}")
