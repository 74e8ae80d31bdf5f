"""The neighbours channel: in a conversation the answer often stands beside the words that were asked for.

A hit lends part of its fit to the turn that follows and to the one before; a turn that asks lends more to its
answer. It finds turns that share no word with the question at all.
"""

from __future__ import annotations

from engram.model.relations import EdgeType
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned

QUESTION_MARKS = ("?", "？", "吗", "呢")
QUESTION_TAIL = 40
"""A turn asks when a question mark stands within so many characters of its end."""


def lend(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Let the best candidates lend to their neighbours; new candidates may come in."""
    settings = tools.config.recall
    lenders = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[: settings.lenders]
    own = {c.key: (c.own, c.relevance) for c in lenders if c.own > 0}
    links = tools.store.relations.links(list(own), (EdgeType.NEXT,), plan.view)
    asking = _asking([link.key for link in links if link.forward], tools)
    for link in links:
        fit, relevance = own[link.key]
        share = settings.next_share if link.forward else settings.previous_share
        if link.key in asking and link.forward:
            share += settings.answer_share
        target = candidates.setdefault(link.other, Candidate(link.other))
        target.lent += share * fit
        target.lent_relevance = max(target.lent_relevance, share * relevance)


def _asking(keys: list[int], tools: Tools) -> set[int]:
    endings = tools.store.memories.endings(keys, QUESTION_TAIL) if keys else {}
    return {key for key, ending in endings.items() if asks(ending)}


def asks(content: str) -> bool:
    """Whether a turn ends with a question.

    >>> (
    ...     asks("I was there. How about you?"),
    ...     asks("Why? Because I said so, and that is the whole of it, really."),
    ... )
    (True, False)
    """
    return any(mark in content[-QUESTION_TAIL:] for mark in QUESTION_MARKS)
