"""Backups and salvage, as somebody meets them whose disk has gone bad."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from engram import Engram
from engram.config import load
from engram.errors import AccessDenied, EngramError, NoSuchFile, StoreBusy, StoreCorrupt, StoreError
from engram.model.clock import SystemClock
from engram.model.scope import Access, Role, Scope
from engram.opening import restore_at, restore_backup, salvage
from engram.store.sqlite.connection import Opener, StoreSettings
from engram.store.sqlite.pages import Pages, record, varint
from engram.store.sqlite.salvage import salvage as salvage_pages
from engram.testing import FakeClock
from tests.tables import every

PAGE = 4096
SETTINGS = load(environment={})
KEY = bytes(range(32))
MANY_COLUMNS = 50
"""Only memories have so many."""


def clock() -> FakeClock:
    return FakeClock(datetime(2026, 3, 1, tzinfo=UTC))


def contents(memory: Engram) -> set[str]:
    return {found.content for found in memory.list(limit=1_000)}


def talk(path: Path, first: int, last: int) -> None:
    """People and their dishes, some at length, some in a conversation."""
    with Engram.open(path) as memory:
        memory.remember_many(
            [
                {
                    "content": f"Person {n} likes dish {n * 7} of town {n % 50}"
                    + " long words" * (600 * (n % 40 == 0))
                }
                for n in range(first, last)
            ]
        )
        for n in range(first, last, 10):
            memory.observe(f"My cousin Ned{n} farms in Wales and has {n} sheep.", session=f"s{n}")
        memory.flush()


def overwrite(path: Path, pages: list[int], chance: random.Random) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE)
            file.write(chance.randbytes(PAGE))


# ---------------------------------------------------------------- backups


def test_a_backup_is_made_by_itself_once_a_day_and_three_are_kept(tmp_path: Path) -> None:
    path, now = tmp_path / "memory.db", clock()
    for day in range(6):
        with Engram.open(path, clock=now) as memory:
            memory.remember(f"Told on day {day}")
        with Engram.open(path, clock=now) as memory:
            kept = memory.backups.list()
            assert len(kept) == min(day, 3)
            assert all(finding.ok for finding in memory.backups.check())
        now.advance(hours=25)
    assert [backup.made_at.day for backup in kept] == [4, 5, 6]


def test_backups_can_be_switched_off(tmp_path: Path) -> None:
    path, now = tmp_path / "memory.db", clock()
    for _ in range(2):
        with Engram.open(path, clock=now, config={"store.backups": 0}) as memory:
            memory.remember("I have a cat")
        now.advance(days=2)
    with Engram.open(path, clock=now, config={"store.backups": 0}) as memory:
        assert memory.backups.list() == []


def test_consolidation_backs_up_first_when_a_backup_is_due(tmp_path: Path) -> None:
    now = clock()
    with Engram.open(tmp_path / "memory.db", clock=now) as memory:
        memory.remember("I have a cat")
        now.advance(days=2)
        memory.consolidate()
        assert len(memory.backups.list()) == 1


def test_a_backup_holds_every_write_acknowledged_before_it_and_is_put_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Engram.open(path) as memory:
        memory.remember("I have a cat")
        made = memory.backups.make(tmp_path / "copy.db")
        memory.remember("My neighbour has a dog")
        with pytest.raises(StoreError, match="already"):
            memory.backups.make(tmp_path / "copy.db")

    kept = restore_backup(path, made.file, SETTINGS)

    with Engram.open(path) as memory:
        assert contents(memory) == {"I have a cat"}
    with Engram.open(kept) as memory:
        assert contents(memory) == {"I have a cat", "My neighbour has a dog"}


def test_going_back_to_a_time_takes_the_newest_copy_before_it_and_tells_what_is_missing(
    tmp_path: Path,
) -> None:
    path, now = tmp_path / "memory.db", clock()
    times = []
    for day in range(3):
        with Engram.open(path, clock=now) as memory:
            memory.remember(f"Told in the morning of day {day}")
            memory.backups.make()
            now.advance(hours=6)
            evening = memory.remember(f"Told in the evening of day {day}").memory
            memory.pin(evening.id)
            now.advance(hours=6)
            times.append(now.now())
            now.advance(hours=6)  # less than a day in all: no backup is made by itself
    with pytest.raises(StoreError, match="the oldest is of 2026-03-01"):
        restore_at(path, datetime(2026, 2, 1, tzinfo=UTC), SETTINGS, now)
    made, kept, missing = restore_at(path, times[1], SETTINGS, now)
    assert Path(kept).exists()
    assert made.made_at < times[1]
    assert missing == {"pinned": 1, "stored": 1}
    with Engram.open(path, clock=now) as memory:
        assert {one[-1] for one in contents(memory)} == {"0", "1"}
        assert "Told in the evening of day 1" not in contents(memory)


def test_a_memory_that_is_open_or_a_backup_that_is_none_is_not_put_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    quick = load(environment={}, arguments={"store.busy_timeout_s": 0.2})
    with Engram.open(path) as memory:
        memory.remember("I have a cat")
        made = memory.backups.make()
        with pytest.raises(StoreBusy):
            restore_backup(path, made.file, quick)
    with pytest.raises(NoSuchFile):
        restore_backup(path, tmp_path / "nowhere.db", quick)
    overwrite(Path(made.file), [3, 4, 5], random.Random(1))
    with pytest.raises(StoreError):
        restore_backup(path, made.file, quick)
    with Engram.open(path) as memory:
        assert contents(memory) == {"I have a cat"}
        assert [finding.ok for finding in memory.backups.check()] == [False]


def test_only_the_owner_of_the_whole_file_sees_backups(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "memory.db") as memory:
        agent = memory.seen_by(Access(Scope(agent="a"), role=Role.AGENT), "agent:a")
        for call in (agent.backups.list, agent.backups.make):
            with pytest.raises(AccessDenied):
                call()
    with Engram.open(":memory:") as memory, pytest.raises(StoreError):
        memory.backups.make()


def test_a_backup_of_an_encrypted_file_is_encrypted(tmp_path: Path) -> None:
    from engram.store.sqlite import SqliteStore

    settings = StoreSettings(key=KEY)
    store = SqliteStore.open(tmp_path / "vault.db", SystemClock(), settings)
    try:
        made = store.backups.make()
        assert store.backups.check(made).ok
        assert b"SQLite format" not in Path(made.file).read_bytes()
    finally:
        store.close()


def test_what_is_erased_is_in_no_backup_either(tmp_path: Path) -> None:
    path, now = tmp_path / "memory.db", clock()
    with Engram.open(path, clock=now) as memory:
        memory.remember("I have a cat")
        told = memory.remember("My neighbour Olaf plays the tuba at night").memory
        made = Path(memory.backups.make().file)
        unfinished = made.with_name(
            "20260301T000000000000Z.db.1.partial"
        )  # another process makes one just now
        unfinished.write_bytes(made.read_bytes())
        memory.erase(told.id)
        assert memory.backups.list() == []
        assert not unfinished.exists()
    now.advance(days=1)
    with Engram.open(path, clock=now) as memory:
        assert len(memory.backups.list()) == 1
    assert b"tuba" not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


# ---------------------------------------------------------------- salvage


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A memory, and a backup of it that is some conversations old."""
    folder = tmp_path_factory.mktemp("told")
    path, backup = folder / "memory.db", folder / "backup.db"
    talk(path, 0, 120)
    shutil.copyfile(path, backup)
    talk(path, 120, 180)
    return path, backup


def lying_on(path: Path) -> dict[int, set[str]]:
    """Which memories lie on which page of a sound file, their continuations included."""
    pages = Pages(path.read_bytes())
    there: dict[int, set[str]] = defaultdict(set)
    for page in range(2, pages.count + 1):
        before = set(pages.used)
        rows = [row for row in pages.rows_of(page) if len(row[1]) > MANY_COLUMNS]
        for place in {page, *(pages.used - before)}:
            there[place].update(str(row[1][1]) for row in rows)
    return there


def as_stored(path: Path) -> dict[str, str]:
    with Engram.open(path) as memory:
        return {found.id: found.content for found in memory.list(limit=1_000)}


def damage_and_save(told: tuple[Path, Path], folder: Path, hit: list[int], chance: random.Random) -> None:
    """Overwrite pages, see that it is noticed, save, and see that nothing is lost that need not be."""
    path, backup = told
    damaged, saved = folder / "damaged.db", folder / "saved.db"
    for file in (damaged, saved):
        for ending in ("", "-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)
    shutil.copyfile(path, damaged)
    overwrite(damaged, hit, chance)
    noticed = False
    try:
        with Engram.open(damaged) as memory:
            noticed = not all(finding.ok for finding in memory.doctor())
    except EngramError:
        noticed = True
    assert noticed, hit

    report = salvage_pages(Opener(str(damaged), StoreSettings(), SystemClock()), saved, backup)

    whole, old, now = as_stored(path), as_stored(backup), as_stored(saved)
    lost = {memory_id for memory_id in whole if now.get(memory_id) != whole[memory_id]}
    there = lying_on(path)
    assert lost <= set().union(*(there[page] for page in hit)), hit
    assert not lost & set(old), hit
    assert {memory_id for memory_id in lost if memory_id not in now} <= set(report.lost), hit
    with Engram.open(saved) as memory:
        assert next(finding for finding in memory.doctor() if finding.name == "pages").ok


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_need_not_be_lost_is_not_lost(told: tuple[Path, Path], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    count = told[0].stat().st_size // PAGE
    hit = [1] if seed == 0 else chance.sample(range(1, count + 1), chance.randint(1, 5))
    damage_and_save(told, tmp_path, hit, chance)


@pytest.mark.slow
def test_two_hundred_times_damaged_two_hundred_times_saved(told: tuple[Path, Path], tmp_path: Path) -> None:
    chance = random.Random(2026)
    count = told[0].stat().st_size // PAGE
    for _ in range(200):
        damage_and_save(told, tmp_path, chance.sample(range(1, count + 1), chance.randint(1, 5)), chance)


def test_the_salvaged_file_takes_the_place_of_the_damaged_one(
    told: tuple[Path, Path], tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    shutil.copyfile(told[0], path)
    before = as_stored(path)
    with Engram.open(path) as memory:
        memory.backups.make()
    overwrite(path, [20, 21, 22, 23], random.Random(3))

    report = salvage(path, SETTINGS)

    assert as_stored(path) == before
    assert Path(report.kept).is_file()
    assert report.backup.startswith(str(tmp_path))
    assert report.lost == ()


def test_words_that_were_lost_are_read_again(told: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    shutil.copyfile(told[0], path)
    with closing(apsw.Connection(str(path))) as db:
        db.execute("DELETE FROM texts WHERE row > 100")
    with Engram.open(path) as memory:
        assert not all(finding.ok for finding in memory.doctor())
        assert all(finding.ok for finding in memory.doctor(repair=True))
        again = [hit.memory.content for hit in memory.recall("which dish does person 173 like?", limit=1)]

    assert "Person 173 " in again[0]


def test_what_was_erased_after_the_backup_does_not_come_back(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Engram.open(path) as memory:
        kept = memory.remember("I have a cat").memory
        gone = memory.remember("My neighbour Olaf plays the tuba at night").memory
        backup = memory.backups.make(tmp_path / "copy.db")
        memory.erase(gone.id)
    pages = Pages(path.read_bytes())
    root = next(line[3] for line in pages.schema() if line[1] == "memories" and line[0] == "table")
    assert isinstance(root, int)
    overwrite(path, [root], random.Random(5))

    salvage(path, SETTINGS, backup.file)

    with Engram.open(path) as memory:
        assert [found.id for found in memory.list()] == [kept.id]


def test_a_file_of_noise_without_a_backup_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(random.Random(9).randbytes(40 * PAGE))
    before = path.read_bytes()

    with pytest.raises(StoreError):
        salvage(path, SETTINGS)
    assert path.read_bytes() == before


def test_an_encrypted_file_is_saved_too(tmp_path: Path) -> None:
    from engram.store.sqlite import SqliteStore
    from engram.store.sqlite.backups import salvage_file
    from engram.store.sqlite.connection import Opener

    settings = StoreSettings(key=KEY)
    store = SqliteStore.open(tmp_path / "vault.db", SystemClock(), settings)
    store.backups.make()
    store.close()
    overwrite(tmp_path / "vault.db", [1], random.Random(1))
    with pytest.raises(EngramError):
        SqliteStore.open(tmp_path / "vault.db", SystemClock(), settings)

    salvage_file(Opener(str(tmp_path / "vault.db"), settings, SystemClock()))

    store = SqliteStore.open(tmp_path / "vault.db", SystemClock(), settings)
    store.close()
    assert b"SQLite format" not in (tmp_path / "vault.db").read_bytes()


@every(
    ("raw", "value", "length"),
    [(b"\x00", 0, 1), (b"\x7f", 127, 1), (b"\x81\x00", 128, 2), (b"\xff" * 9, -1, 9)],
)
def test_numbers_of_the_format_are_read(raw: bytes, value: int, length: int) -> None:
    assert varint(raw, 0) == (value, length)


def test_a_row_is_read_column_by_column() -> None:
    assert record(b"\x06\x00\x01\x0f\x08\x09\xfea") == (None, -2, "a", 0, 1)


def test_the_doctor_saves_a_damaged_file(told: tuple[Path, Path], tmp_path: Path) -> None:
    from click.testing import CliRunner

    from engram.cli.app import app

    path = tmp_path / "memory.db"
    shutil.copyfile(told[0], path)
    overwrite(path, [1], random.Random(4))
    runner = CliRunner()

    first = runner.invoke(app, ["--file", str(path), "doctor"])
    assert first.exit_code == 1
    assert "doctor --repair" in first.output

    again = runner.invoke(app, ["--file", str(path), "doctor", "--repair", "--deep"])
    assert "saved" in again.output
    assert as_stored(path) == as_stored(told[0])


def test_a_damaged_copy_is_noticed_at_once(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "memory.db") as memory:
        memory.remember("I have a cat")
        made = memory.backups.make(tmp_path / "copy.db")
    overwrite(Path(made.file), [2], random.Random(2))
    with pytest.raises((StoreCorrupt, StoreError)):
        restore_backup(tmp_path / "memory.db", made.file, SETTINGS)
