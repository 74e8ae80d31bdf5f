"""Chinese: the tables of rules in the order they are applied."""

from __future__ import annotations

from functools import cache

from engram.text.when.chinese_days import DAYS
from engram.text.when.chinese_ranges import RANGES, TIMES
from engram.text.when.chinese_relative import RELATIVE
from engram.text.when.rules import Rule, table


@cache
def rules() -> tuple[Rule, ...]:
    """Times of day first, then days, then what is made of both."""
    return table([*TIMES, *DAYS, *RELATIVE, *RANGES])
