"""Markdown: a paragraph or a list item comes out as one item that knows the headings above it.

Code blocks, tables' rules, comments and images are left out; front matter gives tags, a title and a date.

Results too: what a session, a task, a flow or a search came to comes in as words. That of a task or a flow is
told in one piece, with how it ended: "what went wrong last time" is asked as often as "what is known".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from engram.errors import EmptyContent, UnknownValue, WrongType
from engram.lazily import dataclass
from engram.model.capture import Item, ItemKind
from engram.model.clock import written_moment
from engram.model.memory import (
    CONTENT_LIMIT,
    SOURCE_LENGTH_LIMIT,
    TAG_LENGTH_LIMIT,
    TAG_LIMIT,
    Filters,
    Status,
)
from engram.text import re
from engram.text.sentences import sentences

# ---------------------------------------------------------------- plain
# Plain text: paragraphs come out, one item each.
#
# A paragraph that is a list gives one item a list item; what is longer than a memory should be is cut
# between sentences.


PASSAGE_LENGTH = 1_200
"""Characters of one passage at most: about two hundred words, what one thought needs."""
_GAP = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


def read_plain(text: str, origin: str, *, title: str = "", source: str = "") -> Iterator[Item]:
    """Every passage of a text, in order. `origin` is the key of the whole text."""
    number = 0
    for paragraph in _GAP.split(text):
        for passage in passages(paragraph):
            number += 1
            yield Item(
                f"{origin}#{number}",
                passage,
                ItemKind.PASSAGE,
                title=title,
                details={"title": title} if title else {},
                source=source or "import",
            )


def passages(paragraph: str) -> Iterator[str]:
    r"""The pieces of one paragraph that stand for themselves.

    >>> list(passages("Tools we use:\n- git for\n  everything\n- [x] make"))
    ['Tools we use:', 'git for everything', 'make']
    """
    held: list[str] = []
    for line in paragraph.split("\n"):
        item = _ITEM.match(line)
        if item and held:
            yield from _short(held)
            held = []
        bare = line[item.end() :] if item else line
        if bare.strip():
            held.append(bare.strip())
    yield from _short(held)


def _short(held: Sequence[str]) -> Iterator[str]:
    """Lines as one piece; several when they are too long for one."""
    whole = " ".join(held)
    if len(whole) <= PASSAGE_LENGTH:
        if whole:
            yield whole
        return
    piece = ""
    for sentence in sentences(whole):
        if piece and len(piece) + len(sentence) >= PASSAGE_LENGTH:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}".strip()
    if piece:
        yield piece


_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r"^ {0,3}(?:[-*_][ \t]*){3,}$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_STRESS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|[ \t:|-]*$")
_BAR = re.compile(r"(?<!\\)\|")
_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(\w[\w -]*?):[ \t]*(.*)$")
_LISTED = re.compile(r"^[ \t]*-[ \t]+(.*)$")
_WITHDRAWN = frozenset(status.value for status in Status if status not in Filters().statuses)
_TITLES, _TAGS, _DATES = ("title",), ("tags", "keywords", "categories"), ("date", "created", "created_at")


@dataclass
class _Page:
    """Where the reader stands: headings above, passages counted so far."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)

    def enter(self, level: int, heading: str) -> None:
        """A heading ends those of its own level and below."""
        self.headings = [one for one in self.headings if one[0] < level] + [(level, heading)]

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above, from the widest to the nearest."""
        return tuple(heading for _, heading in self.headings)

    def key(self) -> str:
        """The next passage's place: headings and number."""
        path = "/".join(self.path)
        self.counted[path] = self.counted.get(path, 0) + 1
        return f"{path}/{self.counted[path]}"


def read_markdown(text: str, origin: str, *, title: str = "", source: str = "") -> Iterator[Item]:
    """Every passage of a document, in order. `origin` is the key of the whole document."""
    matter, body = front_matter(text)
    named = next((matter[name][0] for name in _TITLES if matter.get(name)), title)
    tags = tuple(
        dict.fromkeys(
            tag[:TAG_LENGTH_LIMIT].lstrip("#") for name in _TAGS for tag in matter.get(name, ()) if tag
        )
    )[:TAG_LIMIT]
    days = (word for name in _DATES for word in matter.get(name, ()))
    at = next((when for word in days if (when := written_moment(word) or written_moment(word[:10]))), None)
    for key, path, passage in _passages(body):
        details = {"title": named, "heading": " › ".join(path)}
        yield Item(
            f"{origin}#{key}",
            passage,
            ItemKind.PASSAGE,
            at=at,
            title=named,
            tags=tags,
            details={name: value for name, value in details.items() if value},
            source=source or "import",
        )


def withdrawn(text: str) -> str:
    r"""What the front matter calls a document that holds no more; empty when it holds.

    >>> withdrawn("---\nstatus: superseded\n---\nThe port is 8080."), withdrawn("The port is 9090.")
    ('superseded', '')
    """
    said = front_matter(text)[0].get("status", [])
    return next((word.lower() for word in said if word.lower() in _WITHDRAWN), "")


def front_matter(text: str) -> tuple[dict[str, list[str]], str]:
    r"""The fields at the top of a document, each as a list of words, and the document without them.

    A few plain shapes are read, not YAML: `name: word`, `name: [a, b]`, and a list below the name.

    >>> front_matter("---\ntags: [home, 'diy']\ndate: 2024-05-01\n---\nThe text")
    ({'tags': ['home', 'diy'], 'date': ['2024-05-01']}, 'The text')
    """
    matter = _MATTER.match(text)
    if matter is None:
        return {}, text
    fields: dict[str, list[str]] = {}
    name = ""
    for line in matter[1].split("\n"):
        if found := _FIELD.match(line):
            name = found[1].strip().lower()
            fields[name] = _words(found[2])
        elif name and (listed := _LISTED.match(line)):
            fields[name] += _words(listed[1])
    return fields, text[matter.end() :]


def _words(value: str) -> list[str]:
    bare = value.strip()
    parts = bare[1:-1].split(",") if bare.startswith("[") and bare.endswith("]") else [bare]
    return [word for part in parts if (word := part.strip().strip("\"'"))]


def _passages(body: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each passage with its key and the headings above it."""
    page = _Page()
    for block in _blocks(_COMMENT.sub("", body)):
        heading = _HEADING.match(block[0])
        if heading:
            page.enter(len(heading[1]), _bare(heading[2]))
        elif underline := _UNDERLINE.match(block[-1]):
            page.enter(1 if "=" in underline[1] else 2, _bare(block[0]))
        else:
            found = _rows(block) if _is_row(block[0]) else passages("\n".join(map(_bare, block)))
            for passage in found:
                yield page.key(), page.path, passage


def _blocks(body: str) -> Iterator[list[str]]:
    """Lines that belong together: a paragraph, a list, a table, a heading with the line below it."""
    held: list[str] = []
    for line in _prose(body):
        underlines = len(held) == 1 and not _is_row(held[0]) and _UNDERLINE.match(line)
        if underlines:
            yield [*held, line]
            held = []
            continue
        alone, nothing = bool(_HEADING.match(line)), not line.strip() or bool(_RULE.match(line))
        if held and (alone or nothing or _is_row(held[0]) != _is_row(line)):
            yield held
            held = []
        if alone:
            yield [line]
        elif not nothing:
            held.append(line)
    if held:
        yield held


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _rows(block: list[str]) -> Iterator[str]:
    """Each row of a table, its cells named by the row above the rule."""
    rows = [_cells(line) for line in block]
    ruled = len(block) > 1 and _TABLE_RULE.match(block[1])
    names = rows[0] if ruled else []
    for row in rows[2:] if ruled else rows:
        pairs = zip(names, row, strict=False) if names else (("", cell) for cell in row)
        told = " · ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
        if told:
            yield told


def _cells(line: str) -> list[str]:
    r"""The cells of a row; a bar with a backslash before it belongs to its cell.

    >>> _cells(r"| a \| b | c |")
    ['a | b', 'c']
    """
    bare = _bare(line).strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(bare)]


def _prose(body: str) -> Iterator[str]:
    """The lines outside of code blocks, quotation marks of quoted lines taken away."""
    fence = ""
    for line in body.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark[1]
            yield ""
        else:
            yield re.sub(r"^ {0,3}>[ \t]?", "", line)


def _bare(line: str) -> str:
    """A line without the marks that only say how it looks.

    >>> _bare("**Ship** it on [Friday](https://x.example/a_(b)) ![](x.png)")
    'Ship it on Friday '
    """
    return _STRESS.sub(r"\2", _LINK.sub(r"\1", _IMAGE.sub("", line)))


ENDED = {"success": "succeeded", "failure": "failed", "partial": "succeeded in part"}
FAILURE_IMPORTANCE = 0.65
"""A failure is worth more than a success: it should not happen twice."""
Finding = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One step of a flow."""

    name: str
    outcome: str = "success"
    result: str = ""


def summary(text: str, session: str, now: datetime) -> Iterator[Item]:
    """The statements of a session's summary. Said again in a later summary, each is known by its words."""
    _needed("summary", text)
    _needed("session", session)
    for item in read_markdown(text, f"session:{session}", source="session"):
        origin = f"session:{session}#{_mark(item.text)}"
        yield replace(item, origin=origin, session=session, at=now)


def task(name: str, result: str, outcome: str, now: datetime, details: Mapping[str, Any]) -> Item:
    """What a task came to."""
    return _ended("task", name, _told(result), outcome, now, details)


def flow(
    name: str, steps: Sequence[FlowStep], result: str, outcome: str, now: datetime, details: Mapping[str, Any]
) -> Item:
    """What a flow came to, step by step."""
    lines = [f"{place}. {one.name}{_step_end(one)}" for place, one in enumerate(steps, 1)]
    told = "\n".join([_told(result), *lines]).strip() if lines else _told(result)
    kept = [{"name": one.name, "outcome": one.outcome, "result": one.result} for one in steps]
    return _ended("flow", name, told, outcome, now, {**details, **({"steps": kept} if kept else {})})


def step(given: Any) -> FlowStep:
    """A step from its name, or from an object with name, outcome and result."""
    if isinstance(given, str):
        return FlowStep(_needed("step", given))
    if not isinstance(given, Mapping):
        raise WrongType("step", given, "text, or an object with name, outcome and result")
    outcome = str(given.get("outcome", "success"))
    _check(outcome)
    return FlowStep(_needed("step", given.get("name", "")), outcome, _told(given.get("result", "")))


def research(findings: Sequence[Finding], query: str, urls: Sequence[str], now: datetime) -> Iterator[Item]:
    """Each finding of a search, with the question it answers and where it was found."""
    _needed("query", query)
    for finding in findings:
        text = finding if isinstance(finding, str) else finding.get("text", finding.get("content", ""))
        own = [] if isinstance(finding, str) else _urls(finding)
        yield Item(
            f"research:{_mark(query)}#{_mark(_needed('finding', text))}",
            text.strip(),
            ItemKind.PASSAGE,
            at=now,
            tags=("research",),
            details={"query": query, "urls": list(dict.fromkeys(own or urls))},
            source="research",
        )


def _ended(what: str, name: str, told: str, outcome: str, now: datetime, details: Mapping[str, Any]) -> Item:
    _check(outcome)
    _needed("name", name)
    said = f": {told}" if told else "."
    return Item(
        f"{what}:{name}@{now.isoformat()}",
        f"{what.capitalize()} {name} {ENDED[outcome]}{said}"[:CONTENT_LIMIT],
        ItemKind.RESULT,
        at=now,
        title=name,
        tags=(what, outcome),
        details={**details, what: name, "outcome": outcome},
        source=f"{what}:{name}"[:SOURCE_LENGTH_LIMIT],
        given={"importance": FAILURE_IMPORTANCE} if outcome == "failure" else {},
    )


def _step_end(one: FlowStep) -> str:
    ended = "" if one.outcome == "success" else f" ({ENDED[one.outcome]})"
    return f"{ended}: {one.result}" if one.result else ended


def _urls(finding: Mapping[str, Any]) -> list[str]:
    many, one = finding.get("urls"), finding.get("url")
    return [str(url) for url in (many if isinstance(many, list | tuple) else [one]) if url]


def _check(outcome: str) -> None:
    if outcome not in ENDED:
        raise UnknownValue("outcome", outcome, tuple(ENDED))


def _needed(field: str, text: Any) -> str:
    if not isinstance(text, str):
        raise WrongType(field, text, "text")
    if not text.strip():
        raise EmptyContent(field)
    return text.strip()


def _told(text: Any) -> str:
    if not isinstance(text, str):
        raise WrongType("result", text, "text")
    return text.strip()


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
