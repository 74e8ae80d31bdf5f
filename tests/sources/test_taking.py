"""Taking sources in, again and again: what is unchanged costs nothing, what changed is followed."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Access, Engram, Filters, Role, Scope, Status
from engram.capture.sources import take
from engram.capture.sources.take import statements
from engram.errors import AccessDenied, StoreError
from engram.model.capture import IngestReport, Item
from engram.testing import HashEmbedder
from tests.sources.conftest import contents, fates, written
from tests.sources.test_chats import conversation

NOTES = (
    "# Bread\nBread needs flour and water.\n\nThe oven heats to 250 degrees.\n\nMaya sharpened the knife.\n"
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return written(tmp_path / "docs" / "notes.md", NOTES)


class CountingEmbedder(HashEmbedder):
    """Counts the texts it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        return super().embed(texts)


def test_a_document_becomes_memories_that_say_where_they_are_from(memory: Engram, notes: Path) -> None:
    report = memory.sources.file(notes)

    assert report.counts == {"stored": 3}
    assert report.format == "markdown"
    kept = memory.get(report.items[0].memories[0])
    assert kept is not None
    assert (kept.content, kept.source) == ("Bread needs flour and water.", "document:notes.md")
    assert kept.details["heading"] == "Bread"


def test_a_document_that_did_not_change_costs_nothing(tmp_path: Path, notes: Path) -> None:
    embedder = CountingEmbedder()
    with Engram.open(tmp_path / "m.db", embedder=embedder) as memory:
        first = memory.sources.file(notes)
        spent, events = embedder.texts, len(memory.events(limit=1000))
        second = memory.sources.file(notes)

        assert second.counts == {"unchanged": 3}
        assert [one.memories for one in second.items] == [one.memories for one in first.items]
        assert (embedder.texts, len(memory.events(limit=1000))) == (spent, events)


def test_a_changed_paragraph_changes_its_memory_and_keeps_the_history(memory: Engram, notes: Path) -> None:
    first = memory.sources.file(notes)
    written(notes, NOTES.replace("250", "300"))
    second = memory.sources.file(notes)

    assert fates(second) == ["unchanged", "updated", "unchanged"]
    assert second.items[1].memories == first.items[1].memories
    now = memory.get(first.items[1].memories[0])
    assert now is not None
    assert (now.content, now.version) == ("The oven heats to 300 degrees.", 2)
    assert [str(event.verb) for event in memory.events(now.id)][:1] == ["updated"]
    assert memory.recall("how hot is the oven?").hits[0].memory.content == "The oven heats to 300 degrees."


def test_a_memory_that_follows_its_source_keeps_what_it_has_been_through(memory: Engram, notes: Path) -> None:
    kept = memory.sources.file(notes).items[1].memories[0]
    memory.feedback(kept, helpful=True)
    before = memory.get(kept)
    written(notes, NOTES.replace("The oven heats", "The oven of Paris heats"))
    memory.sources.file(notes)
    after = memory.get(kept)

    assert before is not None
    assert after is not None
    assert (after.usage, after.created_at, after.layer) == (before.usage, before.created_at, before.layer)
    assert "Paris" in after.content
    assert after.entities == ()  # a document's names are none of the user's own life


def test_a_paragraph_that_was_put_in_moves_the_others(memory: Engram, notes: Path) -> None:
    memory.sources.file(notes)
    written(notes, NOTES.replace("# Bread\n", "# Bread\nSalt comes last of all.\n\n"))

    assert fates(memory.sources.file(notes)) == ["stored", "unchanged", "unchanged", "unchanged"]
    assert memory.sources.file(notes).counts == {"unchanged": 4}


def test_paragraphs_of_several_statements_move_whole(memory: Engram, tmp_path: Path) -> None:
    me = "I live in Rome. My sister is a doctor."
    notes = written(tmp_path / "me.md", f"{me}\n\nMaya prefers tea. Her brother works at Acme.\n")
    memory.sources.file(notes)
    before = contents(memory)
    written(notes, f"Trains leave at noon.\n\n{me}\n")
    memory.sources.file(notes)

    assert before == {me, "Maya prefers tea. Her brother works at Acme."}
    assert contents(memory) == {me, "Trains leave at noon."}
    assert memory.sources.file(notes).counts == {"unchanged": 2}
    written(notes, f"{me}\n")
    assert memory.sources.file(notes).counts == {"unchanged": 1, "removed": 1}
    assert contents(memory) == {me}


def test_a_paragraph_that_was_taken_out_is_archived(memory: Engram, notes: Path) -> None:
    memory.sources.file(notes)
    written(notes, NOTES.replace("Maya sharpened the knife.\n", ""))
    report = memory.sources.file(notes)

    assert report.counts == {"unchanged": 2, "removed": 1}
    gone = memory.get(report.items[-1].memories[0])
    assert gone is not None
    assert gone.status is Status.ARCHIVED
    assert memory.sources.file(notes).counts == {"unchanged": 2}


def test_what_somebody_said_is_not_taken_from_them(memory: Engram, notes: Path) -> None:
    memory.remember("The oven heats to 250 degrees.")
    assert fates(memory.sources.file(notes)) == ["stored", "stored", "stored"]
    written(notes, "# Bread\nBread needs flour and water.\n")
    report = memory.sources.file(notes)

    assert report.counts == {"unchanged": 1, "removed": 2}
    assert "The oven heats to 250 degrees." in contents(memory)


def test_a_statement_in_two_documents_stays_while_one_holds_it(memory: Engram, tmp_path: Path) -> None:
    one, two = (written(tmp_path / name, "Bread needs flour and water.\n") for name in ("a.md", "b.md"))
    assert fates(memory.sources.file(one)) + fates(memory.sources.file(two)) == ["stored", "reinforced"]
    written(one, "Cake needs sugar and eggs.\n")

    assert fates(memory.sources.file(one)) == ["stored"]
    assert contents(memory) == {"Bread needs flour and water.", "Cake needs sugar and eggs."}


def test_a_statement_made_twice_in_a_document_is_one_memory(memory: Engram, tmp_path: Path) -> None:
    notes = written(tmp_path / "a.md", "# A\nBread needs flour.\n# B\nBread needs flour.\n")
    report = memory.sources.file(notes)

    assert fates(report) == ["stored", "reinforced"]
    written(notes, "# A\nCake needs sugar.\n# B\nBread needs flour.\n")
    assert fates(memory.sources.file(notes)) == ["stored", "unchanged"]
    assert contents(memory) == {"Bread needs flour.", "Cake needs sugar."}


def test_a_paragraph_is_one_passage_and_follows_its_edits(memory: Engram, tmp_path: Path) -> None:
    notes = written(tmp_path / "me.md", "I live in Rome. My sister is a doctor. I prefer tea.\n")
    assert len(memory.sources.file(notes).items[0].memories) == 1
    written(notes, "I live in Rome. My sister is a lawyer.\n")
    memory.sources.file(notes)

    assert contents(memory) == {"I live in Rome. My sister is a lawyer."}
    assert memory.sources.file(notes).counts == {"unchanged": 1}


def test_a_forgotten_memory_does_not_come_back_with_its_document(memory: Engram, notes: Path) -> None:
    report = memory.sources.file(notes)
    memory.forget(report.items[0].memories[0])

    assert memory.sources.file(notes).counts == {"unchanged": 3}
    assert "Bread needs flour and water." not in contents(memory)


def test_a_folder_is_followed_when_a_file_goes(memory: Engram, tmp_path: Path, notes: Path) -> None:
    other = written(notes.parent / "deep" / "other.txt", "Trains leave at noon.\n")
    assert memory.sources.file(notes.parent).counts == {"stored": 4}
    other.unlink()

    assert memory.sources.file(notes.parent, dry=True).counts == {"unchanged": 3, "removed": 1}
    assert memory.sources.file(notes.parent).counts == {"unchanged": 3, "removed": 1}
    assert "Trains leave at noon." not in contents(memory)


def test_a_file_of_a_folder_that_cannot_be_read_stops_nothing(memory: Engram, notes: Path) -> None:
    written(notes.parent / "a.md", b"caf\xe9")
    report = memory.sources.file(notes.parent)

    assert report.counts == {"stored": 3, "refused": 1}
    assert report.refused[0].code == "E2006"


def told(report: IngestReport) -> list[tuple[str, str, str]]:
    return [(one.origin, str(one.outcome), one.reason) for one in report.items]


def test_a_dry_run_says_what_the_real_one_does_and_does_nothing(
    memory: Engram, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take, "SLICE", 2)
    monkeypatch.setattr(take, "REHEARSED", 2)
    memory.remember("My editor is vim")
    steps = (
        NOTES,
        NOTES.replace("250", "300") + "\nMy editor is Helix now.\n\nThanks a lot!\n\n" + "x" * 400,
        "# Bread\nBread needs flour and water.\n\nBread needs flour and water.\n",
    )
    for text in steps:
        written(notes, text)
        before = memory.stats(), len(memory.events(limit=1000))
        rehearsed = memory.sources.file(notes, dry=True)
        assert (memory.stats(), len(memory.events(limit=1000))) == before
        real = memory.sources.file(notes)

        assert told(rehearsed) == told(real)
        assert (rehearsed.dry, real.dry) == (True, False)


def test_a_run_that_is_cut_off_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(take, "SLICE", 2)
    words = ("Anna", "Bruno", "Carla", "Dario", "Elena", "Franco")
    notes = written(tmp_path / "n.txt", "\n\n".join(f"{name} lives in house {name[0]}." for name in words))
    seen: list[int] = []

    def stop(done: int, total: int) -> None:
        seen.append(done)
        if done >= 4:
            raise KeyboardInterrupt

    file = tmp_path / "m.db"
    with Engram.open(file, embedder=HashEmbedder()) as memory, pytest.raises(KeyboardInterrupt):
        memory.sources.file(notes, progress=stop)
    with Engram.open(file, embedder=HashEmbedder()) as memory:
        assert len(contents(memory)) == 4
        assert memory.sources.file(notes).counts == {"stored": 2, "unchanged": 4}
        assert all(one.usage.repeated == 0 for one in memory.list())
    assert seen == [2, 4]


def test_memory_and_origin_are_written_together_or_not_at_all(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engram.store.sqlite.unit import SqliteUnit

    with Engram.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:

        def fail(*given: object) -> None:
            raise StoreError("the disk went away")

        with monkeypatch.context() as patch:
            patch.setattr(SqliteUnit, "set_origin", fail)
            with pytest.raises(StoreError):
                memory.sources.file(notes)
        assert contents(memory) == set()
        assert memory.sources.file(notes).counts == {"stored": 3}


def test_many_threads_may_take_in_the_same_document(memory: Engram, notes: Path) -> None:
    threads = [threading.Thread(target=memory.sources.file, args=(notes,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(contents(memory)) == 3
    assert memory.sources.file(notes).counts == {"unchanged": 3}


SENTENCES = (
    "Bread needs flour and water.", "The oven heats to 250 degrees.", "Maya sharpened the knife.",
    "Trains leave at noon.", "I live in Rome. My sister is a doctor.", "We decided to use Postgres.",
)  # fmt: skip
pages = st.lists(st.lists(st.sampled_from(SENTENCES), max_size=5), min_size=2, max_size=4)


@pytest.mark.slow
@settings(max_examples=20)
@given(pages)
def test_however_a_document_changes_the_memories_say_what_it_says(versions: list[list[str]]) -> None:
    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        for paragraphs in versions:
            text = "\n\n".join(paragraphs)
            rehearsed = memory.sources.text(text, title="page", dry=True)
            assert told(memory.sources.text(text, title="page")) == told(rehearsed)
            expected = {
                one.content for paragraph in paragraphs for one in statements(Item("x", paragraph))[0]
            }
            assert contents(memory) == expected
            assert set(memory.sources.text(text, title="page").counts) <= {"unchanged"}


# ---------------------------------------------------------------- code


def test_a_source_tree_is_followed(memory: Engram, tmp_path: Path) -> None:
    root = tmp_path / "project"
    written(root / "a.py", '"""Groups commits."""\ndef group():\n    """Puts commits together."""\n')
    written(root / "b.py", '"""Reads mail."""\n')
    assert memory.sources.code(root).counts == {"stored": 3}
    assert memory.sources.code(root).counts == {"unchanged": 3}
    hit = memory.recall("where are commits grouped?").hits[0].memory
    assert (str(hit.kind), hit.source, hit.details["language"]) == ("codebase", "codebase", "Python")

    written(root / "a.py", '"""Groups commits."""\ndef batch():\n    """Puts commits together."""\n')
    (root / "b.py").unlink()
    assert memory.sources.code(root, dry=True).counts == memory.sources.code(root).counts
    assert {one.details.get("symbol", "") for one in memory.list()} == {"", "batch"}
    assert len(memory.list(filters=Filters(statuses=frozenset({Status.ARCHIVED})))) == 2


def test_two_trees_of_one_name_do_not_disturb_each_other(memory: Engram, tmp_path: Path) -> None:
    for owner in ("one", "two"):
        written(tmp_path / owner / "src" / "a.py", f'"""Belongs to {owner}."""\n')
        memory.sources.code(tmp_path / owner / "src")

    assert len(contents(memory)) == 2


def test_what_code_says_in_passing_is_no_fact(memory: Engram, tmp_path: Path) -> None:
    for name, kind in (("a", "number"), ("b", "string")):
        written(tmp_path / "src" / f"{name}.py", f'def {name}():\n    """The key is a {kind}."""\n')

    assert memory.sources.code(tmp_path / "src").counts == {"stored": 4}
    assert len(contents(memory)) == 4


# ---------------------------------------------------------------- chats and memories of other tools


def test_a_chat_export_is_heard_once(memory: Engram, tmp_path: Path) -> None:
    export = written(tmp_path / "conversations.json", [conversation(current_node="h")])
    rehearsed = memory.sources.file(export, dry=True)
    assert contents(memory) == set()
    first = memory.sources.file(export)

    assert fates(rehearsed) == fates(first)
    assert any("Rome" in one for one in contents(memory))
    assert len(memory.turns("chatgpt:c1")) == 3
    assert set(fates(memory.sources.file(export))) == {"unchanged"}
    kept = next(one for one in memory.list() if "Rome" in one.content)
    assert kept.session == "chatgpt:c1"
    assert kept.event_time is not None
    assert kept.event_time.year == 2024


def test_a_message_that_no_log_can_take_does_not_stop_the_others(memory: Engram, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": text} for text in ("\ud800", "x" * 300_000, "I live in Rome")]
    report = memory.sources.file(written(tmp_path / "talk.json", talk))

    assert [one.code for one in report.items] == ["E2006", "E2002", ""]
    assert any("Rome" in one for one in contents(memory))


def test_memories_of_other_tools_come_in_as_they_are(memory: Engram, tmp_path: Path) -> None:
    graph = written(
        tmp_path / "memory.jsonl",
        "\n".join(
            json.dumps(one)
            for one in (
                {
                    "type": "entity",
                    "name": "Ada",
                    "entityType": "person",
                    "observations": ["Likes tea", "x" * 9000],
                },
                {"type": "relation", "from": "Ada", "to": "Acme", "relationType": "works_at"},
            )
        ),
    )
    report = memory.sources.file(graph, tags=["old"])

    assert fates(report) == ["stored", "refused", "stored"]
    assert report.refused[0].code == "E2002"
    assert contents(memory) == {"Ada: Likes tea", "Ada works at Acme"}
    assert all("old" in one.tags for one in memory.list())
    assert fates(memory.sources.file(graph)) == ["unchanged", "refused", "unchanged"]


def test_an_export_keeps_its_scopes_unless_a_place_is_named(tmp_path: Path) -> None:
    record = {"id": "x", "content": "Bread needs flour", "scope": {"project": "kitchen"}}
    export = written(tmp_path / "export.jsonl", json.dumps(record))
    with Engram.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        memory.sources.file(export)
        memory.sources.file(export, scope=Scope(project="elsewhere"))

        assert {one.scope.project for one in memory.list()} == {"kitchen", "elsewhere"}


def test_nobody_writes_where_they_may_not(tmp_path: Path, notes: Path) -> None:
    reader = Access(Scope(agent="rex"), Role.READER)
    agent = Access(Scope(agent="rex"), Role.AGENT)
    file = tmp_path / "m.db"
    with Engram.open(file, embedder=HashEmbedder(), access=reader) as memory, pytest.raises(AccessDenied):
        memory.sources.file(notes)
    foreign = written(tmp_path / "e.jsonl", json.dumps({"content": "x y z", "scope": {"agent": "ada"}}))
    with Engram.open(file, embedder=HashEmbedder(), access=agent) as memory:
        report = memory.sources.file(foreign)
        assert [one.code for one in report.items] == ["E4001"]
        with pytest.raises(AccessDenied):
            memory.sources.text("Bread", scope=Scope(agent="ada"))


def test_a_source_is_taken_in_while_no_vector_can_be_made(tmp_path: Path, notes: Path) -> None:
    embedder = HashEmbedder()
    embedder.down = True
    with Engram.open(tmp_path / "m.db", embedder=embedder) as memory:
        assert memory.sources.file(notes).counts == {"stored": 3}
        assert memory.stats().pending == 3
        embedder.down = False
        memory.remember("Trains leave at noon")

        assert memory.stats().pending == 0


def test_a_document_that_was_superseded_does_not_come_back_to_life(memory: Engram, tmp_path: Path) -> None:
    fact = written(tmp_path / "port.md", "---\nstatus: active\n---\nThe server listens on port 8080.\n")
    memory.sources.file(fact)
    assert contents(memory) == {"The server listens on port 8080."}
    written(fact, "---\nstatus: superseded\n---\nThe server listens on port 8080.\n")
    report = memory.sources.file(fact)

    assert "it is superseded" in [one.reason for one in report.items]
    assert contents(memory) == set()
