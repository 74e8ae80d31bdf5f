"""What nobody said: a message comes in; its prose and lists come out, and the sort of what was taken away.

Blocks go first (memory and tool tags, code fences), then lines by their shape (logs, traces, diffs, dumps,
quoted mail), then restated prompts by the way they address a model. `data/noise.txt` holds the shapes. A line
in which somebody speaks of themselves is kept, whatever it looks like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Final

from engram.text import lexicon, re
from engram.text.sentences import sentences

_SUSPECT = re.compile(
    r"[\n<>{}\[|=`~$]|\S{60}|\w:\S|: |[Yy]ou(?: a|')re|[Yy]our |[Aa]ct as|Respond|[你您](?:是|的|将|需)|扮演"
)


def sweep(text: str) -> tuple[str, str | None]:
    """What is left of a message, and the sort of most of what was taken away.

    >>> sweep("I like tea."), sweep("<memory id=1>User likes tea</memory>")
    (('I like tea.', None), ('', 'recalled'))
    """
    if not _SUSPECT.search(text):
        return text, None
    dropped: Counter[str] = Counter()
    kept = _without_blocks(text, dropped)
    kept = _without_fences(kept, dropped)
    kept = _without_lines(kept, dropped)
    kept = _without_prompts(kept, dropped)
    if not dropped:
        return text, None
    return _GAP.sub("\n\n", kept).strip(), dropped.most_common(1)[0][0]


_GAP = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_TAG = re.compile(r"<\s{0,2}(?P<shut>/?)(?P<name>[A-Za-z][\w:-]{0,60})(?P<rest>[^<>\n]{0,300})>")
_MARK = re.compile(r"\[(?P<shut>/?)(?P<name>[A-Z][A-Z_ -]{2,40})(?P<rest>)\]")
_CHAT = re.compile(
    r"<\|(?:im_start|start_header_id)\|>\s*(?:system|tool)\b.*?(?:<\|(?:im_end|eot_id)\|>|\Z)", re.DOTALL
)
_SYS = re.compile(r"<<SYS>>.*?(?:<</SYS>>|\Z)", re.DOTALL)


def _without_blocks(text: str, dropped: Counter[str]) -> str:
    """Without what stands between the tags of memory, prompts and tools; the tags may nest."""
    for form in (_CHAT, _SYS):
        if "<|" in text or "<<SYS" in text:
            text = _cut(text, [(m.start(), m.end()) for m in form.finditer(text)], "prompt", dropped)
    for form, sign in ((_TAG, "<"), (_MARK, "[/")):
        if sign in text:
            for start, end, sort in reversed(_blocks(text, form)):
                text = _cut(text, [(start, end)], sort, dropped)
    return text


def _blocks(text: str, form: re.Pattern[str]) -> list[tuple[int, int, str]]:
    """Where blocks begin and end, outermost only.

    One that is never closed counts when its tag has a line of its own, and ends with its paragraph.
    """
    tags = [(m, name, sort) for m in form.finditer(text) if (sort := _block_sort(name := m["name"].lower()))]
    last_shut = {name: m.start() for m, name, _ in tags if m["shut"]}
    found: list[tuple[int, int, str]] = []
    open_name, depth, start, sort_open = "", 0, 0, ""
    for match, name, sort in tags:
        if depth:
            depth += (-1 if match["shut"] else not match["rest"].endswith("/")) if name == open_name else 0
            if not depth:
                found.append((start, match.end(), sort_open))
        elif match["shut"] or match["rest"].endswith("/") or (found and match.start() < found[-1][1]):
            continue
        elif last_shut.get(name, -1) > match.start():
            open_name, depth, start, sort_open = name, 1, match.start(), sort
        elif _alone(text, match):
            blank = _BLANK.search(text, match.end())
            found.append((match.start(), blank.start() if blank else len(text), sort))
    if depth:
        blank = _BLANK.search(text, start)
        found.append((start, blank.start() if blank else len(text), sort_open))
    return found


def _alone(text: str, match: re.Match[str]) -> bool:
    """Whether a tag stands alone on its line; within a sentence it is a word like any other."""
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after = text[match.end() :].partition("\n")[0]
    return not before.strip() and not after.strip()


_BLANK = re.compile(r"\n[ \t]*\n")


@cache
def _block_names() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = []
    for row in lexicon.parts("noise")["blocks"]:
        sort = next(sort for sort in ("recalled", "prompt", "tool noise") if row.startswith(sort + " "))
        rows.append((sort, re.compile(row.removeprefix(sort + " "))))
    return tuple(rows)


def _block_sort(name: str) -> str | None:
    return next((sort for sort, names in _block_names() if names.fullmatch(name)), None)


def _cut(text: str, spans: list[tuple[int, int]], sort: str, dropped: Counter[str]) -> str:
    for start, end in reversed(spans):
        dropped[sort] += end - start
        text = text[:start] + text[end:]
    return text


_FENCE = re.compile(
    r"(?m)^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*(?:\n|\Z)|\Z)|\Z)",
    re.DOTALL,
)
_BLOB = re.compile(
    r"(?<!\S)(?:data:\w+/[\w.+-]+;base64,\S+|(?=[^\s/]*\d)(?=[^\s/]*[a-zA-Z])[A-Za-z0-9+/_-]{100,}={0,2}(?!\S))"
)


def _without_fences(text: str, dropped: Counter[str]) -> str:
    if "```" in text or "~~~" in text:
        text = _cut(text, [m.span() for m in _FENCE.finditer(text)], "code", dropped)
    return _cut(text, [m.span() for m in _BLOB.finditer(text)], "tool noise", dropped)


def _without_lines(text: str, dropped: Counter[str]) -> str:
    """Without the lines that a machine wrote or an earlier message holds."""
    lines = text.split("\n")
    sorts = _sorts(lines)
    if not any(sorts):
        return text
    for line, sort in zip(lines, sorts, strict=True):
        if sort:
            dropped[sort] += len(line) + 1
    return "\n".join(line for line, sort in zip(lines, sorts, strict=True) if not sort)


_ORIGINAL: Final = (
    "original message",
    "forwarded message",
    "ursprüngliche nachricht",
    "原始邮件",
    "转发的邮件",
    "转发邮件",
)


def _sorts(lines: list[str]) -> list[str | None]:
    """The sort of noise each line is, if any."""
    sure = [_sort(line, _SURE) for line in lines]
    sorts = list(sure)
    _mark_tables(lines, sorts)
    _mark_followers(lines, sorts)
    for at in _runs(
        [bool(sort) or _sort(line, _AMONG) is not None for line, sort in zip(lines, sorts, strict=True)]
    ):
        if any(sorts[i] for i in at) or len(at) > 1:
            for i in at:
                sorts[i] = sorts[i] or (_sort(lines[i], _AMONG) or "").removesuffix(" among others") or None
    return sorts


_SURE: Final = ("recalled", "quote", "log", "tool noise", "code", "prompt")
_AMONG: Final = ("quote among others", "tool noise among others", "code among others")
_LONGEST_LINE: Final = 2_000
_SPEAKS = re.compile(
    r"\bI(?:'m|'ve|'ll|’m|’ve| am| have| was| live| like| use| need| want)\b|\b[Mm]y (?!\w+[.(=\[])\w"
    r"|我(?:的|是|在|叫|们)"
)
_SHAPED = re.compile(
    r"[^\w\s,.!?'’，。！？、“”]|^\s|\d|^[A-Z]|相关|记忆|^[a-z]+:$"
    r"|^(?:import|from|try|else|return|pass|npm|yarn|pnpm|index|diff|panic|thread|commit|total) "
)


def _sort(line: str, headings: tuple[str, ...]) -> str | None:
    if not line.strip() or not _SHAPED.search(line):
        return None
    head = line[:_LONGEST_LINE]
    for heading in headings:
        if _shape(heading).search(head):
            return None if heading not in {"quote", "recalled"} and _SPEAKS.search(head) else heading
    return None


@cache
def _shape(heading: str) -> re.Pattern[str]:
    rows = lexicon.parts("noise")[heading]
    flags = re.IGNORECASE if heading in {"recalled", "prompt"} else re.NOFLAG
    return re.compile("|".join(f"(?:{row})" for row in rows), flags)


_FEWEST_ROWS: Final = 3
_CELL_WORDS: Final = 4


def _mark_tables(lines: list[str], sorts: list[str | None]) -> None:
    """Three lines with the same number of commas, tabs or semicolons and short cells are a dump of data."""
    shapes = [_cells(line) for line in lines]
    at = 0
    for shape, group in groupby(shapes):
        size = len(list(group))
        if shape and size >= _FEWEST_ROWS:
            sorts[at : at + size] = [sort or "tool noise" for sort in sorts[at : at + size]]
        at += size


def _cells(line: str) -> tuple[str, int] | None:
    """How a line is cut into cells, when it looks like a row of data; an item of a list does not."""
    line = line.strip()
    if _LISTED.match(line):
        return None
    for separator, fewest in (("\t", 2), (",", 3), (";", 3)):
        cells = line.split(separator)
        spaced = separator != "\t" and any(cell.startswith(" ") for cell in cells[1:])
        if len(cells) >= fewest and not spaced and not line.rstrip().endswith((".", "!", "?")):
            short = all(len(cell.split()) <= _CELL_WORDS for cell in cells)
            return (separator, len(cells)) if short and not _SPEAKS.search(line) else None
    return None


_INDENTED = re.compile(r"\s+\S|\t")
_DIFF = re.compile(r"[-+ ]|\\ No newline")
_LISTED = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\[)\s*\S")


def _mark_followers(lines: list[str], sorts: list[str | None]) -> None:
    """What hangs on a line: the body of a diff or a trace, the list under a memory heading, an old mail."""
    held: re.Pattern[str] | None = None
    for at, line in enumerate(lines):
        sort = sorts[at]
        if sort is None and held is not None and line and held.match(line):
            sorts[at] = sorts[at - 1]
        elif sort is None:
            held = None
        else:
            held = _followers(line, sort) or (held if sort == "tool noise" else None)
        if sort == "quote" and any(word in line.lower() for word in _ORIGINAL):
            sorts[at:] = ["quote"] * (len(lines) - at)
            return


def _followers(line: str, sort: str) -> re.Pattern[str] | None:
    if sort == "recalled":
        return _LISTED
    if line.startswith(("diff --git", "@@ -", "+++ ", "--- ")):
        return _DIFF
    if sort == "code" or "Traceback" in line or line.lstrip().startswith(("File ", "at ")):
        return _INDENTED
    return None


def _runs(flags: list[bool]) -> Iterator[list[int]]:
    """The positions of neighbours that are all true."""
    for value, group in groupby(range(len(flags)), key=flags.__getitem__):
        if value:
            yield list(group)


_I = re.compile(r"\b(?:I|I'm|I've|my|My|we|We|our)\b|我")
_PARAGRAPH = re.compile(r"(\n[ \t]*\n)")
_ADDRESSED = re.compile(r"(?i)you\b|your\b|act as|respond|behave|knowledge cutoff|current date|你|您|请?扮演")


def _without_prompts(text: str, dropped: Counter[str]) -> str:
    """Without what tells a model who it is, and the sentences after it in which nobody says "I"."""
    if not _ADDRESSED.search(text):
        return text
    pieces = _PARAGRAPH.split(text)
    return "".join(
        _without_prompt(piece, dropped) if at % 2 == 0 else piece for at, piece in enumerate(pieces)
    )


def _without_prompt(paragraph: str, dropped: Counter[str]) -> str:
    opener = lexicon.pattern("noise", "prompt openers")
    kept: list[str] = []
    told = False
    for sentence in sentences(paragraph):
        told = told or opener.search(sentence.lower().replace("’", "'").lstrip("#*_ \t\"'")) is not None
        if told and not _I.search(sentence):
            dropped["prompt"] += len(sentence)
        else:
            kept.append(sentence)
    return " ".join(kept) if told and len(kept) < len(sentences(paragraph)) else paragraph
