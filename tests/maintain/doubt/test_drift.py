"""Drift: claims about files, symbols, versions and addresses are held against a directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import AccessDenied, InvalidInput
from engram.model.capture import Draft
from engram.model.maintenance import Landscape, Reference, RefKind, RefState, RunKind
from engram.model.memory import Status
from engram.model.scope import Access, Role, Scope
from engram.rules.doubt import state_of
from engram.testing import FakeClock
from engram.text.metadata import references
from tests.maintain.story import START, now, opened, rules
from tests.tables import every

DOUBT = ["doubt"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "auth.py").write_text("def login():\n    return True\n", encoding="utf-8")
    (folder / "package.json").write_text(
        '{"name": "app", "version": "2.1.0", "dependencies": {"react": "^19.1.0"}}', encoding="utf-8"
    )
    (folder / ".gitignore").write_text("dist/\n", encoding="utf-8")
    (folder / "dist").mkdir()
    (folder / "dist" / "bundle.js").write_text("generated_symbol()", encoding="utf-8")
    return folder


@pytest.fixture
def memory(clock: FakeClock, project: Path) -> Iterator[Engram]:
    with opened(clock, doubt__directory=str(project)) as one:
        yield one


def claim(memory: Engram, words: str, scope: Scope | None = None) -> str:
    draft = Draft(words, kind="semantic", type="fact", source="agent", scope=scope or Scope())  # type: ignore[arg-type]
    return memory.remember_many([draft])[0].memory.id  # type: ignore[union-attr]


CASES = [
    ("The auth code lives in src/auth.py", RefState.ALIVE),
    ("The auth code lives in auth.py", RefState.ALIVE),
    ("Sessions live in src/session.py", RefState.DEAD),
    ("The build is in dist/bundle.js", RefState.ALIVE),
    ("Their parser is in lib/parse.rs", RefState.UNKNOWN),
    ("See ~/notes/list.md for more", RefState.UNKNOWN),
    ("See ../other/main.py for more", RefState.UNKNOWN),
    ("Users come in by login()", RefState.ALIVE),
    ("Users come in by `check_password`", RefState.DEAD),
    ("Bundles call generated_symbol()", RefState.DEAD),
    ("The frontend uses React 19.1", RefState.ALIVE),
    ("The frontend uses React 18.2", RefState.DEAD),
    ("The frontend uses Vue 3.2", RefState.UNKNOWN),
    ("We run version 2.1.0 of app", RefState.ALIVE),
    ("Docs are at https://docs.example.org/app", RefState.ALIVE),
    ("Docs are at https://docs..example/app", RefState.DEAD),
]


@every(("words", "state"), CASES)
def test_a_reference_is_alive_dead_or_not_for_this_directory_to_tell(
    memory: Engram, words: str, state: RefState
) -> None:
    place = _landscape(memory)
    states = {state_of(one, place)[0] for one in references(words)}
    assert states, "something is named"
    assert states - {RefState.UNKNOWN} == {state} - {RefState.UNKNOWN}


def _landscape(memory: Engram) -> Landscape:
    from engram.api.maintenance import landscape

    found = landscape(memory.config.doubt.directory)
    assert found is not None
    return found


@every(
    "words",
    [
        "We deleted src/old.py",
        "We will add src/new.py",
        "src/old.py was renamed",
        "There is no longer a parse_all()",
        "I like tea",
    ],
)
def test_what_went_or_is_to_come_is_no_claim(words: str) -> None:
    assert references(words) == ()


def test_a_dead_reference_is_challenged_then_invalidated_then_back(
    memory: Engram, clock: FakeClock, project: Path
) -> None:
    dead, alive = claim(memory, "Sessions live in src/session.py"), claim(memory, "Users come in by login()")
    clock.advance(hours=1)
    report = memory.consolidate(stages=DOUBT)
    assert rules(report) == {dead: "drift.challenge"}
    assert report.decided[0].why == "1 of 1 references dead (1 file)"
    clock.advance(hours=23, minutes=59)
    assert rules(memory.consolidate(stages=DOUBT)) == {}
    clock.advance(minutes=1)
    assert rules(memory.consolidate(stages=DOUBT)) == {dead: "drift.invalidate"}
    assert (now(memory, dead).status, now(memory, alive).status) == (Status.INVALIDATED, Status.ACTIVE)
    (project / "src" / "session.py").write_text("", encoding="utf-8")
    clock.advance(minutes=1)
    assert rules(memory.consolidate(stages=DOUBT)) == {dead: "drift.revive"}
    assert now(memory, dead).status is Status.ACTIVE
    assert memory.consolidate(stages=DOUBT).decided == ()


def test_one_live_reference_keeps_it_from_being_invalidated(memory: Engram, clock: FakeClock) -> None:
    half = claim(memory, "Sessions are in src/session.py and src/auth.py")
    for _ in range(3):
        clock.advance(days=2)
        memory.consolidate(stages=DOUBT)
    assert now(memory, half).status is Status.CHALLENGED


def test_what_a_person_decides_stands(memory: Engram, clock: FakeClock) -> None:
    back, pinned = (
        claim(memory, "Sessions live in src/session.py"),
        claim(memory, "Carts live in src/cart.py"),
    )
    memory.pin(pinned)
    clock.advance(hours=1)
    memory.consolidate(stages=DOUBT)
    memory.restore(back)
    for _ in range(2):
        clock.advance(days=2)
        memory.consolidate(stages=DOUBT)
    assert (now(memory, back).status, now(memory, pinned).status) == (Status.ACTIVE, Status.CHALLENGED)


def test_other_words_are_checked_anew(memory: Engram, clock: FakeClock) -> None:
    one = claim(memory, "Sessions live in src/session.py")
    clock.advance(hours=1)
    memory.consolidate(stages=DOUBT)
    memory.update(one, content="Sessions live in src/auth.py")
    clock.advance(hours=1)
    memory.consolidate(stages=DOUBT)
    assert now(memory, one).status is Status.ACTIVE


def test_a_run_is_taken_back_and_not_done_again(memory: Engram, clock: FakeClock) -> None:
    one = claim(memory, "Sessions live in src/session.py")
    clock.advance(hours=1)
    run = memory.consolidate(stages=DOUBT).run
    memory.undo(run.id)
    clock.advance(days=2)
    memory.consolidate(stages=DOUBT)
    assert now(memory, one).status is Status.ACTIVE


def test_without_a_directory_nothing_is_doubted(clock: FakeClock, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for directory in ("", str(tmp_path / "nowhere"), str(tmp_path / "empty")):
        with opened(clock, doubt__directory=directory) as memory:
            claim(memory, "Sessions live in src/session.py")
            clock.advance(hours=1)
            assert memory.consolidate(stages=DOUBT).decided == ()


def test_only_memories_of_the_project_are_checked(clock: FakeClock, project: Path) -> None:
    with opened(clock, doubt__directory=str(project), doubt__project="app") as memory:
        claim(memory, "Sessions live in src/session.py")
        mine = claim(memory, "Sessions are in src/session.py", Scope(project="app"))
        clock.advance(hours=1)
        assert rules(memory.consolidate(stages=DOUBT)) == {mine: "drift.challenge"}


def test_a_look_shows_the_caller_what_is_dead_and_changes_nothing(memory: Engram, project: Path) -> None:
    one = claim(memory, "The frontend uses React 18.2 and src/auth.py")
    found = memory.drift(str(project))
    assert [(dead.memory, dead.kind, dead.reference, dead.detail) for dead in found.dead] == [
        (one, RefKind.VERSION, "react 18.2", "is 19.1.0")
    ]
    assert (found.memories, found.references, found.files, found.complete) == (1, 2, 3, True)
    assert now(memory, one).status is Status.ACTIVE


def test_applied_it_is_a_run_of_its_own(memory: Engram, clock: FakeClock, project: Path) -> None:
    one = claim(memory, "Sessions live in src/session.py")
    clock.advance(hours=1)
    run = memory.drift(str(project), apply=True).run
    assert run is not None
    assert (run.run.kind, run.changes, now(memory, one).status) == (RunKind.DRIFT, 1, Status.CHALLENGED)
    memory.undo(run.run.id)
    assert now(memory, one).status is Status.ACTIVE


def test_bad_wishes_are_refused(memory: Engram, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        memory.drift(str(tmp_path / "nowhere"))
    with pytest.raises(AccessDenied):
        memory.seen_by(Access(role=Role.AGENT), "agent").drift(str(tmp_path))


def test_beyond_its_limits_a_directory_says_nothing_is_missing(
    clock: FakeClock,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.api.maintenance.FILES_MOST", 1)
    with opened(clock, doubt__directory=str(project)) as memory:
        assert not memory.drift().complete
        claim(memory, "Sessions live in src/session.py")
        assert memory.drift().dead == ()


def test_links_do_not_lead_out(memory: Engram, project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("def hidden_thing(): ...", encoding="utf-8")
    (project / "src" / "link.py").symlink_to(tmp_path / "secret.py")
    place = _landscape(memory)
    assert "hidden_thing" not in place.words
    assert state_of(Reference(RefKind.FILE, "src/link.py"), place)[0] is RefState.DEAD
