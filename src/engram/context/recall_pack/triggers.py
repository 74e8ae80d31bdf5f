"""Triggers: a message comes in; the triggers whose words it holds come out. Pure rules.

A word is found in any of its forms ("orders" by "order"), a phrase as its words in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engram.model.trigger import Trigger
from engram.text.words import terms


def matching(message: str, triggers: Iterable[Trigger]) -> list[tuple[Trigger, str]]:
    """Each trigger that the message sets off, with the first of its words that did; by its words.

    >>> from datetime import datetime
    >>> from engram.model.scope import Scope
    >>> shop = Trigger("t1", ("order", "supply chain"), ("entity:Acme",), Scope(), datetime(2026, 3, 2))
    >>> (
    ...     [word for _, word in matching("Where are my orders?", [shop])],
    ...     matching("in good order", [shop]) == [],
    ... )
    (['order'], False)
    """
    if not message.strip():
        return []
    stems, lower = terms(message), message.casefold()
    found = [(one, next((word for word in one.words if _said(word, stems, lower)), "")) for one in triggers]
    return sorted(((one, word) for one, word in found if word), key=lambda pair: (pair[0].words, pair[0].id))


def _said(word: str, stems: Sequence[str], lower: str) -> bool:
    """Whether a word or phrase is said: as it is written, or in other forms of its words."""
    written = word.casefold()
    bounds = (r"(?<!\w)", r"(?!\w)") if written.isascii() else ("", "")
    if re.search(re.escape(written).join(bounds), lower):
        return True
    wanted = terms(word) if written.isascii() else []
    length = len(wanted)
    return bool(wanted) and any(
        list(stems[start : start + length]) == wanted for start in range(len(stems) - length + 1)
    )
