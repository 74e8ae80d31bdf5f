"""The project keeps its promises: clean files, locked packages, a light import, small pages."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from engram._version import __version__
from tests.syntax import SOURCE, trees, walked
from tests.tables import every

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
HEAVY = ("numpy", "httpx", "apsw", "rich", "click", "onnxruntime", "tokenizers")

# Where a broad `except` may stand: the doors, the loop of the thread that writes,
# and where a library is opened whose errors share no other class.
MAY_CATCH_ALL = (
    "plugins.py",  # whatever the module of a stranger raises while it is imported
    "cli/",
    "server/guard.py",
    "server/mcp/tools.py",
    "server/proxy/",
    "store/sqlite/writer.py",
    "embed/transformer.py",
)

# Written so that no pattern finds itself. The Makefile asks for "no emit" of an address: that is none.
UNWANTED = (
    re.compile(r"/(?:work|root|farm|tmp)/"),
    re.compile(r"(?<!emit-)index[-]url"),
    re.compile(r"https?://[^\s\"')]+/simple\b"),
    re.compile(r"\b(?:pypi\.org|pythonhosted\.org)\b"),
)


def tracked(folder: str = ".") -> list[Path]:
    """The files that belong to the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", folder], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_no_file_names_a_machine_or_a_registry() -> None:
    assert list(unwanted(tracked())) == []


def unwanted(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights and the like
        if not any(rule.search(text) for rule in UNWANTED):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield from (
                f"{path.name}:{number}: {found[0]}" for rule in UNWANTED if (found := rule.search(line))
            )


def test_the_check_sees_unwanted_names(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("fine\n--index_url x\n".replace("_", "-"), encoding="utf-8")

    assert [found.rpartition(":")[0] for found in unwanted([file])] == ["notes.txt:2"]


def requirements(lock: str) -> dict[str, str]:
    """Each locked package and what is said of it: its version and hashes."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = re.findall(r"^(\S+?)==([^\\\n]+(?:\\\n[^\\\n]+)*)", text, flags=re.MULTILINE)
    assert len(entries) == len(re.findall(r"^\S", text, flags=re.MULTILINE)), "a line is no pinned package"
    return dict(entries)


@every("lock", LOCKS)
def test_every_locked_package_has_hashes_and_no_address(lock: str) -> None:
    assert "://" not in (ROOT / lock).read_text(encoding="utf-8")
    assert [name for name, rest in requirements(lock).items() if "--hash=sha256:" not in rest] == []


def test_both_locks_choose_the_same_versions() -> None:
    base, dev = (requirements(lock) for lock in LOCKS)

    assert {name: rest for name, rest in base.items() if dev.get(name) != rest} == {}


def test_the_locks_hold_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wishes = [Requirement(wish) for wish in project["dependencies"]]
    asked = [wish.name.lower() for wish in wishes if wish.marker is None or wish.marker.evaluate()]

    assert [name for name in asked if name not in requirements("requirements.lock")] == []


def test_importing_engram_brings_nothing_heavy() -> None:
    code = f"import sys, engram; print([name for name in {HEAVY!r} if name in sys.modules])"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert answer.stdout.strip() == "[]"


def test_there_is_one_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert importlib.metadata.version("engram-cortex") == __version__
    assert "## [Unreleased]" in changelog or f"## [{__version__}]" in changelog


@every("host", ["192.0.2.1", "memory.example", "2001:db8::1"])
def test_tests_cannot_reach_another_machine(host: str) -> None:
    with pytest.raises(RuntimeError, match="this machine only"):
        socket.create_connection((host, 80), timeout=1)


@every("host", ["127.0.0.1", "localhost"])
def test_tests_can_reach_this_machine(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()


def test_every_module_says_what_it_is() -> None:
    assert [name for name, tree in trees(SOURCE).items() if not ast.get_docstring(tree)] == []


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for place, tree in trees(SOURCE).items():
        for node in walked(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(place)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_broad_handlers_stand_only_where_a_failure_becomes_an_answer() -> None:
    found = [f"{name}:{line}" for name, tree in trees(SOURCE).items() for line in broad_handlers(tree)]

    assert [place for place in found if not place.startswith(MAY_CATCH_ALL)] == []


def broad_handlers(tree: ast.AST) -> list[int]:
    """The lines that catch everything, whatever it is, and keep it: to clean up and raise again is fine."""
    lines = []
    for node in walked(tree):
        match node:
            case ast.ExceptHandler(body=[*_, ast.Raise(exc=None)]):
                continue
            case ast.ExceptHandler(type=None):
                lines.append(node.lineno)
            case (
                ast.ExceptHandler(type=ast.AST() as caught)
                | ast.Call(func=ast.Name(id="suppress"), args=[caught])
            ):
                names = {name.id for name in ast.walk(caught) if isinstance(name, ast.Name)}
                lines += [node.lineno] if names & {"Exception", "BaseException"} else []
    return lines


@every(
    "code",
    [
        "try: f()\nexcept: pass",
        "try: f()\nexcept Exception: pass",
        "try: f()\nexcept (KeyError, BaseException) as error: pass",
        "with a: pass\nwith suppress(Exception): f()",
    ],
)
def test_the_check_sees_a_broad_handler(code: str) -> None:
    assert broad_handlers(ast.parse(code)) == [2]


@every("handler", ["except (KeyError, OSError): pass", "except BaseException: undo(); raise"])
def test_a_handler_that_is_narrow_or_raises_again_is_fine(handler: str) -> None:
    assert broad_handlers(ast.parse(f"try: f()\n{handler}")) == []


# Lists of one kind of thing, in one place: settings, errors.
LONGEST = {"config.py": 1_400, "errors.py": 700}


def test_files_stay_readable() -> None:
    paths = [path for folder in ("src", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    by_hand = {name: text for name, text in texts.items() if not text.startswith("# Written by scripts/")}
    lengths = {name: len(text.splitlines()) for name, text in by_hand.items()}

    assert {name: length for name, length in lengths.items() if length > LONGEST.get(name, 850)} == {}


def test_functions_stay_readable() -> None:
    lengths = {
        f"{name}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for folder in (SOURCE, ROOT / "tests", ROOT / "scripts")
        for name, tree in trees(folder).items()
        for node in functions(tree)
    }

    assert {name: length for name, length in lengths.items() if length > 80} == {}


def functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a module, also those in classes and in each other."""
    for inner in getattr(node, "body", ()):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner
        yield from functions(inner)


@pytest.mark.slow
def test_the_wheel_carries_every_file_of_the_package(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    wheel = zipfile.ZipFile(next(tmp_path.glob("*.whl")))
    with wheel:
        inside = set(wheel.namelist())
        commands = wheel.read(f"engram_cortex-{__version__}.dist-info/entry_points.txt").decode()

    ours = {path.relative_to(ROOT / "src").as_posix() for path in tracked("src/engram")}
    assert ours - inside == set()
    assert "engram/py.typed" in inside
    assert "engram = engram.cli:main" in commands
