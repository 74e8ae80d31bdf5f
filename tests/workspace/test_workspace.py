"""A folder in step with the memory: edits, new files and deletions go both ways, and nothing is guessed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import InvalidInput, WorkspaceError
from engram.model.capture import Draft
from engram.model.memory import Priority, Status
from engram.testing import FakeClock, HashEmbedder


def note(folder: Path, words: str) -> Path:
    return next(
        path
        for path in folder.rglob("*.md")
        if path.parts[-3] in ("facts", "archive") and words in path.read_text()
    )


def events(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "memory/ledger.jsonl").read_text().splitlines()]


def replace_in(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def test_an_edit_in_a_file_is_a_change_by_a_person(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["files"])
    path = note(folder, "leaks")
    replace_in(path, "leaks", "was repaired")
    replace_in(path, "tags: []", 'tags: ["house"]\nmine: kept as it is')

    report = memory.workspace.sync(folder)

    assert report.updated == (kept.id,)
    now = memory.get(kept.id)
    assert now is not None
    assert (now.content, now.tags) == ("The tap in the kitchen was repaired", ("house",))
    event = memory.events(kept.id)[0]
    assert (event.actor, event.because) == ("human", f"edited in {path.relative_to(folder)}")
    assert "mine: kept as it is" in path.read_text()
    assert memory.workspace.sync(folder).changes == 0


def test_a_change_in_the_memory_reaches_the_file_and_the_ledger(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["files", "ledger"])
    memory.update(kept.id, content="The tap in the kitchen was repaired")
    memory.workspace.sync(folder)

    assert note(folder, "was repaired").read_text().endswith("The tap in the kitchen was repaired\n")
    first, second = events(folder)
    assert (second["content"], second["supersedes"]) == ("The tap in the kitchen was repaired", first["id"])
    assert first["content"] == "The tap in the kitchen leaks"


def test_a_new_file_is_a_new_memory_and_a_deleted_one_is_forgotten(memory: Engram, folder: Path) -> None:
    memory.workspace.init(folder, layouts=["files"])
    (folder / "facts").mkdir(exist_ok=True)
    (folder / "facts/mine.md").write_text("My bicycle is a Brompton.\n")
    report = memory.workspace.sync(folder)
    (made,) = report.created
    found = memory.get(made)
    assert found is not None
    assert found.content == "My bicycle is a Brompton."
    assert (folder / "facts/mine.md").read_text() == "My bicycle is a Brompton.\n"

    (folder / "facts/mine.md").unlink()
    report = memory.workspace.sync(folder)
    assert report.forgotten == (made,)
    gone = memory.get(made)
    assert gone is not None
    assert gone.status is Status.ARCHIVED
    assert memory.events(made)[0].actor == "human"
    assert not (folder / "facts/mine.md").exists()
    assert memory.workspace.sync(folder).changes == 0


def test_a_file_that_moves_stays_the_same_memory(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["files"])
    path = note(folder, "leaks")
    (folder / "facts/house").mkdir()
    path.rename(folder / "facts/house/tap.md")
    report = memory.workspace.sync(folder)
    assert (report.created, report.forgotten) == ((), ())
    replace_in(folder / "facts/house/tap.md", "leaks", "drips")
    assert memory.workspace.sync(folder).updated == (kept.id,)


@pytest.fixture
def clash(memory: Engram, folder: Path) -> tuple[str, Path]:
    kept = memory.remember("The meeting is on Monday").memory
    memory.workspace.init(folder, layouts=["files", "ledger"])
    path = note(folder, "Monday")
    replace_in(path, "on Monday", "on Tuesday")
    memory.update(kept.id, content="The meeting is on Friday")
    return kept.id, path


def test_what_changed_on_both_sides_is_shown_in_both_places(
    memory: Engram, folder: Path, clash: tuple[str, Path]
) -> None:
    memory_id, path = clash
    report = memory.workspace.sync(folder)

    (conflict,) = report.conflicts
    assert (conflict.memory, conflict.path) == (memory_id, path.relative_to(folder).as_posix())
    text = path.read_text()
    assert (
        "<<<<<<< in this file\nThe meeting is on Tuesday\n"
        "=======\nThe meeting is on Friday\n>>>>>>> in the memory" in text
    )
    (pair,) = memory.conflicts.list()
    assert {pair.a.content, pair.b.content} == {"The meeting is on Tuesday", "The meeting is on Friday"}
    assert memory.workspace.sync(folder).changes == 0
    assert memory.workspace.status(folder).conflicts


def test_a_conflict_is_settled_in_the_file(memory: Engram, folder: Path, clash: tuple[str, Path]) -> None:
    memory_id, path = clash
    memory.workspace.sync(folder)
    head = path.read_text().partition("<<<<<<<")[0]
    path.write_text(f"{head}The meeting is on Wednesday\n")
    report = memory.workspace.sync(folder)
    assert report.conflicts == ()
    now = memory.get(memory_id)
    assert now is not None
    assert now.content == "The meeting is on Wednesday"
    assert memory.conflicts.list() == []
    assert memory.workspace.sync(folder).changes == 0


@pytest.mark.parametrize("keep", ["a", "b"])
def test_a_conflict_is_settled_in_the_memory(
    memory: Engram, folder: Path, clash: tuple[str, Path], keep: str
) -> None:
    _, path = clash
    memory.workspace.sync(folder)
    (pair,) = memory.conflicts.list()
    stands = memory.conflicts.resolve(pair.a.id, pair.b.id, keep)
    memory.workspace.sync(folder)
    assert "<<<<<<<" not in path.read_text()
    assert path.read_text().endswith(f"{stands.content}\n")
    assert memory.workspace.sync(folder).changes == 0


def test_changes_to_different_fields_are_no_conflict(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The meeting is on Monday").memory
    memory.workspace.init(folder, layouts=["files"])
    replace_in(note(folder, "Monday"), "tags: []", 'tags: ["work"]')
    memory.update(kept.id, content="The meeting is on Friday")
    report = memory.workspace.sync(folder)
    assert report.conflicts == ()
    text = note(folder, "Friday").read_text()
    assert 'tags: ["work"]' in text
    now = memory.get(kept.id)
    assert now is not None
    assert now.tags == ("work",)


def test_deleted_here_and_changed_there_is_a_conflict(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The meeting is on Monday").memory
    memory.workspace.init(folder, layouts=["files"])
    note(folder, "Monday").unlink()
    memory.update(kept.id, content="The meeting is on Friday")
    report = memory.workspace.sync(folder)
    (conflict,) = report.conflicts
    assert conflict.memory == kept.id
    assert "deleted" in conflict.because
    assert "The meeting is on Friday" in note(folder, "Friday").read_text()


def test_secrets_never_reach_a_file_unless_asked_for(memory: Engram, folder: Path) -> None:
    memory.remember("My password for the router is hunter2-4711", tier="confidential")
    memory.remember("My doctor says I have diabetes", tier="sensitive")
    memory.remember("I like tea")
    memory.workspace.init(folder, layouts=["files", "ledger"])
    told = "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    assert "tea" in told
    assert "hunter2" not in told
    assert "diabetes" not in told

    memory.workspace.init(folder, layouts=["files", "ledger"], include=["sensitive"])
    told = "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())
    assert "diabetes" in told
    assert "hunter2" not in told


def test_what_becomes_secret_leaves_the_files(memory: Engram, folder: Path) -> None:
    kept = memory.remember("My doctor called about the results").memory
    memory.workspace.init(folder, layouts=["files", "ledger"])
    memory.update(kept.id, tier="confidential")
    memory.workspace.sync(folder)
    files = [path for path in folder.rglob("*") if path.is_file() and ".engram" not in path.parts]
    assert not any("results" in path.read_text() for path in files)


def test_links_are_not_followed(memory: Engram, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text("The vault opens with 1234.\n")
    folder.mkdir()
    (folder / "facts").mkdir()
    (folder / "facts/out").symlink_to(tmp_path / "elsewhere")
    (folder / "facts/one.md").symlink_to(tmp_path / "elsewhere/secret.md")
    (folder / "knowledge").symlink_to(tmp_path / "elsewhere")
    memory.remember("Never open the vault", category="principle", priority="P0")
    report = memory.workspace.init(folder, layouts=["files", "ledger"])
    assert report.created == ()
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["secret.md"]
    assert any("link" in one for one in report.problems)


@pytest.mark.parametrize(
    "name", [".one.md.swp", "one.md~", "#one.md#", ".#one.md", "4913", "one.md.tmp", "one.txt"]
)
def test_files_of_editors_are_passed_over(memory: Engram, folder: Path, name: str) -> None:
    memory.workspace.init(folder, layouts=["files"])
    (folder / "facts").mkdir()
    (folder / "facts" / name).write_text("half a sentence")
    assert memory.workspace.sync(folder).created == ()


def test_when_nearly_everything_is_missing_nothing_is_forgotten(memory: Engram, folder: Path) -> None:
    for number in range(30):
        memory.remember(f"Shelf {number} holds {number * 7} boxes of pencils", apart=True)
    memory.workspace.init(folder, layouts=["files"])
    for path in [*folder.glob("facts/*/*.md")]:
        path.unlink()
    report = memory.workspace.sync(folder)
    assert report.forgotten == ()
    assert "missing" in report.problems[0]
    assert len([*folder.glob("facts/*/*.md")]) == 30

    for path in [*folder.glob("facts/*/*.md")]:
        path.unlink()
    assert len(memory.workspace.sync(folder, accept_deletions=True).forgotten) == 30


def test_archived_files_go_to_the_archive_and_come_back(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["files"])
    memory.forget(kept.id)
    memory.workspace.sync(folder)
    assert "archive" in note(folder, "leaks").parts
    memory.restore(kept.id)
    memory.workspace.sync(folder)
    assert "archive" not in note(folder, "leaks").parts


def test_lines_of_others_stay_in_pages_that_are_made_anew(
    memory: Engram, folder: Path, clock: FakeClock
) -> None:
    memory.workspace.init(folder)
    pack = folder / "recall/pack.md"
    pack.write_text(pack.read_text() + "\nCall the plumber\n")
    memory.remember("Never deploy on Fridays", category="constraint")
    memory.workspace.sync(folder)
    assert "Never deploy on Fridays" in pack.read_text()
    assert "Call the plumber" in pack.read_text()
    clock.advance(days=1)
    memory.workspace.sync(folder)
    assert "Call the plumber" in pack.read_text()


def test_an_item_of_a_page_is_edited_where_it_stands(memory: Engram, folder: Path) -> None:
    page = folder / "knowledge/entities/anna.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "# Anna\n*Type: person*\n\n## Key Facts\n- Works at Acme [verified: 2026-01-02]\n"
        "\n## History\nfree words\n"
    )
    memory.workspace.init(folder)
    (kept,) = [one for one in memory.list() if "Acme" in one.content]
    assert kept.content == "Anna: Works at Acme"
    replace_in(page, "Acme [verified: 2026-01-02]", "Globex [verified: 2026-02-03]")
    memory.workspace.sync(folder)
    now = memory.get(kept.id)
    assert now is not None
    assert now.content == "Anna: Works at Globex"
    assert now.verified_at is not None
    assert now.verified_at.date().isoformat() == "2026-02-03"
    memory.update(kept.id, content="Anna: Works at Initech")
    memory.workspace.sync(folder)
    assert "- Works at Initech [verified: 2026-02-03]" in page.read_text()
    assert "free words" in page.read_text()


def test_extracts_of_a_day_become_memories_of_their_priority(memory: Engram, folder: Path) -> None:
    (folder / "memory").mkdir(parents=True)
    (folder / "memory/2026-01-28.md").write_text(
        "# Log\nfree\n\n## Priority Extracts\n"
        "- [P0] Client X deadline moved to Feb 15\n- [P3] The printer is out of ink\n"
    )
    memory.workspace.init(folder)
    found = {str(one.priority): one for one in memory.list()}
    assert found["P0"].content == "Client X deadline moved to Feb 15"
    assert found["P0"].happened_at.date().isoformat() == "2026-01-28"
    assert str(found["P3"].policy) == "durable"


def test_a_loop_closed_in_the_memory_is_an_event_that_closes_it(memory: Engram, folder: Path) -> None:
    loop = memory.commitments.open("Send the invoice to Anna")
    memory.workspace.init(folder)
    assert json.loads((folder / "memory/index/open-loops.json").read_text()) == [events(folder)[0]["id"]]
    memory.commitments.close(loop.id)
    memory.workspace.sync(folder)
    first, second = events(folder)
    assert (first["status"], second["status"], second["related"]) == ("open", "closed", [first["id"]])
    assert json.loads((folder / "memory/index/open-loops.json").read_text()) == []


def test_the_ledger_stays_short_and_the_rest_is_archived(memory: Engram, folder: Path) -> None:
    memory.remember_many(
        Draft(f"Shelf {number} holds {number * 7} boxes", apart=True, priority=Priority(f"P{2 + number % 2}"))
        for number in range(200)
    )
    memory.workspace.init(folder)
    assert len(events(folder)) <= 150
    (archive,) = folder.glob("memory/ledger-archive-*.jsonl")
    assert len(events(folder)) + len(archive.read_text().splitlines()) == 200
    assert memory.count() == 200
    assert memory.workspace.sync(folder).changes == 0


def test_the_ledger_alone_brings_everything_back(
    memory: Engram, other: Engram, folder: Path, tmp_path: Path
) -> None:
    memory.remember("Never deploy on Fridays", category="constraint", priority="P0")
    memory.remember("To release: test, tag, push", category="procedure")
    memory.commitments.open("Send the invoice to Anna")
    memory.workspace.init(folder)
    (tmp_path / "bare/memory").mkdir(parents=True)
    (tmp_path / "bare/memory/ledger.jsonl").write_text((folder / "memory/ledger.jsonl").read_text())
    other.workspace.init(tmp_path / "bare")
    assert {one.content for one in other.list()} == {one.content for one in memory.list()}
    assert (tmp_path / "bare/knowledge/principles/never-deploy-on-fridays.md").exists()
    assert [one.text for one in other.commitments.list()] == ["Send the invoice to Anna"]


def test_damage_in_the_ledger_is_told_and_mended_when_asked(memory: Engram, folder: Path) -> None:
    memory.remember("The tap leaks")
    memory.workspace.init(folder)
    ledger = folder / "memory/ledger.jsonl"
    line = ledger.read_text().splitlines()[0]
    with ledger.open("a") as file:
        file.write('{"id": "EVT-2026\n' + line.replace("The tap leaks", "The roof leaks") + "\n")
    memory.workspace.sync(folder)
    failed = json.loads((folder / "memory/integrity.json").read_text())["failures"]
    assert any("no event" in one for one in failed)
    assert any("twice" in one for one in failed)
    assert "integrity check failed" in (folder / "recall/pack.md").read_text()

    memory.workspace.sync(folder, repair=True)
    assert json.loads((folder / "memory/integrity.json").read_text())["failures"] == []
    assert '{"id": "EVT-2026' in (folder / "memory/archive/damaged.jsonl").read_text()
    assert "The roof leaks" in {one.content for one in memory.list()}


def test_triggers_go_both_ways(memory: Engram, folder: Path) -> None:
    memory.triggers.add(["billing"], ["tag:billing"])
    memory.workspace.init(folder)
    path = folder / "recall/triggers.json"
    data = json.loads(path.read_text())
    assert data["triggers"] == [{"patterns": ["billing"], "load": ["tag:billing"]}]
    data["triggers"] = [{"patterns": ["shop", "store"], "load": ["knowledge/entities/web-shop.md"]}]
    path.write_text(json.dumps(data))
    memory.workspace.sync(folder)
    memory.remember("something new")
    memory.workspace.sync(folder)
    assert [one.words for one in memory.triggers.list()] == [("shop", "store")]


def test_a_dry_sync_changes_nothing(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["files"])
    replace_in(note(folder, "leaks"), "leaks", "drips")
    before = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    report = memory.workspace.sync(folder, dry=True)
    assert report.updated == (kept.id,)
    assert report.dry
    assert {path: path.read_text() for path in folder.rglob("*") if path.is_file()} == before
    now = memory.get(kept.id)
    assert now is not None
    assert "leaks" in now.content


def test_a_folder_that_was_left_is_no_workspace_and_brings_nothing_back(memory: Engram, folder: Path) -> None:
    kept = memory.remember("The tap leaks").memory.id
    memory.workspace.init(folder)
    memory.update(kept, content="The tap was mended")
    memory.workspace.sync(folder)
    (day,) = folder.glob("memory/2*.md")
    assert "The tap leaks" in day.read_text(), "a day's log is only added to"

    assert memory.workspace.leave(folder)
    with pytest.raises(WorkspaceError):
        memory.workspace.status(folder)
    again = memory.workspace.init(folder)
    assert (again.created, again.updated) == ((), ())
    assert [one.content for one in memory.list()] == ["The tap was mended"]


def test_what_is_no_workspace_says_so(memory: Engram, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is no workspace"):
        memory.workspace.sync(tmp_path)
    with pytest.raises(InvalidInput, match="layout"):
        memory.workspace.init(tmp_path / "x", layouts=["obsidian"])


def test_a_file_without_right_words_is_told_of_and_left(memory: Engram, folder: Path) -> None:
    memory.workspace.init(folder, layouts=["files"])
    (folder / "facts").mkdir()
    (folder / "facts/long.md").write_text("long " * 5_000)
    (folder / "facts/bytes.md").write_bytes(b"\xff\xfe\x00")
    report = memory.workspace.sync(folder)
    assert len(report.problems) == 2
    assert (folder / "facts/long.md").exists()


@pytest.mark.slow
def test_little_change_in_many_files_takes_little_time(memory: Engram, folder: Path) -> None:
    records = [
        {"id": f"fact-{number:08}", "content": f"Shelf {number} holds {number * 7} boxes", "category": "fact"}
        for number in range(2_000)
    ]
    memory.adopt(records)
    memory.workspace.init(folder, layouts=["files"])
    replace_in(note(folder, "Shelf 7 holds"), "boxes", "crates")
    memory.update("fact-00000009", content="Shelf 9 is empty")
    start = time.process_time()
    report = memory.workspace.sync(folder)
    took = time.process_time() - start
    assert len(report.updated) == 1
    assert took < 2
    assert (folder / ".engram/state.json").stat().st_size < 2_000_000


def test_what_no_stamp_tells_is_seen_within_a_week(memory: Engram, clock: FakeClock, folder: Path) -> None:
    memory.remember("Tea is kept in the blue tin")
    memory.workspace.init(folder, layouts=["files"])
    page = note(folder, "blue tin")
    stamp = page.stat()
    page.write_text(page.read_text().replace("blue tin", "pink tin"))
    os.utime(page, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    memory.workspace.sync(folder)
    assert "blue" in next(one.content for one in memory.list())
    clock.advance(days=8)
    memory.workspace.sync(folder)
    assert "pink" in next(one.content for one in memory.list())


def test_what_has_gone_stale_can_be_left_out() -> None:
    record = {"content": "The wiki lives on the NAS", "lifecycle": "stale"}
    for stale, found in (("weigh", 1), ("leave out", 0)):
        with Engram.open(
            ":memory:", config={"recall.stale": stale}, clock=FakeClock(), embedder=HashEmbedder()
        ) as opened:
            opened.adopt([record])
            assert len(list(opened.recall("where does the wiki live"))) == found
