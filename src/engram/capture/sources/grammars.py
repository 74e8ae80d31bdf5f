"""How the lines of each language are told apart: patterns for declarations at the margin and for imports.

They recognise only what cannot mean anything else; what they miss is left out, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


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
