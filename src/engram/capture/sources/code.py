"""Code: a folder comes in; for each file what it is for, and for each public symbol what it does, come out.

A function without a word about itself is told of with its file only: its name is all there is to find it by.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engram.capture.sources import files
from engram.capture.sources.files import refused
from engram.errors import InvalidInput
from engram.lazily import dataclass
from engram.model.capture import Found, Item, ItemKind
from engram.model.memory import CONTENT_LIMIT
from engram.text import re

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# ---------------------------------------------------------------- tree
# A source tree: a folder comes in, the files that a person wrote come out, in order.
#
# What `.gitignore` leaves out is left out, also by the one of a folder above, up to the repository's root.
# So are folders of other people's code, and files that are no text or too large to have been written by
# hand.


LARGEST = 1_000_000
"""Bytes of a source file at most: what is larger was made by a machine."""
_IGNORE = ".gitignore"
VENDORED = frozenset(
    """node_modules bower_components vendor third_party third-party site-packages dist-packages venv env
    __pycache__ dist build target out obj coverage htmlcov Pods DerivedData""".split()  # noqa: SIM905 - a sentence
)
"""Folders of code that came from elsewhere or was made by a tool; so are all whose name begins with a dot."""


IgnoreRules: TypeAlias = "tuple[str, GitIgnoreSpec]"
"""A folder and what its `.gitignore` says."""


def walk(folder: Path, suffixes: frozenset[str] | None) -> Iterator[Path]:
    """Every file below with one of the suffixes (None: any), by path. Links are not followed."""
    yield from _walk(folder, suffixes, _above(folder))


def repository(folder: Path) -> Path:
    """The root of the repository that a folder belongs to; the folder itself when there is none."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)


def _above(folder: Path) -> tuple[IgnoreRules, ...]:
    """The rules of the folders above, the nearest last."""
    root = repository(folder)
    between = [parent for parent in folder.parents if parent.is_relative_to(root)]
    return tuple(rules for one in reversed(between) if (rules := _read(one)) is not None)


def _walk(folder: Path, suffixes: frozenset[str] | None, rules: tuple[IgnoreRules, ...]) -> Iterator[Path]:
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


def _is_left_out(path: Path, rules: Sequence[IgnoreRules], *, is_folder: bool) -> bool:
    """Whether the nearest `.gitignore` that speaks of it leaves it out."""
    if is_folder and (path.name in VENDORED or path.name.startswith(".")):
        return True
    name = path.as_posix() + ("/" if is_folder else "")
    verdicts = (spec.check_file(name[len(above) + 1 :]).include for above, spec in reversed(rules))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _read(folder: Path) -> IgnoreRules | None:
    try:
        text = (folder / _IGNORE).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        return None
    from pathspec import GitIgnoreSpec

    rules = GitIgnoreSpec([])
    for line in text.splitlines():
        with suppress(ValueError, re.error):  # a line that makes no sense is passed over
            rules += GitIgnoreSpec.from_lines([line])
    return folder.as_posix().rstrip("/"), rules


# ---------------------------------------------------------------- outline
# What a source file says about itself: its text comes in; purpose, imports and public symbols come out.
#
# Python is parsed. Of other languages only lines are read that cannot mean anything else: a declaration at
# the margin (or, in classes, one step in) and the comment right above it. What is not recognised is left
# out.


LINE_LENGTH = 400
"""Characters of a line that are looked at: nobody declares anything beyond; machines write long lines."""
ONE_CLASS_A_FILE = frozenset({"Java", "C#"})
"""Where a file is its first class, and is told of there."""
_SIGNATURE_LINES = 8
_SIGNATURE_LENGTH = 300
_COMMENT = re.compile(r"^\s*(?://[/!]?|/\*\*?|\*/|\*|#|--)\s?(.*?)(?:\*/)?\s*$")
_IS_COMMENT = re.compile(r"^\s*(?://|/\*|\*|#(?!include|define|if|else|endif|pragma|!|\[)|--)")
_NOT_DOC = re.compile(
    r"copyright|licen[cs]e|spdx|eslint|prettier|@ts-|generated by|coding[:=]|vim:", re.IGNORECASE
)
_PREFACE = re.compile(r"#!|['\"]use |<\?php|package ")
_ANNOTATION = re.compile(r"^\s*(?:@\w|#\[|#!\[|\[\w)")


def outline(text: str, suffix: str) -> Outline:
    """A file in short, by the suffix of its name."""
    language, grammar = LANGUAGES[suffix]
    if language == "Python":
        parsed = outline_python(text)
        if parsed is not None:
            return parsed
    lines = [line[:LINE_LENGTH] for line in text.split("\n")]
    found = {match: None for line in lines for match in _imported(line, grammar)}
    symbols = tuple(_symbols(lines, grammar))
    purpose = _purpose(lines)
    if not purpose and symbols and language in ONE_CLASS_A_FILE:
        purpose = symbols[0].doc
    return Outline(language, purpose, tuple(found), symbols)


def _imported(line: str, grammar: Grammar) -> Iterator[str]:
    for pattern in grammar.imports:
        if match := pattern.match(line):
            yield match[1]
            return


def _symbols(lines: Sequence[str], grammar: Grammar) -> Iterator[Symbol]:
    seen: set[str] = set()
    for place, line in enumerate(lines):
        match = next(
            (found for declaration in grammar.declarations if (found := declaration.match(line))), None
        )
        if match is None or match["name"] in grammar.never or match["name"] in seen:
            continue
        seen.add(match["name"])
        yield Symbol(match["name"], _signature(lines, place), place + 1, _doc_above(lines, place))


def _signature(lines: Sequence[str], place: int) -> str:
    """The declaration up to its body, on one line."""
    said = ""
    for line in lines[place : place + _SIGNATURE_LINES]:
        said = f"{said} {line.strip()}".strip()
        if said.count("(") <= said.count(")"):
            break
    return re.sub(r"\s*(?:\{|=>|;|\bwhere\b).*$", "", " ".join(said.split()))[:_SIGNATURE_LENGTH]


def _doc_above(lines: Sequence[str], place: int) -> str:
    """The first paragraph of the comment that stands right above a line."""
    above = place - 1
    while above >= 0 and _ANNOTATION.match(lines[above]):
        above -= 1
    start = above
    while start >= 0 and _IS_COMMENT.match(lines[start]):
        start -= 1
    return next(_paragraphs(lines[start + 1 : above + 1]), "")


def _purpose(lines: Sequence[str]) -> str:
    """The first comment of a file that says something about it."""
    end = next((place for place, line in enumerate(lines) if not _is_preface(line)), len(lines))
    return next(_paragraphs(lines[:end]), "")


def _is_preface(line: str) -> bool:
    return not line.strip() or bool(_IS_COMMENT.match(line) or _PREFACE.match(line))


def _paragraphs(block: Sequence[str]) -> Iterator[str]:
    """The paragraphs of comments, without their marks, without `@param` and the like, without licences."""
    said: list[str] = []
    closed = False
    for line in (*block, ""):
        match = _COMMENT.match(line) if _IS_COMMENT.match(line) else None
        words = match[1].strip() if match else ""
        ends = not words or words.startswith("@") or line.lstrip().startswith("/*")
        if said and (ends or closed):
            whole = " ".join(said)
            if not _NOT_DOC.search(whole):
                yield whole
            said = []
        closed = line.rstrip().endswith("*/")
        if words.startswith("@"):
            return
        if set(words) - set("*-=/#"):
            said.append(words)


FORMAT = "code"
LISTED = 40
"""Symbols or imports that are named in one memory at most."""


def origin_of(folder: Path) -> str:
    """The key that everything below a folder begins with."""
    return f"{FORMAT}:{folder.resolve().as_posix().rstrip('/')}/"


def read(folder: Path) -> Iterator[Found]:
    """Every file of a source tree and its public symbols."""
    root = folder.resolve()
    above = repository(root)
    for path in walk(root, frozenset(LANGUAGES)):
        origin = f"{FORMAT}:{path.as_posix()}"
        try:
            text = files.read_text(path)
        except InvalidInput as error:
            yield refused(origin, error)
            continue
        if "\0" not in text and text.strip():
            yield from _file(path.relative_to(above).as_posix(), origin, outline(text, path.suffix.lower()))


def _file(path: str, origin: str, short: Outline) -> Iterator[Item]:
    told = () if is_test(path) else tuple(one for one in short.symbols if one.doc or one.members)
    yield _item(origin, path, _about_file(path, short, told), short)
    for symbol in told:
        yield _item(f"{origin}#{symbol.name}", path, _about_symbol(path, symbol), short, symbol)


def _item(origin: str, path: str, text: str, short: Outline, symbol: Symbol | None = None) -> Item:
    details = {"path": path, "language": short.language}
    if symbol is not None:
        details |= {"symbol": symbol.name, "signature": symbol.signature}
    return Item(
        origin,
        text[:CONTENT_LIMIT],
        ItemKind.CODE,
        tags=(short.language.lower(),),
        details=details,
        source="codebase",
    )


def _about_file(path: str, short: Outline, told: tuple[Symbol, ...]) -> str:
    purpose = short.purpose or f"a {short.language} file."
    lines = [f"{path}: {purpose}"]
    if told:
        lines.append(f"Defines {_listed([one.name for one in told])}.")
    bare = [symbol.signature for symbol in short.symbols if symbol not in told]
    if bare and not is_test(path):
        lines.append(f"Also defines {_listed(bare)}.")
    if short.imports:
        lines.append(f"Uses {_listed(list(short.imports))}.")
    return "\n".join(lines)


def _about_symbol(path: str, symbol: Symbol) -> str:
    said = f": {symbol.doc}" if symbol.doc else ""
    lines = [f"{symbol.name} in {path}{said}", symbol.signature]
    return "\n".join([*lines, *(f"- {member}" for member in symbol.members)])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def is_test(path: str) -> bool:
    """Whether a file tests other files: it is remembered, but not function by function.

    >>> is_test("tests/cli/shell.py"), is_test("src/app.spec.ts"), is_test("src/contest.py")
    (True, True, False)
    """
    *folders, name = path.lower().split("/")
    stem = name.split(".")[0]
    marked = any(f".{word}." in name for word in ("test", "spec"))
    inside = bool({"tests", "test", "__tests__", "spec"} & set(folders))
    return inside or marked or stem.startswith("test_") or stem.endswith("_test")


# ---------------------------------------------------------------- symbols
# What is known of a source file: its purpose, what it uses, what it offers.


@dataclass(frozen=True, slots=True)
class Symbol:
    """One public class or function."""

    name: str
    signature: str
    line: int
    doc: str = ""
    members: tuple[str, ...] = ()
    """The public methods of a class, each with its signature and what it does."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A file in short."""

    language: str
    purpose: str = ""
    imports: tuple[str, ...] = ()
    symbols: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """How the lines of a language are told apart. Each declaration's pattern names its symbol `name`."""

    declarations: tuple[re.Pattern[str], ...] = ()
    imports: tuple[re.Pattern[str], ...] = ()
    never: frozenset[str] = field(default_factory=frozenset)
    """Words that look like a function's name and are none."""


def _grammar(declarations: Sequence[str], imports: Sequence[str], never: str = "") -> Grammar:
    return Grammar(
        tuple(map(re.compile, declarations)), tuple(map(re.compile, imports)), frozenset(never.split())
    )


_SCRIPT = _grammar(
    [
        (
            r"(?:export\s+)?(?:default\s+)?(?:(?:declare|abstract|async)\s+)*"
            r"(?:function\*?|class|interface|enum)\s+(?P<name>[A-Za-z$][\w$]*)"
        ),
        r"export\s+(?:const|let)\s+(?P<name>[A-Za-z$][\w$]*)\b[^=]*=\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)",
        r"export\s+type\s+(?P<name>[A-Za-z$][\w$]*)",
        r"(?:module\.)?exports\.(?P<name>[A-Za-z$][\w$]*)\s*=\s*(?:async\s*)?(?:\(|function\b)",
    ],
    [
        r"import\s.*?from\s+['\"]([^'\"]+)['\"]",
        r"import\s+['\"]([^'\"]+)['\"]",
        r".*?\brequire\(['\"]([^'\"]+)['\"]\)",
    ],
)
_GO = _grammar(
    [
        r"func\s+(?:\([^)]*\)\s*)?(?P<name>[A-Z]\w*)\s*[(\[]",
        r"type\s+(?P<name>[A-Z]\w*)\s+(?:struct|interface|func|map|\w|\[|\*)",
    ],
    [r"import\s+(?:\w+\s+)?\"([^\"]+)\"", r"\t(?:[\w.]+\s+)?\"([\w./-]+)\"$"],
)
_RUST = _grammar(
    [
        (
            r"(?:    )?pub(?:\([^)]*\))?\s+(?:(?:async|unsafe|const|extern\s+\"C\")\s+)*"
            r"(?:fn|struct|enum|trait|type|union)\s+(?P<name>\w+)"
        )
    ],
    [r"(?:pub\s+)?use\s+([\w:]+)"],
)
_JAVA = _grammar(
    [
        r"(?:public\s+)(?:(?:abstract|final|static|sealed|partial)\s+)*(?:class|interface|enum|record|struct)\s+(?P<name>\w+)",
        (
            r"(?:\t| {2,4})public\s+(?:(?:abstract|final|static|synchronized|override|virtual|async)\s+)*"
            r"(?:<[^>]+>\s+)?[\w<>\[\],.?]+\s+(?P<name>[A-Za-z]\w*)\s*\("
        ),
    ],
    [r"import\s+(?:static\s+)?([\w.]+)", r"using\s+([\w.]+);"],
)
_C = _grammar(
    [
        r"(?:typedef\s+)?(?:struct|class|enum(?:\s+class)?|union|namespace)\s+(?P<name>[A-Za-z]\w*)\s*(?::[^{;]*)?\{?$",
        r"(?!static\b|typedef\b)[A-Za-z_][\w\s*&:<>,]*?[\s*&](?P<name>[A-Za-z]\w*(?:::~?\w+)?)\s*\((?!\*)[^;={]*\)?\s*(?:const)?\s*[;{]?$",
    ],
    [r"#\s*include\s+[<\"]([^>\"]+)[>\"]"],
    never="if for while switch return else sizeof catch defined do case new delete throw",
)
_NONE = Grammar()

LANGUAGES: dict[str, tuple[str, Grammar]] = {
    ".py": ("Python", _NONE), ".pyi": ("Python", _NONE),
    ".js": ("JavaScript", _SCRIPT), ".jsx": ("JavaScript", _SCRIPT), ".mjs": ("JavaScript", _SCRIPT),
    ".cjs": ("JavaScript", _SCRIPT), ".ts": ("TypeScript", _SCRIPT), ".tsx": ("TypeScript", _SCRIPT),
    ".go": ("Go", _GO), ".rs": ("Rust", _RUST), ".java": ("Java", _JAVA), ".cs": ("C#", _JAVA),
    ".c": ("C", _C), ".h": ("C", _C), ".cc": ("C++", _C), ".cpp": ("C++", _C), ".cxx": ("C++", _C),
    ".hpp": ("C++", _C), ".hh": ("C++", _C), ".rb": ("Ruby", _NONE), ".php": ("PHP", _NONE),
    ".kt": ("Kotlin", _NONE), ".swift": ("Swift", _NONE), ".scala": ("Scala", _NONE), ".lua": ("Lua", _NONE),
    ".sh": ("Shell", _NONE), ".sql": ("SQL", _NONE),
}  # fmt: skip
"""By suffix: the language, and how its lines are read. Without a grammar a file has only its purpose."""


# ---------------------------------------------------------------- python
# Python, parsed: the docstrings and signatures of what is public. Nothing is ever imported or run.


_FIRST = re.compile(r"^(.+?[.!?。])(?=\s|$)", re.DOTALL)
PURPOSE_LENGTH = 800
"""Characters of a module's docstring that are kept."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def outline_python(text: str) -> Outline | None:
    """The outline of a module; None when it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # somebody else's odd escapes are not ours to warn about
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Outline("Python", _python_purpose(tree), tuple(_imports(tree)), tuple(_python_symbols(tree)))


def _python_purpose(tree: ast.Module) -> str:
    """The module's docstring as far as it is short: further down it often tells how and why."""
    whole = " ".join((ast.get_docstring(tree) or "").split())
    if len(whole) <= PURPOSE_LENGTH:
        return whole
    end = whole.rfind(". ", 0, PURPOSE_LENGTH)
    return whole[: end + 1] if end > 0 else whole[:PURPOSE_LENGTH]


def paragraph(doc: str | None) -> str:
    r"""The first paragraph of a docstring on one line.

    >>> paragraph("Sums up.\n\n    Slowly."), paragraph(None)
    ('Sums up.', '')
    """
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def _imports(tree: ast.Module) -> Iterator[str]:
    found: dict[str, None] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            found["." * node.level + (node.module or "")] = None
    yield from found


def _python_symbols(tree: ast.Module) -> Iterator[Symbol]:
    """Public classes and functions; of several with one name (overloads) the last, which does the work."""
    public = (one for one in tree.body if isinstance(one, Function | ast.ClassDef))
    by_name = {one.name: one for one in public if not one.name.startswith("_")}
    for node in by_name.values():
        members = tuple(_members(node)) if isinstance(node, ast.ClassDef) else ()
        yield Symbol(
            node.name, _python_signature(node), node.lineno, paragraph(ast.get_docstring(node)), members
        )


def _members(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, Function) and not inner.name.startswith("_"):
            said = _FIRST.match(paragraph(ast.get_docstring(inner)))
            yield _short(inner) + (f": {said[1]}" if said else "")


def _python_signature(node: Function | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){gives}"


def _short(node: Function) -> str:
    """A method's name and the names of its arguments: enough to see what it takes."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    names = [one.arg for one in given if one.arg not in ("self", "cls")]
    return f"{node.name}({', '.join(names)})"
