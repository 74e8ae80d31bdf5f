"""The documents are true: the reference is fresh, and everything public is told somewhere."""

from __future__ import annotations

import ast
import asyncio
import doctest
import importlib
import inspect
import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import pytest

import engram
from engram.cli.app import app
from scripts import reference
from tests.tables import every

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
"""Pages whose examples run one after the other. What needs a server is marked `py`, not `python`."""


def _with_examples() -> dict[str, list[str]]:
    """Modules whose docstrings show examples, by package."""
    found: dict[str, list[str]] = defaultdict(list)
    for base in (ROOT / "src", ROOT):
        for path in sorted((base / ("engram" if base.name == "src" else "tests")).rglob("*.py")):
            if re.search(r"^ +>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
                parts = path.relative_to(base).with_suffix("").parts
                found[parts[1]].append(".".join(part for part in parts if part != "__init__"))
    return found


EXAMPLES = _with_examples()


def test_the_reference_says_what_the_code_says() -> None:
    stale = [path.name for path, text in reference.pages().items() if not reference.is_fresh(path, text)]

    assert stale == [], "run `make docs`"


def test_every_public_name_is_documented() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = set(re.findall(r"\w+", " ".join(page.read_text(encoding="utf-8") for page in pages)))

    assert [name for name in engram.__all__ if name not in told and name != "__version__"] == []


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    pages += [page for folder in ("docs", "benchmarks") for page in (ROOT / folder).rglob("*.md")]
    broken = [
        f"{page.name}: {target}{heading}"
        for page in pages
        for target, heading in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not leads_somewhere(page.parent / target if target else page, heading)
    ]

    assert broken == []


def leads_somewhere(page: Path, heading: str) -> bool:
    """Whether there is such a file, and in it such a heading as GitHub spells it: `#open-a-memory`."""
    if not heading or not page.exists():
        return page.exists()
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return heading[1:] in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_every_command_that_a_guide_shows_is_understood() -> None:
    told = [
        f"{guide.name}: {line}: {error}"
        for guide in GUIDES
        for line in commands_of(guide.read_text(encoding="utf-8"))
        if (error := misunderstood(shlex.split(line)[1:]))
    ]

    assert told == []


def commands_of(text: str) -> list[str]:
    """What a page shows to be typed, but for what has an ellipsis or a choice in it."""
    blocks = "\n".join(re.findall(r"^```(?:console|sh)?\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    shown = re.findall(r"^(?:\$ |.*\| )?(engram .*)", blocks, flags=re.MULTILINE)
    shown += re.findall(r"`(engram [^`\n]+)`", text)
    lines = [re.split(r"\s+#|\s[|<>]\s", line)[0] for line in shown]
    return [line for line in lines if "…" not in line and "[" not in line]


def misunderstood(words: list[str]) -> str:
    """What is wrong with a command but for what it lacks: no such command or option, a word too many."""
    command: click.Command = app
    name, context = "engram", None
    try:
        while True:
            context = command.make_context(name, list(words), parent=context)
            words = [*getattr(context, "_protected_args", ()), *context.args]
            if not isinstance(command, click.Group) or not words:
                return ""
            found, below, words = command.resolve_command(context, words)
            if below is None:
                return "no such command"
            name, command = found or "", below
    except (click.BadParameter, click.exceptions.NoArgsIsHelpError, click.exceptions.Exit):
        return ""  # a file that is not there, a word that has to be filled in
    except click.UsageError as error:
        return error.format_message()


@every("package", EXAMPLES)
def test_every_example_of_a_docstring_is_true(package: str) -> None:
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    for name in EXAMPLES[package]:
        for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name)):
            runner.run(test, out=told.append)

    assert runner.tries > 0
    assert runner.failures == 0, "".join(told)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_every_example_of_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ENGRAM_FILE", str(tmp_path / "own.db"))
    (tmp_path / "notes.md").write_text("# House\n\nThe boiler was serviced in May 2025.\n", encoding="utf-8")
    (tmp_path / "src").mkdir()
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    here: dict[str, Any] = {}
    try:
        for block in blocks:
            code = compile(block, guide.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            awaited = eval(code, here)  # what awaits something is a coroutine
            if inspect.iscoroutine(awaited):
                asyncio.run(awaited)
    finally:
        memory = here.get("memory")
        if isinstance(memory, engram.Engram):
            memory.close()
