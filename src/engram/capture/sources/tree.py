"""A source tree: a folder comes in, the files that a person wrote come out, in order.

What `.gitignore` leaves out is left out, also by the one of a folder above, up to the repository's root. So
are folders of other people's code, and files that are no text or too large to have been written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LARGEST = 1_000_000
"""Bytes of a source file at most: what is larger was made by a machine."""
_IGNORE = ".gitignore"
VENDORED = frozenset(
    """node_modules bower_components vendor third_party third-party site-packages dist-packages venv env
    __pycache__ dist build target out obj coverage htmlcov Pods DerivedData""".split()  # noqa: SIM905 - a sentence
)
"""Folders of code that came from elsewhere or was made by a tool; so are all whose name begins with a dot."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a `.gitignore`."""

    pattern: re.Pattern[str]
    negated: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of one `.gitignore` and the folder they are about."""

    folder: Path
    rules: tuple[Rule, ...]

    def verdict(self, path: Path, *, is_folder: bool) -> bool | None:
        """Whether the last line that fits leaves the path out; None when no line fits."""
        relative = path.relative_to(self.folder).as_posix()
        for rule in reversed(self.rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(relative):
                return not rule.negated
        return None


def walk(folder: Path, suffixes: frozenset[str] | None) -> Iterator[Path]:
    """Every file below with one of the suffixes (None: any), by path. Links are not followed."""
    yield from _walk(folder, suffixes, _above(folder))


def repository(folder: Path) -> Path:
    """The root of the repository that a folder belongs to; the folder itself when there is none."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def _above(folder: Path) -> tuple[Rules, ...]:
    """The rules of the folders above, the nearest last."""
    root = repository(folder)
    between = [one for one in folder.parents if one.is_relative_to(root)]
    return tuple(rules for one in reversed(between) if (rules := _read(one)) is not None)


def _walk(folder: Path, suffixes: frozenset[str] | None, rules: tuple[Rules, ...]) -> Iterator[Path]:
    own = _read(folder)
    rules = rules if own is None else (*rules, own)
    for path in sorted(folder.iterdir(), key=lambda one: one.name):
        is_folder = path.is_dir()
        if path.is_symlink() or _is_left_out(path, rules, is_folder=is_folder):
            continue
        if is_folder:
            yield from _walk(path, suffixes, rules)
        elif not path.is_file():
            continue  # a device or a pipe may never end
        elif (suffixes is None or path.suffix.lower() in suffixes) and path.stat().st_size <= LARGEST:
            yield path


def _is_left_out(path: Path, rules: Sequence[Rules], *, is_folder: bool) -> bool:
    if is_folder and (path.name in VENDORED or path.name.startswith(".")):
        return True
    verdicts = (one.verdict(path, is_folder=is_folder) for one in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _read(folder: Path) -> Rules | None:
    try:
        text = (folder / _IGNORE).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        return None
    return Rules(folder, parse(text))


def parse(text: str) -> tuple[Rule, ...]:
    r"""The lines of a `.gitignore`.

    >>> [rule.pattern.pattern for rule in parse("# made\n*.log\n/out\ndocs/**/gen/\n")]
    ['(?:.*/)?[^/]*\\.log', 'out', 'docs/(?:.*/)?gen']
    """
    return tuple(rule for line in text.splitlines() if (rule := _rule(line)) is not None)


def _rule(line: str) -> Rule | None:
    bare = line.rstrip() if not line.endswith("\\ ") else line.rstrip("\n")
    if not bare or bare.startswith("#"):
        return None
    negated = bare.startswith("!")
    bare = bare[negated:].removeprefix("\\")
    folders_only, bare = bare.endswith("/"), bare.rstrip("/")
    if not bare:
        return None
    anchored, bare = "/" in bare, bare.removeprefix("/")
    pattern = ("" if anchored else "(?:.*/)?") + _translated(bare)
    try:
        return Rule(re.compile(pattern), negated, folders_only)
    except re.error:
        return None


_TOKEN = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[!?[^\]]+\]|\\.|.", re.DOTALL)


def _translated(glob: str) -> str:
    def one(match: re.Match[str]) -> str:
        token = match[0]
        known = {"**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]"}
        if token in known:
            return known[token]
        if token.startswith("*"):
            return "[^/]*"
        if token.startswith("[") and len(token) > 1:
            return "[^" + token[2:] if token.startswith("[!") else token
        return re.escape(token[-1])

    return _TOKEN.sub(one, glob)
