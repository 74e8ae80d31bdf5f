"""Number words: "twenty fourth", "two thousand and fifteen", 三十一."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.text.when.rules import Token


def with_numbers(found: list[Token]) -> Iterator[Token]:
    """The same tokens with number words joined: twenty fourth, two thousand and fifteen."""
    waiting: Token | None = None
    for token, following in zip(found, [*found[1:], None], strict=True):
        if waiting is None:
            waiting = token
            continue
        joined = _joined(waiting, token, following)
        if joined is None:
            yield waiting
            waiting = token
        else:
            waiting = joined
    if waiting is not None:
        yield waiting


def _joined(one: Token, other: Token, following: Token | None) -> Token | None:
    if one.category != "number" or one.end - one.start < 3:  # figures are whole already; words are longer
        return None
    low, high = one.value, other.value
    if other.category == "scale":
        value = low // 1000 * 1000 + low % 1000 * high
    elif (
        other.category == "dash"
        and low in _TENS
        and following
        and following.category in {"number", "ordinal"}
    ):
        return Token("number", one.start, other.end, low) if following.start == other.end else None
    elif other.category == "and" and low >= 100 and following and following.category in {"number", "ordinal"}:
        return Token("number", one.start, other.end, low)
    elif other.category in {"number", "ordinal"} and _fits(low, high):
        value = low + high
    else:
        return None
    category = "year" if 1000 <= value < 3000 and other.category != "ordinal" else other.category
    category = "number" if category == "scale" else category
    if category == "year" and following and following.category in {"number", "and", "scale"}:
        category = "number"
    return Token(category, one.start, other.end, value)


_TENS: Final = frozenset(range(20, 100, 10))


def _fits(low: int, high: int) -> bool:
    return (
        (low in _TENS and 0 < high < 10)
        or (low >= 100 and low % 100 == 0 and high < 100)
        or (low >= 1000 and low % 1000 == 0 and high < 1000)
    )


NUMERALS = "零〇一二两兩三四五六七八九十百千廿"
_DIGITS: Final = {**dict(zip("零一二三四五六七八九", range(10), strict=True)), "〇": 0, "两": 2, "兩": 2}


def numeral(written: str) -> int:
    """The value of a Chinese number.

    >>> numeral("二零一六"), numeral("三十一"), numeral("廿五"), numeral("一百零八")
    (2016, 31, 25, 108)
    """
    if not set(written) & set("十百千廿"):
        return int("".join(str(_DIGITS[sign]) for sign in written))
    total, last = 0, 0
    for sign in written:
        if sign in _DIGITS:
            last = _DIGITS[sign]
        elif sign == "廿":
            total += 20
        else:
            total += (last or 1) * {"十": 10, "百": 100, "千": 1000}[sign]
            last = 0
    return total + last
