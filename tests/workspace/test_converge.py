"""Whatever people do to files and memory, the two come together, conflicts are shown, and no text is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from engram import Engram
from engram.api.workspace_reading import SyncReport
from engram.model.memory import ANY_STATUS, Status
from engram.testing import FakeClock

EDITS = 200
WORDS = [
    "harbor",
    "lantern",
    "violin",
    "copper",
    "meadow",
    "thunder",
    "pencil",
    "orchard",
    "granite",
    "ribbon",
    "saddle",
    "canyon",
]


class TwoSides:
    """A person with an editor, and a memory that changes by itself."""

    def __init__(self, memory: Engram, clock: FakeClock, root: Path, seed: int) -> None:
        self.memory, self.clock, self.root = memory, clock, root
        self.random = random.Random(seed)
        self.number = 0
        self.batch: dict[str, dict[str, str]] = {}
        """Of each memory, what each side has made of it since the last sync."""
        self.free: dict[Path, list[str]] = {}
        self.deleted: set[str] = set()

    def words(self) -> str:
        self.number += 1
        one, two = self.random.choice(WORDS), self.random.choice(WORDS)
        return f"The {one} number {self.number:04} is {two} {self.number * 37}"

    # the person

    def edit_note(self) -> None:
        path = self._note()
        if path is None:
            return
        text = path.read_text()
        front, _, body = text.partition("\n---\n\n")
        if "<<<<<<<" in body:
            return
        new = self.words()
        path.write_text(f"{front}\n---\n\n{new}\n")
        self._did(_id(text), "file", new)

    def tag_note(self) -> None:
        path = self._note()
        if path is not None and "<<<<<<<" not in path.read_text() and "\ntags:" in path.read_text():
            lines = path.read_text().split("\n")
            at = next(i for i, line in enumerate(lines) if line.startswith("tags:"))
            lines[at] = f'tags: ["t{self.number}"]'
            path.write_text("\n".join(lines))

    def new_note(self) -> None:
        day = self.root / "facts" / "2026-03-01"
        day.mkdir(parents=True, exist_ok=True)
        new = self.words()
        (day / f"mine-{self.number}.md").write_text(f"{new}\n")
        self.batch[f"new{self.number}"] = {"file": new}

    def delete_note(self) -> None:
        path = self._note()
        if path is not None:
            id_ = _id(path.read_text())
            if id_ not in self.batch:
                self.free.pop(path, None)
                path.unlink()
                self.deleted.add(id_)

    def append_event(self) -> None:
        new = self.words()
        ledger = self.root / "memory" / "ledger.jsonl"
        event = {
            "ts": self.clock.now().isoformat(),
            "id": f"EVT-20300101-{self.number:03}",
            "type": "fact",
            "priority": "P1",
            "content": new,
            "source": "live",
        }
        with ledger.open("a") as file:
            file.write(json.dumps(event) + "\n")
        self.batch[f"new{self.number}"] = {"file": new}

    def extract(self) -> None:
        new = self.words()
        day = self.root / "memory" / f"{self.clock.now():%Y-%m-%d}.md"
        before = day.read_text() if day.exists() else ""
        day.write_text(f"{before.rstrip()}\n- [P1] {new}\n")
        self.batch[f"new{self.number}"] = {"file": new}

    def scribble(self) -> None:
        pages = [*self.root.glob("memory/*.md"), *self.root.glob("recall/pack.md")]
        if pages:
            path = self.random.choice(sorted(pages))
            new = self.words()
            path.write_text(f"{path.read_text().rstrip()}\n\n{new}\n")
            self.free.setdefault(path, []).append(new)

    # the memory

    def update(self) -> None:
        one = self._memory()
        if one is not None:
            new = self.words()
            self.memory.update(one, content=new)
            self._did(one, "mind", new)

    def remember(self) -> None:
        new = self.words()
        got = self.memory.remember(new, apart=True, category="fact")
        self.batch[got.memory.id] = {"mind": new}

    def forget(self) -> None:
        one = self._memory()
        if one is not None and one not in self.batch:
            self.memory.forget(one)
            self.deleted.add(one)

    def weigh(self) -> None:
        one = self._memory()
        if one is not None:
            self.memory.update(one, importance=round(self.random.random(), 2))

    # both

    def meet(self) -> None:
        """Change one note and its memory at once."""
        path = self._note()
        if path is None or "<<<<<<<" in path.read_text():
            return
        id_ = _id(path.read_text())
        found = self.memory.get(id_)
        if found is not None and found.status is Status.ACTIVE and id_ not in self.deleted:
            front = path.read_text().rpartition("\n---\n")[0]
            here, there = self.words(), self.words()
            path.write_text(f"{front}\n---\n\n{here}\n")
            self.memory.update(id_, content=there)
            self._did(id_, "file", here)
            self._did(id_, "mind", there)

    def sync(self) -> SyncReport:
        self.clock.advance(minutes=self.random.randint(1, 400))
        report = self.memory.workspace.sync(self.root)
        told = self._everything()
        for id_, sides in self.batch.items():
            for side, words in sides.items():
                assert words in told, f"{side} of {id_} is lost: {words}"
            if len(sides) == 2 and id_ not in self.deleted:
                assert id_ in {one.memory for one in report.conflicts}, (
                    f"{id_} changed on both sides, in silence"
                )
        for path, lines in self.free.items():
            for line in lines:
                assert line in path.read_text(), f"{path} lost {line}"
        self.batch.clear()
        self.deleted.clear()
        return report

    def _everything(self) -> str:
        kept = [one.content for one in self.memory.list(filters=ANY_STATUS, limit=1_000)]
        return "\n".join(
            [*kept, *(path.read_text() for path in self.root.rglob("*") if path.suffix in (".md", ".jsonl"))]
        )

    def _did(self, id_: str, side: str, words: str) -> None:
        self.batch.setdefault(id_, {})[side] = words

    def _note(self) -> Path | None:
        found = sorted(self.root.glob("facts/*/*.md"))
        free = [path for path in found if path.read_text().startswith("---")]
        return self.random.choice(free) if free else None

    def _memory(self) -> str | None:
        found = [one.id for one in self.memory.list(limit=200) if one.status is Status.ACTIVE]
        return self.random.choice(sorted(found)) if found else None

    @property
    def acts(self) -> list[Callable[[], None]]:
        person = [
            self.edit_note,
            self.edit_note,
            self.tag_note,
            self.new_note,
            self.delete_note,
            self.append_event,
            self.extract,
            self.scribble,
        ]
        return [*person, self.update, self.update, self.remember, self.forget, self.weigh, self.meet]


def _id(text: str) -> str:
    return next(line.removeprefix("id: ") for line in text.split("\n") if line.startswith("id: "))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_two_hundred_edits_on_both_sides_come_together(
    memory: Engram, clock: FakeClock, folder: Path, seed: int
) -> None:
    for number in range(12):
        memory.remember(
            f"{WORDS[number].capitalize()} is what shelf {number} holds", apart=True, category="fact"
        )
    memory.workspace.init(folder, layouts=["ledger", "files"])
    sides = TwoSides(memory, clock, folder, seed)
    conflicts, done = 0, 0
    while done < EDITS:
        for _ in range(sides.random.randint(1, 8)):
            sides.random.choice(sides.acts)()
            done += 1
        conflicts += len(sides.sync().conflicts)
    assert conflicts > 0

    quiet = memory.workspace.sync(folder)
    assert quiet.changes == 0, quiet
    full = memory.workspace.sync(folder, full=True)
    assert (full.created, full.updated, full.forgotten, full.removed) == ((), (), (), ()), full
    for path in folder.glob("facts/*/*.md"):
        text = path.read_text()
        if "<<<<<<<" not in text and text.startswith("---"):
            found = memory.get(_id(text))
            assert found is not None
            assert found.content == text.partition("\n---\n\n")[2].strip()
