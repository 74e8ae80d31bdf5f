"""Names in a question: its words come in; the known entities among them come out, with their other names.

The store is asked once, for a bounded number of words and groups of words; it answers with entities that the
caller may see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engram.model.entity import Entity
from engram.model.scope import Access
from engram.ports import Tools
from engram.text import lexicon, words
from engram.text.scripts import HAN

MOST_WORDS: Final = 40
"""Words of a question that may be names or parts of names."""
LONGEST_NAME: Final = 3
"""Words of a name."""
MOST_ENTITIES: Final = 5
MOST_ALIASES: Final = 12
"""Terms of other names that are searched too."""

_WORD = re.compile(rf"[{HAN}]+|[^\W_](?:[\w.+#@/-]*[\w+#])?")
_HAN = re.compile(f"[{HAN}]")


def known(question: str, access: Access, tools: Tools) -> list[Entity]:
    """The entities that a question names, in the order of the question."""
    names = list(dict.fromkeys(candidates(question)))
    if not names:
        return []
    found = tools.store.entities.among(names, access)
    places = {name: place for place, name in enumerate(names)}
    return sorted(found, key=lambda one: _place(one, places))[:MOST_ENTITIES]


def candidates(question: str) -> Iterator[str]:
    """What may be a name in a question, without case, longest groups first.

    >>> list(candidates("Does Bob Smith's dog bark?"))
    ['bob smith dog', 'smith dog bark', 'bob smith', 'smith dog', 'dog bark', 'bob', 'smith', 'dog', 'bark']
    >>> list(candidates("王芳住哪"))
    ['王芳住哪', '王芳住', '芳住哪', '王芳', '芳住', '住哪']
    """
    found = [piece.casefold().removesuffix("'s") for piece in _WORD.findall(_without_possessives(question))]
    kept = found[:MOST_WORDS]
    for size in range(LONGEST_NAME, 0, -1):
        for at in range(len(kept) - size + 1):
            group = kept[at : at + size]
            if not _HAN.search("".join(group)) and not _idle(group):
                yield " ".join(group)
    for run in kept:
        if _HAN.search(run):
            yield from _pieces(run[:MOST_WORDS])


def aliases(entities: Sequence[Entity], asked: Sequence[str]) -> tuple[str, ...]:
    """Terms of the entities' other names that the question itself does not have.

    >>> aliases([Entity("Robert Smith", aliases=("bob", "robert smith"))], ["bob", "dog"])
    ('robert', 'smith')
    """
    had = set(asked)
    more = (term for one in entities for name in (one.name, *one.aliases) for term in words.terms(name))
    return tuple(dict.fromkeys(t for t in more if t not in had and not t.startswith(words.SINGLE)))[
        :MOST_ALIASES
    ]


def others(question: str, entities: Sequence[Entity]) -> int:
    """How many telling words a question has beside the names of these entities.

    >>> others("Who is Anna Smith?", [Entity("Anna Smith", aliases=("anna smith",))])
    0
    """
    own = {term for one in entities for name in (one.name, *one.aliases) for term in words.terms(name)}
    asked = words.query_terms(question)
    return 0 if asked.weak else len([term for term in asked.terms if term not in own])


def _without_possessives(question: str) -> str:
    return question.replace("’", "'").replace("'s ", " ").replace("'s?", "?")


def _idle(group: Sequence[str]) -> bool:
    """Whether a group begins or ends with a word too common to be part of a name."""
    common = lexicon.words("stop_words")
    return group[0] in common or group[-1] in common


def _pieces(run: str) -> Iterator[str]:
    for size in range(4, 1, -1):
        yield from (run[at : at + size] for at in range(len(run) - size + 1))


def _place(entity: Entity, places: dict[str, int]) -> tuple[int, str]:
    return min((places[name] for name in entity.aliases if name in places), default=len(places)), entity.name
