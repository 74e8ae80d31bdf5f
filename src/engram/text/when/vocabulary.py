"""The words that speak of time: each with its category and what it means, from the data files."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from engram.text import lexicon
from engram.text.when.clocks import Clock
from engram.text.when.holidays import holiday_names
from engram.text.when.partials import Partial
from engram.text.when.words import Grain


@cache
def vocabulary() -> dict[str, tuple[str, Any]]:
    """Every word with its category and value."""
    found: dict[str, tuple[str, Any]] = {}
    for category, rows in lexicon.parts("dates_en").items():
        for row in rows:
            written, _, value = row.partition(" = ")
            for word in written.split() if category != "wary" else ():
                found.setdefault(
                    word, (value, None) if category == "plain" else (category, _value(category, value))
                )
    found["o'clock"] = found["o’clock"] = ("oclock", None)
    return found


@cache
def chinese_vocabulary() -> dict[str, tuple[str, Any]]:
    """Every Chinese word with its category and value, holidays among them."""
    found: dict[str, tuple[str, Any]] = {}
    for category, rows in lexicon.parts("dates_zh").items():
        for row in rows:
            written, _, value = row.partition(" = ")
            for word in written.split():
                found[word] = (value, None) if category == "plain" else (category, _value(category, value))
    for name, kept in holiday_names().items():
        if not name.isascii():
            found[name] = ("holiday", Partial(holiday=kept))
    return found


def _value(category: str, value: str) -> Any:
    if category == "unit":
        return Grain(value)
    if category in {"part", "daypart"}:
        return tuple(int(piece) for piece in value.split())
    if category == "clock":
        return Clock(int(value), 0, sure=True)
    return int(value) if re.fullmatch(r"-?\d+", value) else value


@cache
def holiday_words() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """The most telling word of each holiday, its longest, with the name and all its words."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for name in holiday_names():
        if name.isascii():
            needed = lexicon.words_of(name)
            found.setdefault(max(needed, key=lambda word: (len(word), word)), []).append((name, needed))
    return found
