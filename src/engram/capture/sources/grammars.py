"""How the lines of each language are told apart: patterns for declarations at the margin and for imports.

They recognise only what cannot mean anything else; what they miss is left out, never guessed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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
        ),
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
    return Outline("Python", _purpose(tree), tuple(_imports(tree)), tuple(_symbols(tree)))


def _purpose(tree: ast.Module) -> str:
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


def _symbols(tree: ast.Module) -> Iterator[Symbol]:
    """Public classes and functions; of several with one name (overloads) the last, which does the work."""
    public = (one for one in tree.body if isinstance(one, Function | ast.ClassDef))
    by_name = {one.name: one for one in public if not one.name.startswith("_")}
    for node in by_name.values():
        members = tuple(_members(node)) if isinstance(node, ast.ClassDef) else ()
        yield Symbol(node.name, _signature(node), node.lineno, paragraph(ast.get_docstring(node)), members)


def _members(node: ast.ClassDef) -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, Function) and not inner.name.startswith("_"):
            said = _FIRST.match(paragraph(ast.get_docstring(inner)))
            yield _short(inner) + (f": {said[1]}" if said else "")


def _signature(node: Function | ast.ClassDef) -> str:
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
