"""Plain text as people keep it: front matter, list items, and the marks around two versions of one thing.

Whatever is not understood is left as it stands, line for line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engram.lazily import dataclass

FENCE = "---"
OURS, MIDDLE, THEIRS = "<<<<<<< in this file", "=======", ">>>>>>> in the memory"
_KEY = re.compile(r"^([A-Za-z_][\w.-]*):(?:[ \t](.*))?$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?$")
_PLAIN = re.compile(r"[A-Za-z0-9_/.@+](?:[\w/.@+ ()=,;-]|:(?=\S))*$")
_WORDS = {"true": True, "false": False, "null": None, "~": None}
_SLUG = re.compile(r"[^\w]+")


# ---------------------------------------------------------------- front matter


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The lines between the fences: each key with the lines it takes, in order."""

    blocks: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def values(self) -> dict[str, Any]:
        """Each key with its value: text, numbers, truth values, lists, and lists of small objects."""
        return {key: _value(lines) for key, lines in self.blocks if key}

    def with_values(self, values: Mapping[str, Any]) -> FrontMatter:
        """The same with these values set, or taken out where they are None; all others stay as written."""
        blocks: list[tuple[str, tuple[str, ...]]] = []
        left = dict(values)
        mine = self.values()
        for key, lines in self.blocks:
            if key not in left:
                blocks.append((key, lines))
                continue
            value = left.pop(key)
            if value is not None:
                blocks.append((key, lines if mine.get(key) == value else _lines(key, value)))
        blocks += [(key, _lines(key, value)) for key, value in left.items() if value is not None]
        return FrontMatter(tuple(blocks))

    @property
    def lines(self) -> list[str]:
        """As it is written, with its fences."""
        return [FENCE, *(line for _, lines in self.blocks for line in lines), FENCE]


def split_front(text: str) -> tuple[FrontMatter | None, str]:
    r"""The front matter of a text and what follows it; None when there is none.

    >>> front, body = split_front("---\nid: fact-1\ntags: [a, b]\n---\n\nHello.")
    >>> front.values(), body
    ({'id': 'fact-1', 'tags': ['a', 'b']}, 'Hello.')
    """
    lines = text.split("\n")
    if not lines or lines[0].rstrip() != FENCE:
        return None, text
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == FENCE), None)
    if end is None:
        return None, text
    blocks: list[tuple[str, list[str]]] = []
    for line in lines[1:end]:
        match = _KEY.match(line)
        if match:
            blocks.append((match[1], [line]))
        elif blocks:
            blocks[-1][1].append(line)
        else:
            blocks.append(("", [line]))
    front = FrontMatter(tuple((key, tuple(block)) for key, block in blocks))
    return front, "\n".join(lines[end + 1 :]).lstrip("\n")


def _value(lines: Sequence[str]) -> Any:
    match = _KEY.match(lines[0])
    first = (match[2] or "").strip() if match else ""
    more = [line for line in lines[1:] if line.strip()]
    if first in ("|", ">", "|-", ">-"):
        return ("\n" if first[0] == "|" else " ").join(line.strip() for line in more)
    return scalar(first) if first or not more else _items(more)


def _items(lines: Sequence[str]) -> Any:
    """A block list: of words, or of small objects."""
    items: list[Any] = []
    for line in lines:
        bare = line.strip()
        if bare.startswith("- "):
            inner = _KEY.match(bare[2:].strip())
            items.append({inner[1]: scalar((inner[2] or "").strip())} if inner else scalar(bare[2:].strip()))
        elif items and isinstance(items[-1], dict) and (inner := _KEY.match(bare)):
            items[-1][inner[1]] = scalar((inner[2] or "").strip())
        else:
            return "\n".join(each.strip() for each in lines)
    return items


def scalar(text: str) -> Any:
    """A value as it stands behind a key.

    >>> [scalar(text) for text in ("0.9", "true", '"a: b"', "[x, y]", "2026-01-28", "it's")]
    [0.9, True, 'a: b', ['x', 'y'], '2026-01-28', "it's"]
    """
    if text.startswith("[") and text.endswith("]"):
        return _inline(text)
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return json.loads(text)
        except ValueError:
            return text[1:-1].replace('\\"', '"')
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    return _WORDS.get(text.lower(), text) if text.lower() in _WORDS else text


def _inline(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        inside = text[1:-1].strip()
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^,]+', inside)
        return [scalar(part.strip()) for part in parts if part.strip()]


def _lines(key: str, value: Any) -> tuple[str, ...]:
    if (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and any(isinstance(v, Mapping) for v in value)
    ):
        lines = [f"{key}:"]
        for item in value:
            pairs = [f"{name}: {written(inner)}" for name, inner in dict(item).items()]
            lines += [f"  - {pairs[0]}", *(f"    {pair}" for pair in pairs[1:])]
        return tuple(lines)
    return (f"{key}: {written(value)}",)


def written(value: Any) -> str:
    """A value as it is written behind a key."""
    if isinstance(value, str):
        bare = _PLAIN.match(value) and value == value.strip() and scalar(value) == value
        return value if bare else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


# ---------------------------------------------------------------- two versions


def conflict_text(here: str, there: str, beside: str = "") -> str:
    """Two versions of one text, for a person to choose from; `beside` says what else differs there."""
    tail = f"{THEIRS} ({beside})" if beside else THEIRS
    return f"{OURS}\n{here}\n{MIDDLE}\n{there}\n{tail}"


def is_marked(text: str) -> bool:
    """Whether two versions stand in a text, as `both` writes them or as git does.

    >>> is_marked(conflict_text("blue", "green")), is_marked("a <<<<<<< b")
    (True, False)
    """
    lines = text.split("\n")
    return any(line.lstrip("- ").startswith("<<<<<<<") for line in lines) and any(
        line.lstrip("- ").startswith(">>>>>>>") for line in lines
    )


def own_lines(base: str, here: str, fresh: str, heading: str = "## Notes") -> str:
    r"""A page that is made anew, with the lines somebody added to the former one kept under a heading.

    >>> print(own_lines("# Pack\n- a", "# Pack\n- a\nmine", "# Pack\n- b"))
    # Pack
    - b
    <BLANKLINE>
    ## Notes
    mine
    """
    former = set(base.split("\n"))
    added = [line for line in here.split("\n") if line.strip() and line not in former and line != heading]
    own = [line for line in added if line not in fresh.split("\n")]
    if not own:
        return fresh
    return "\n".join([fresh.rstrip("\n"), "", heading, *own])


def slug(words: str, longest: int = 60) -> str:
    """Words as the name of a file.

    >>> slug("Client X: budget (2026)"), slug("  ")
    ('client-x-budget-2026', 'untitled')
    """
    name = _SLUG.sub("-", words.casefold()).strip("-_")[:longest].strip("-_")
    return name or "untitled"
