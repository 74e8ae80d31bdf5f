"""JSON as models write it: a text comes in, the values that may be meant come out, the likeliest first.

Read in spite of code fences, prose around it, single quotes, bare keys, comments, trailing commas and
Python's literals. When the text breaks off, the complete items of a list are kept, the last one is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

LONGEST: Final = 400_000
"""Characters of an answer that are looked at."""
MOST_STARTS: Final = 12
"""Places at which a value may begin that are tried."""
DEEPEST: Final = 40


def values(text: str) -> Iterator[Any]:
    """The lists and objects in a text.

    >>> next(values("Sure! ```json {'a': [1, 2,], b: True} ```"))
    {'a': [1, 2], 'b': True}
    >>> next(values('{"items": [{"a": 1}, {"a": 2}, {"a": '))
    {'items': [{'a': 1}, {'a': 2}]}
    >>> list(values("no value here"))
    []
    """
    plain = _THOUGHTS.sub(" ", text[:LONGEST])
    end = 0
    starts = 0
    for match in _START.finditer(plain):
        if match.start() < end:
            continue  # inside a value that was read already
        starts += 1
        if starts > MOST_STARTS:
            return
        found, end = _value_at(plain, match.start())
        if found is not None:
            yield found


# What a model thinks aloud is no answer; some formats show only its end, a cut answer only its beginning.
_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL)
_START = re.compile(r"[{\[]")
_SPACE = re.compile(r"(?:[\s,]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BARE = re.compile(r"[^\s,:\[\]{}\"']+")
_LITERALS: Final = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DECODER = json.JSONDecoder(strict=False)


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at a place, and where it ends; None and the next place when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    reader = _Reader(text, start)
    try:
        return reader.value(inside_list=False), reader.place
    except (_Unreadable, _CutOff, RecursionError):
        return None, start + 1


class _Unreadable(Exception):
    """What stands here is no value."""


class _CutOff(Exception):
    """The text ended inside an item of a list: the item is dropped."""


class _Reader:
    """Reads one value from a place on, forgiving what can be forgiven."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self._depth = 0

    def value(self, *, inside_list: bool) -> Any:
        """The value that comes next."""
        self._skip()
        char = self._char()
        if char == "":
            raise _CutOff
        if char in "\"'":
            return self._string(char)
        if char not in "[{":
            return self._bare()
        self._depth += 1
        if self._depth > DEEPEST:
            raise _Unreadable
        self.place += 1
        found = self._list() if char == "[" else self._object(inside_list=inside_list)
        self._depth -= 1
        return found

    def _list(self) -> list[Any]:
        items: list[Any] = []
        while True:
            self._skip()
            if self._char() in ("]", ""):
                self.place += 1
                return items
            if self._char() in "}:":
                raise _Unreadable
            try:
                items.append(self.value(inside_list=True))
            except _CutOff:
                self.place = len(self.text)
                return items

    def _object(self, *, inside_list: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while True:
            self._skip()
            char = self._char()
            if char == "}":
                self.place += 1
                return found
            if char == "" and not inside_list:
                return found
            try:
                key = self._key(char)
                found[key] = self.value(inside_list=inside_list)
            except _CutOff:
                if inside_list:
                    raise
                return found

    def _key(self, char: str) -> str:
        if char == "":
            raise _CutOff
        key = self._string(char) if char in "\"'" else str(self._bare())
        self._skip()
        if self._char() == "":
            raise _CutOff
        if self._char() != ":":
            raise _Unreadable
        self.place += 1
        return key

    def _string(self, quote: str) -> str:
        """A string in either kind of quotes; a quote inside a word is an apostrophe."""
        out: list[str] = []
        self.place += 1
        while True:
            char = self._char()
            if char == "":
                raise _CutOff
            self.place += 1
            if char == "\\":
                out.append(self._escape())
            elif char == quote and not self._is_apostrophe(quote):
                return "".join(out)
            else:
                out.append(char)

    def _is_apostrophe(self, quote: str) -> bool:
        before, after = self.text[self.place - 2 : self.place - 1], self._char()
        return quote == "'" and before.isalnum() and after.isalnum()

    def _escape(self) -> str:
        char = self._char()
        self.place += 1
        digits = self.text[self.place : self.place + 4]
        if char == "u" and re.fullmatch("[0-9a-fA-F]{4}", digits):
            self.place += 4
            return chr(int(digits, 16))
        return _ESCAPES.get(char, char)

    def _bare(self) -> Any:
        """A number, a literal, or a word without quotes."""
        match = _BARE.match(self.text, self.place)
        if match is None:
            raise _Unreadable
        self.place = match.end()
        if self.place == len(self.text):
            raise _CutOff  # who knows how it would have gone on
        word = match.group()
        if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        try:
            return int(word) if word.lstrip("-").isdecimal() else float(word)
        except ValueError:
            return word

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.place)
        self.place = match.end() if match else self.place

    def _char(self) -> str:
        return self.text[self.place : self.place + 1]
