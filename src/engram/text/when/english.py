"""English: the tables of rules in the order they are applied."""

from __future__ import annotations

from functools import cache

from engram.text.when.english_counted import COUNTED
from engram.text.when.english_days import DAYS
from engram.text.when.english_lengths import LENGTHS
from engram.text.when.english_ranges import RANGES
from engram.text.when.english_relative import RELATIVE
from engram.text.when.english_times import TIMES
from engram.text.when.rules import Rule, table


@cache
def rules() -> tuple[Rule, ...]:
    """Times of day first, then days, then what is made of both."""
    return table([*TIMES, *LENGTHS, *DAYS, *RELATIVE, *COUNTED, *RANGES])
