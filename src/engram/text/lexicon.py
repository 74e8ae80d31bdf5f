r"""The word lists that ship with the package: a name comes in, its lines come out (read once, then kept).

A file is made of lines; `# ` starts a comment, `[heading]` a part. A line is a word, several words, or a
pattern for text in lower case. `@name = ...` names a piece of pattern that later lines hold as `<@name>`.
A line that begins with `+ ` is an example that its part must find, with `- ` one that it must not find.

Patterns are tried on every text that is kept, so most are turned away cheaply: a line of whole words alone,
`\b(?:met|saw)\b`, is looked up among the words of the text, any other is tried where the text holds one of
the pieces that the line cannot do without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar
from zlib import crc32

from ahocorasick_rs import AhoCorasick

from engram.text import re
from engram.text.reading import read_once

KEPT: Final = Path(__file__).with_name("data") / "calls.jsonl"
"""What calls for the patterns of the largest lists; `scripts/reference.py` writes it."""


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of `data/<name>.txt` without blank lines and comments."""
    text = Path(__file__).with_name("data").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    rows = (row.strip() for row in text.splitlines())
    return tuple(row for row in rows if row and not row.startswith("# "))


@cache
def words(name: str) -> frozenset[str]:
    """All words of a file, which may stand several to a line.

    >>> "the" in words("stop_words")
    True
    """
    return frozenset(word for row in lines(name) for word in row.split())


@cache
def parts(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of a file by heading, in order, without examples; lines before a heading stand under ''."""
    found: dict[str, list[str]] = {}
    for heading, row in in_order(name):
        found.setdefault(heading, []).append(row)
    return {title: tuple(rows) for title, rows in found.items()}


def in_order(name: str) -> Iterator[tuple[str, str]]:
    """Each line of a file with its heading, without examples and with its named pieces put in."""
    named: dict[str, str] = {}
    for heading, row in _headed(name):
        if definition := _NAMED.fullmatch(row):
            named[definition["name"]] = _whole(definition["piece"], named)
        elif not row.startswith(("+ ", "- ")):
            yield heading, _whole(row, named)


@cache
def examples(name: str, under: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a part of a file must find, and what it must not find."""
    rows = [row for heading, row in _headed(name) if heading == under]
    return tuple(row[2:] for row in rows if row.startswith("+ ")), tuple(
        row[2:] for row in rows if row.startswith("- ")
    )


def headings(name: str) -> tuple[str, ...]:
    """The headings of a file, in order."""
    return tuple(parts(name))


def found(name: str, lower: str, *, under: str = "") -> bool:
    """Whether any pattern of a file, or of one part of it, occurs in a text in lower case.

    >>> found("negations", "i do not know"), found("categories", "please call me sam", under="identity")
    (True, True)
    """
    plain, calls, rows = _tests(name, under, lower.isascii())
    if not plain.isdisjoint(words_of(lower)):
        return True
    for at in calls.of(lower):  # noqa: SIM110 - asked a dozen times of every text
        if compiled(rows[at]).search(lower):
            return True
    return False


@read_once
def words_of(text: str) -> frozenset[str]:
    """The runs of letters, digits and underscores in a text, which are its words for a pattern."""
    return frozenset(_RUN.findall(text))


@cache
def pattern(name: str, under: str = "", *, ascii_only: bool = False) -> re.Pattern[str]:
    """One expression that matches any line; `ascii_only` leaves out what plain English text cannot hold."""
    rows = (row for row in parts(name)[under] if row.isascii() or not ascii_only)
    return re.compile("|".join(f"(?:{row})" for row in rows) or r"(?!)")


class Calls:
    r"""Which of many rules a text calls for: those of which a piece occurs in it.

    All pieces are looked for in one pass. `\b`: the piece begins a word; whether it does is left to the rule.

    >>> Calls([("\bwrong", "\bmistake"), ("\bbirthday",), ()]).of("my mistake")
    [0, 2]
    """

    def __init__(self, pieces: Sequence[Sequence[str]]) -> None:
        called: dict[str, list[int]] = {}
        for at, any_of in enumerate(pieces):
            for piece in any_of:
                called.setdefault(piece.removeprefix("\b"), []).append(at)
        self._always = [at for at, any_of in enumerate(pieces) if not any_of]
        self._called = list(called.values())
        self._find = AhoCorasick(called).find_matches_as_indexes

    def of(self, lower: str) -> list[int]:
        """The places of the rules that a text in lower case calls for, in order."""
        try:
            found = self._find(lower, True)  # noqa: FBT003 - also what overlaps
        except UnicodeEncodeError:  # half of a character, which is part of no piece
            return self.of(lower.encode(errors="replace").decode())
        if not found:
            return self._always
        return sorted({at for piece, _, _ in found for at in self._called[piece]}.union(self._always))


class NamedPatterns:
    r"""Many patterns with names: a text comes in, the names of those that occur in it come out.

    Each alternative of a pattern is tried only on a text that holds one of the pieces it cannot do without;
    they are read from the pattern itself, or were for `data/calls.jsonl`: to read all takes longer than an
    answer.

    >>> found = NamedPatterns([("pet", r"\bmy (?:cat|dog)s?\b|tortoise"), ("age", r"\bi'?m \d+")])
    >>> found.of("my cats and i"), found.of("i'm 30"), found.of("the dog")
    (('pet',), ('age',), ())
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        listed = list(patterns)
        self._mark = crc32("\n".join(map(" ".join, listed)).encode())
        kept = next((line for line in _kept() if line.startswith(f"[{self._mark},")), "")
        if kept:
            _, self._tried, pieces = json.loads(kept)
        else:
            self._tried = [(name, one) for name, pattern in listed for one in alternatives(pattern)]
            pieces = self._pieces()
        self._calls = Calls(pieces)

    def _pieces(self) -> list[tuple[str, ...]]:
        return [needed(one) for _, one in self._tried]

    def line(self) -> str:
        """What is kept of it, read anew."""
        return json.dumps([self._mark, self._tried, self._pieces()], ensure_ascii=False)

    def of(self, lower: str) -> tuple[str, ...]:
        """The names of the patterns that a text in lower case holds, in order."""
        return tuple(self.each(lower))

    def each(self, lower: str) -> Iterator[str]:
        """The same one after the other: whoever wants the first tries no more."""
        found: set[str] = set()
        for at in self._calls.of(lower):
            name, expression = self._tried[at]
            if name not in found and compiled(expression).search(lower):
                found.add(name)
                yield name


@cache
def _kept() -> tuple[str, ...]:
    return tuple(KEPT.read_text(encoding="utf-8").split("\n")) if KEPT.exists() else ()


def alternatives(pattern: str) -> list[str]:
    """The alternatives of a pattern, as they are written.

    >>> alternatives(r"a|(?:b|c)d|[|]")
    ['a', '(?:b|c)d', '[|]']
    """
    found, start, depth = [], 0, 0
    for match in _ATOMS.finditer(pattern):
        atom = match[1]
        depth += (atom[0] == "(" and atom[-1] != ")") - (atom == ")")
        if atom == "|" and not depth:
            found.append(pattern[start : match.start()])
            start = match.end()
    return [*found, pattern[start:]]


def needed(pattern: str) -> tuple[str, ...]:
    r"""Pieces of text of which every match of a pattern holds at least one; none where that cannot be told.

    >>> needed(r"my (?:cat|dog)s?\b|tortoise"), needed(r"\d+ ?(?:years?|months) old"), needed(r"\w+|a")
    (('my cat', 'my dog', 'tortoise'), ('year', 'months'), ())
    >>> needed(r"gr[ae]y"), needed(r"[a-z]+")
    (('gray', 'grey'), ())
    >>> needed(r"^i (?:now )?play") == ("\bplay",)  # where a word begins for certain
    True
    """
    return _needed(_ATOMS.findall(pattern), 0, edge=False)[0]


_Group = tuple[tuple[str, ...], tuple[str, ...], int, str, bool]
"""What is known of a part of a pattern: pieces of which every match holds one; all that it matches, where
that is plain text; where the pattern goes on; how often it comes; whether no word goes on where it ends."""


def _needed(atoms: list[tuple[str, str]], at: int, *, edge: bool) -> _Group:
    """The same from a place to the end of its group; `edge`: no word goes on where it begins.

    Of each alternative the longest pieces: plain text, with groups of plain text spelt out.
    """
    found: list[tuple[str, ...]] = []
    spelt: list[str] | None = []
    choices: list[tuple[str, ...]] = []
    runs: tuple[str, ...] = ("",)
    begun = now = edge
    closed = True
    while True:
        atom = atoms[at][0] if at < len(atoms) else ")"
        if atom in "|)":
            spelt = [*spelt, *runs] if spelt is not None and not choices else None
            choices.append(_marked(runs, begun))
            found.append(max((choice for choice in choices if all(choice)), key=_shortest, default=()))
            closed = closed and now
            choices, runs, now = [], ("",), edge
            at += 1
            if atom == ")":
                pieces = tuple(dict.fromkeys(piece for one in found for piece in one)) if all(found) else ()
                times = atoms[at - 1][1] if at <= len(atoms) else ""
                return pieces, tuple(spelt) if spelt and all(spelt) else (), at, times, closed
            continue
        pieces, plain, end, times, ends = _part(atoms, at, edge=now)
        begun = now if runs == ("",) else begun
        if plain and not times and len(plain) * len(runs) <= _SPELT_OUT:
            runs = tuple([run + piece for run in runs for piece in plain])
        elif atom not in _EMPTY:
            more = times[:1] == "+"
            held = tuple(run + plain[0] for run in runs) if more and len(plain) == 1 else runs
            choices.append(_marked(held, begun))
            if pieces and (more or not times):
                choices.append(pieces)
            runs = ("",)
        at, now = end, ends and (now or times[:1] not in _MAYBE)


def _part(atoms: list[tuple[str, str]], at: int, *, edge: bool) -> _Group:
    """The atom at a place, or the whole group that begins there."""
    atom, times = atoms[at]
    if _FEW_SIGNS.fullmatch(atom):
        signs = tuple(atom[1:-1])
        return (), signs, at + 1, times, not any(map(_is_of_word, signs))
    if atom[0] != "(":
        one = _ESCAPED.get(atom, "") if atom[0] in "\\[.^$" else atom
        ends = atom in _EDGES or (one != "" and not _is_of_word(one[-1]))
        return (), (one,) if one else (), at + 1, times, ends
    if atom[-1] == ")":
        return (), (), at + 1, times, edge
    group = _needed(atoms, at + 1, edge=edge)
    if _INSIDE.fullmatch(atom):
        return group
    _, _, end, times, ends = group
    return (), (), end, times, edge if atom[-1] in "=!" else ends


def _marked(runs: tuple[str, ...], begun: bool) -> tuple[str, ...]:  # noqa: FBT001 - of all of them
    return tuple([f"\b{run}" if run and _is_of_word(run[0]) else run for run in runs]) if begun else runs


def _is_of_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _shortest(pieces: tuple[str, ...]) -> int:
    return min([len(piece) - (piece[0] == "\b") for piece in pieces])


_ATOMS = re.compile(
    r"([^\\\[\](){}|.^$?*+]+(?![?*+{])|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[a-z]+\)|\((?:\?(?:P<\w+>|<?[=!]|[a-z-]*:))?|.)"
    r"([?*+]\??|\{[\d,]+\}\??)?",
    re.DOTALL,
)
_FEW_SIGNS = re.compile(r"\[[^\\\^\[\]-]{1,16}\]")
_INSIDE = re.compile(r"\(|\(\?(?:P<\w+>|:)")
_ESCAPED = {"\\.": ".", "\\-": "-", "\\+": "+", "\\?": "?", "\\/": "/", "\\$": "$", "\\(": "(", "\\)": ")"}
_EMPTY: Final = frozenset({r"\b", "^"})
_EDGES: Final = frozenset({r"\b", "^", r"\s"})
_MAYBE: Final = ("?", "*", "{")
_SPELT_OUT: Final = 64
"""Pieces that one alternative is looked for by at most."""
_RUN = re.compile(r"\w+")
_HEADING = re.compile(r"\[[a-z ]+\]")
_NAMED = re.compile(r"@(?P<name>[a-z]+) = (?P<piece>.*)")
_NAME_USED = re.compile(r"<@([a-z]+)>")
_PLAIN = re.compile(r"\\b(?:\(\?:\w+(?:\|\w+)*\)|\w+)\\b")


def _headed(name: str) -> Iterator[tuple[str, str]]:
    """Every line of a file with the heading it stands under."""
    heading = ""
    for row in lines(name):
        if _HEADING.fullmatch(row):
            heading = row[1:-1]
        else:
            yield heading, row


def _whole(row: str, named: dict[str, str]) -> str:
    """A line with the named pieces put in."""
    return _NAME_USED.sub(lambda use: named[use[1]], row) if "<@" in row else row


@cache
def _tests(name: str, under: str, ascii_only: bool) -> tuple[frozenset[str], Calls, list[str]]:  # noqa: FBT001 - a cache key
    """The words to look up, then the patterns to try and what calls for each."""
    plain: set[str] = set()
    rows: list[str] = []
    for row in parts(name)[under]:
        if _PLAIN.fullmatch(row):
            plain.update(row[2:-2].removeprefix("(?:").removesuffix(")").split("|"))
        elif row.isascii() or not ascii_only:
            rows += alternatives(row)
    return frozenset(plain), Calls(list(map(needed, rows))), rows


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """Only what a text calls for: to compile every line takes half of the time in which a command answers."""
    return re.compile(expression)


# ---------------------------------------------------------------- phrases
# Known phrases and where they stand: a vocabulary is built once, then each text is looked through quickly.
#
# Languages with spaces are matched word by word, the longest phrase first; Chinese and the like character
# by character, because nothing stands between their words.


Value = TypeVar("Value")
WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""A word as the phrases know it: letters and digits, with what joins them inside."""


@read_once
def tokens(text: str) -> tuple[str, ...]:
    """The words of a text as the phrases know them, in order."""
    return tuple(WORD.findall(text))


class Spot(NamedTuple, Generic[Value]):
    """One phrase that was found: from where to where (words or characters), and what it stands for."""

    start: int
    end: int
    value: Value


class Phrases(Generic[Value]):
    """A vocabulary of phrases in lower case, each with a value. Built once, never changed."""

    def __init__(self, entries: Mapping[str, Value]) -> None:
        self._spaced: dict[str, Value] = {}
        self._joined: dict[str, Value] = {}
        self._reach: dict[str, int] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for phrase, value in entries.items():
            self._add(phrase, value)
        self._starts = _starts(self._joined)

    def _add(self, phrase: str, value: Value) -> None:
        if not phrase.isascii() and " " not in phrase and not phrase[0].isascii():
            self._joined[phrase] = value
            held = {*self._lengths.get(phrase[0], ()), len(phrase)}
            self._lengths[phrase[0]] = tuple(sorted(held, reverse=True))
        else:
            tokens = phrase.split(" ")
            self._spaced[phrase] = value
            self._reach[tokens[0]] = max(self._reach.get(tokens[0], 0), len(tokens))

    def among(self, words: Sequence[str]) -> Sequence[Spot[Value]]:
        """The phrases in a row of words (lower case), none inside another.

        >>> Phrases({"new york": 1, "new": 2}).among(["new", "york", "new"])
        [Spot(start=0, end=2, value=1), Spot(start=2, end=3, value=2)]
        """
        if self._reach.keys().isdisjoint(words):
            return ()
        found: list[Spot[Value]] = []
        skip = 0
        for at, reach in enumerate(map(self._reach.get, words)):
            if reach is None or at < skip:
                continue
            for size in range(reach, 0, -1):
                phrase = words[at] if size == 1 else " ".join(words[at : at + size])
                if phrase in self._spaced:
                    skip = min(at + size, len(words))
                    found.append(Spot(at, skip, self._spaced[phrase]))
                    break
        return found

    def within(self, text: str) -> Iterator[Spot[Value]]:
        """The phrases of a script without spaces, wherever they stand in `text`.

        >>> list(Phrases({"开心": 1, "开": 2}).within("很开心"))
        [Spot(start=1, end=3, value=1)]
        """
        skip = 0
        for match in self._starts.finditer(text):
            at = match.start()
            if at < skip:
                continue
            for size in self._lengths[text[at]]:
                if text[at : at + size] in self._joined:
                    skip = at + size
                    yield Spot(at, skip, self._joined[text[at:skip]])
                    break


def _starts(phrases: Iterable[str]) -> re.Pattern[str]:
    """Where a phrase may start: its first character and, unless one stands alone, its second."""
    held = list(phrases)
    if not held:
        return re.compile("(?!)")
    first, second = ("".join(sorted({re.escape(phrase[at : at + 1]) for phrase in held})) for at in (0, 1))
    alone = any(len(phrase) == 1 for phrase in held)
    return re.compile(f"[{first}]" if alone else f"[{first}](?=[{second}])")


def listed(name: str, part: str) -> Iterator[tuple[str, str]]:
    """The phrases of one part of a word list whose lines are `label: phrase, phrase`, each with its label.

    A line without a label gives the label ''.
    """
    for row in parts(name)[part]:
        label, colon, phrases = row.partition(": ")
        yield from ((phrase, label if colon else "") for phrase in _split(phrases if colon else row))


def _split(row: str) -> Iterable[str]:
    return filter(None, (phrase.strip() for phrase in row.split(",")))


def inflected(verb: str) -> tuple[str, ...]:
    """A word with its regular endings; what follows it stays as it is.

    >>> inflected("cry"), inflected("mess up")
    (('cry', 'cries', 'cried', 'crying'), ('mess up', 'messes up', 'messed up', 'messing up'))
    """
    stem, space, rest = verb.partition(" ")
    tail = space + rest
    if stem.endswith("y") and stem[-2:-1] not in "aeou":
        return verb, f"{stem[:-1]}ies{tail}", f"{stem[:-1]}ied{tail}", f"{stem}ing{tail}"
    if stem.endswith("e"):
        return verb, f"{stem}s{tail}", f"{stem}d{tail}", f"{stem[:-1]}ing{tail}"
    plural = "es" if stem.endswith(("s", "sh", "ch", "x")) else "s"
    return verb, f"{stem}{plural}{tail}", f"{stem}ed{tail}", f"{stem}ing{tail}"
