"""Facts by rule: a text comes in, the triples it plainly states come out.

Conservative: questions, wishes, conditions, denials and the past give no fact, nor does "he" or "it". English
and Chinese; a sentence may give several facts. "I", "my" and "we" are the speaker, or `user` when unnamed.
"""

from __future__ import annotations

from functools import lru_cache

from engram.text import facts_chinese, facts_english
from engram.text.fact import USER, Fact
from engram.text.scripts import compatible
from engram.text.sentences import sentences

__all__ = ["Fact", "facts"]

_LONGEST = 2000


def facts(text: str, speaker: str | None = None) -> list[Fact]:
    """The facts that `text` states, once each, in order.

    >>> facts("Actually, my editor is Helix now.")
    [Fact(subject='user', predicate='editor', object='Helix', functional=True, replaces=None)]
    >>> facts("我住在上海", speaker="Lin")
    [Fact(subject='Lin', predicate='live in', object='上海', functional=True, replaces=None)]
    """
    return list(_facts(text[:_LONGEST], speaker or USER))


@lru_cache(maxsize=1 << 10)
def _facts(text: str, speaker: str) -> tuple[Fact, ...]:
    found: dict[Fact, None] = {}
    for sentence in sentences(compatible(text).replace("’", "'")):
        if sentence.startswith(("```", "~~~")):
            continue
        for fact in (*facts_english.read(sentence, speaker), *facts_chinese.read(sentence, speaker)):
            found[fact] = None
    return tuple(found)
