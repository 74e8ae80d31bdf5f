"""What texts have in common: several texts come in; the words that all have, in order, and what differs do.

>>> shared = common(["Deployed v1.2 on Friday, it failed", "Deployed v1.3 on Friday, it failed again"])
>>> str(shared), shared.slots
('Deployed … on Friday, it failed', (('v1.2', 'v1.3'),))
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engram.text.words import content_words

GAP: Final = "…"
LONGEST: Final = 80
"""Words of each text that are compared."""
VALUES: Final = 10
"""Values of a slot that are kept."""
_WORD = re.compile(r"\w[\w.'’-]*\w|\w|[^\w\s]")
_CLOSE: Final = frozenset(",.;:!?)]}%’'”")


@dataclass(frozen=True, slots=True)
class Shared:
    """Words that all texts have, with gaps where they differ."""

    words: tuple[str, ...]
    """As the first text writes them; a gap stands as "…"."""
    slots: tuple[tuple[str, ...], ...] = ()
    """What stands in each gap, each value once."""
    whole: bool = False
    """Whether every text begins and ends with these words: nothing is cut off at an end."""

    def __str__(self) -> str:
        out = ""
        for word in self.words:
            out += word if not out or word in _CLOSE else f" {word}"
        return out

    @property
    def says(self) -> frozenset[str]:
        """The words that carry meaning."""
        return content_words(" ".join(word for word in self.words if word != GAP))


def common(texts: Sequence[str]) -> Shared:
    """What all of the texts say in the same words and the same order."""
    rows = [_WORD.findall(text)[:LONGEST] for text in texts]
    if not rows:
        return Shared(())
    kept = list(range(len(rows[0])))
    for row in rows[1:]:
        kept = [kept[place] for place, _ in _aligned([rows[0][at] for at in kept], row)]
    return _with_gaps([rows[0][at] for at in kept], rows)


def _with_gaps(words: Sequence[str], rows: Sequence[Sequence[str]]) -> Shared:
    """Gaps between shared words wherever some text has others there; what stands before and after is left."""
    between: list[dict[str, None]] = [{} for _ in words]
    whole = bool(words)
    for row in rows:
        last = -1
        for place, at in _aligned(words, row):
            if place and at > last + 1:
                between[place][" ".join(row[last + 1 : at])] = None
            whole = whole and bool(place or not at)
            last = at
        whole = whole and len(row) < LONGEST and not any(word[0].isalnum() for word in row[last + 1 :])
    out: list[str] = []
    for place, word in enumerate(words):
        out += [GAP, word] if between[place] else [word]
    return Shared(tuple(out), tuple(tuple(values)[:VALUES] for values in between if values), whole)


def _aligned(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the longest row of words that both have, in order, without regard to case."""
    mine, theirs = [word.lower() for word in one], [word.lower() for word in other]
    best = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i in range(len(mine) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            same = mine[i] == theirs[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(mine) and j < len(theirs):
        if mine[i] == theirs[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
