from __future__ import annotations

from pathlib import Path

from engram.capture.sources import code
from engram.capture.sources.code import LANGUAGES, outline
from engram.model.capture import Item, ItemReport
from tests.sources.conftest import written
from tests.tables import every

SAMPLES = Path(__file__).parent / "samples"


def walked(root: Path) -> list[str]:
    found = code.walk(root, frozenset({".py", ".log"}))
    return [path.relative_to(root).as_posix() for path in found]


def test_a_tree_is_walked_as_git_sees_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    written(
        tmp_path / ".gitignore",
        "# made\n*.log\n!keep.log\n/top.py\nlib/**/gen/\nsecret?.py\n[ab].py\n\\#x.py\n",
    )
    written(tmp_path / "pkg" / ".gitignore", "local.py\n")
    for name in (
        "a.py", "c.py", "top.py", "run.log", "keep.log", "secret1.py", "#x.py", "pkg/top.py", "pkg/local.py",
        "lib/x/gen/out.py", "lib/gen/out.py", "lib/gen.py", "node_modules/m.py", ".venv/v.py", "pkg/b.py",
        "image.png", "docs/gen/fine.py",
    ):  # fmt: skip
        written(tmp_path / name, "x = 1\n")

    assert walked(tmp_path) == ["c.py", "docs/gen/fine.py", "keep.log", "lib/gen.py", "pkg/top.py"]
    assert walked(tmp_path / "pkg") == ["top.py"], "the rules of the folders above hold"


def test_links_and_large_files_are_left_out(tmp_path: Path) -> None:
    written(tmp_path / "big.py", "#" * (code.LARGEST + 1))
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    written(tmp_path / "small.py", "x = 1")

    assert walked(tmp_path) == ["small.py"]


def test_rules_that_make_no_sense_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path / ".gitignore", "/\n!\n\n# a\n[z-a]\nb.py\n")
    for name in ("a.py", "b.py"):
        written(tmp_path / name, "x = 1")

    assert walked(tmp_path) == ["a.py"]


PYTHON = '''"""What this is for.

And how it goes about it.
"""
from __future__ import annotations
import os, json
from . import near
from far.away import thing

@overload
def join(a: int) -> int: ...
def join(a, *, by: str = ",") -> str:
    """Puts pieces together.

    Slowly.
    """
def _hidden(): "no"
class Box(Base):
    """Holds things."""
    def put(self, thing: str, *, twice=False) -> None:
        """Puts one in. More words."""
    def _inner(self): ...
def bare(x): ...
'''


def test_python_is_parsed() -> None:
    found = outline(PYTHON, ".py")

    assert found.purpose == "What this is for. And how it goes about it."
    assert found.imports == ("os", "json", ".", "far.away")
    join, box, bare = found.symbols
    assert (join.signature, join.doc) == ("def join(a, *, by: str=',') -> str", "Puts pieces together.")
    assert (box.signature, box.members) == ("class Box(Base)", ("put(thing, twice): Puts one in.",))
    assert (bare.name, bare.doc) == ("bare", "")


def test_python_that_cannot_be_parsed_still_has_a_purpose() -> None:
    assert outline("# Reads mail.\nprint 'old'\n", ".py").purpose == "Reads mail."


@every(
    ("name", "purpose", "symbols", "imports"),
    [
        (
            "page.ts",
            "Talks to the server.",
            {"fetchPage": "Fetches a page.", "run": "", "Page": ""},
            ("./a",),
        ),
        (
            "store.go",
            "Package store keeps rows.",
            {"Get": "Get finds one row. It may be slow.", "Row": ""},
            ("fmt", "a/b"),
        ),
        ("day.rs", "Parses dates.", {"Day": "A day.", "next": "The next day."}, ("std::io",)),
        (
            "Counter.java",
            "Counts words.",
            {"Counter": "Counts words.", "add": "Adds one."},
            ("java.util.List",),
        ),
        ("sort.c", "Sorts numbers.", {"sort": "Sorts in place.", "point": ""}, ("stdio.h", "mine.h")),
        ("start.sh", "Starts the server.", {}, ()),
    ],
)
def test_other_languages_are_read_by_their_lines(
    name: str, purpose: str, symbols: dict[str, str], imports: tuple[str, ...]
) -> None:
    path = SAMPLES / name
    found = outline(path.read_text(encoding="utf-8"), path.suffix)

    assert found.purpose == purpose
    assert {one.name: one.doc for one in found.symbols} == symbols
    assert found.imports == imports


def test_a_signature_may_go_over_several_lines() -> None:
    found = outline((SAMPLES / "page.ts").read_text(encoding="utf-8"), ".ts")

    assert found.symbols[0].signature == (
        "export async function fetchPage( url: string, again = false, ): Promise<Page>"
    )


@every("suffix", sorted(LANGUAGES))
def test_a_line_without_end_is_no_trouble(suffix: str) -> None:
    outline("a b*c&" * 100_000 + "(", suffix)


def test_a_file_tells_what_it_is_for_and_each_symbol_what_it_does(tmp_path: Path) -> None:
    written(tmp_path / "src" / "box.py", PYTHON)
    written(tmp_path / "tests" / "test_box.py", '"""Boxes hold."""\ndef test_it():\n    """It holds."""\n')
    found = {one.origin.rpartition("/")[2]: one for one in code.read(tmp_path) if isinstance(one, Item)}

    assert list(found) == ["box.py", "box.py#join", "box.py#Box", "test_box.py"]
    assert found["box.py"].text == (
        "src/box.py: What this is for. And how it goes about it.\n"
        "Defines join, Box.\nAlso defines def bare(x).\nUses os, json, ., far.away."
    )
    assert found["box.py#Box"].text == (
        "Box in src/box.py: Holds things.\nclass Box(Base)\n- put(thing, twice): Puts one in."
    )
    assert found["box.py#join"].details == {
        "path": "src/box.py", "language": "Python", "symbol": "join",
        "signature": "def join(a, *, by: str=',') -> str",
    }  # fmt: skip


def test_a_file_that_is_no_text_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path / "a.py", b"# caf\xe9\n")
    written(tmp_path / "b.py", b"x = 1\x00\n")
    written(tmp_path / "c.py", '"""Fine."""\n')
    found = list(code.read(tmp_path))

    assert [(type(one).__name__, Path(one.origin).name) for one in found] == [
        ("ItemReport", "a.py"),
        ("Item", "c.py"),
    ]
    assert isinstance(found[0], ItemReport)
    assert found[0].code == "E2006"
