"""Telling: a statement and who said it come in; whether it can stand for others in a summary comes out."""

from __future__ import annotations

from functools import lru_cache

from engram.text.junk import is_filler
from engram.text.substance import has_substance


@lru_cache(maxsize=1 << 14)
def tells(statement: str, speaker: str = "") -> bool:
    """Whether a statement says something by itself. What nobody said in a talk is taken as it was written.

    >>> tells("Anna!", "Bob"), tells("[shares a photo: a red door]", "Bob"), tells("I adopted a cat", "Bob")
    (False, False, True)
    >>> tells("Deploys fail on Fridays")
    True
    """
    if statement.startswith("[") and statement.endswith("]"):
        return False
    if is_filler(statement):
        return False
    return not speaker or (len(statement.split()) >= FEW and has_substance(statement))


FEW = 3
"""Fewer words of a talk tell nothing."""
