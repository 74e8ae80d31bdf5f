"""Predicates: what a fact says about its subject, one word for one meaning, and the fact put into words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import HAN
from engram.text.statement import USER

_HAN = re.compile(f"[{HAN}]")
_BE: Final = re.compile(r"^(?:is|are|was|were|am) (?=\w+ (?:to|in|on|at|by|of|from|with)$)")


@lru_cache(maxsize=1 << 10)
def canonical(predicate: str) -> str:
    """The one form of a predicate, whichever words or spelling it comes in.

    >>> canonical("Lives_In"), canonical("is married to"), canonical("favourite colour"), canonical("orbits")
    ('live in', 'married to', 'favorite colour', 'orbits')
    """
    plain = " ".join(predicate.replace("_", " ").lower().split())
    known = _forms().get(plain)
    if known is not None:
        return known
    if plain.startswith("favourite "):
        plain = "favorite " + plain[10:]
    bare = _BE.sub("", plain)
    return _forms().get(bare, bare)


def is_functional(predicate: str) -> bool:
    """Whether there is one object at a time.

    >>> is_functional("lives in"), is_functional("likes"), is_functional("birthday"), is_functional("sister")
    (True, False, True, False)
    """
    word = canonical(predicate)
    if word in _one_at_a_time() or word.startswith("favorite "):
        return True
    if word in _forms() or _is_listed(word, "shared_attributes"):
        return False
    return _is_listed(word, "attributes") or _is_listed(word, "roles")


def asked(predicate: str) -> frozenset[str]:
    """Every predicate that answers to a word; none for no word.

    >>> sorted(asked("sibling")), asked("works for")
    (['brother', 'sibling', 'sister'], frozenset({'work at'}))
    """
    if not predicate.strip():
        return frozenset()
    word = canonical(predicate)
    return frozenset({word, *_kinds().get(word, ())})


def worded(subject: str, predicate: str, object: str) -> str:  # noqa: A002 - the word for it
    """A fact as a sentence.

    >>> worded("Anna", "live in", "Rome"), worded("user", "editor", "vim"), worded("小明", "喜欢", "茶")
    ('Anna lives in Rome', "User's editor is vim", '小明喜欢茶')
    """
    who = "User" if subject.lower() in {USER, "i", "me"} else subject
    word = canonical(predicate)
    if _HAN.search(predicate):
        return f"{who}{predicate}{object}"
    if word in _spoken():
        return f"{who} {_spoken()[word]} {object}"
    if _is_noun(word):
        return f"{who}'s {word} is {object}"
    return f"{who} {' '.join(predicate.replace('_', ' ').split())} {object}"


def ways() -> Iterator[tuple[str, str]]:
    """Each way to say a predicate, with the predicate."""
    yield from _forms().items()


@cache
def roles() -> frozenset[str]:
    """Nouns for somebody who is spoken of by what they are to another: "my sister", "his boss"."""
    listed = lexicon.words("roles") | lexicon.words("shared_attributes")
    return frozenset(word.replace("_", " ") for word in listed)


def _is_noun(word: str) -> bool:
    return word.startswith("favorite ") or any(
        _is_listed(word, name) for name in ("attributes", "roles", "shared_attributes")
    )


def _is_listed(word: str, name: str) -> bool:
    listed = lexicon.words(name)
    return word.replace(" ", "_") in listed or word.rsplit(maxsplit=1)[-1] in listed


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Each predicate with its other forms, the spoken one first."""
    parts = lexicon.parts("predicates")
    rows = (row.partition(" = ") for heading in ("one at a time", "many") for row in parts[heading])
    return {word: tuple(form.strip() for form in forms.split(",")) for word, _, forms in rows}


@cache
def _forms() -> dict[str, str]:
    forms = {form: word for word, others in _table().items() for form in others}
    return forms | {word: word for word in _table()}


@cache
def _spoken() -> dict[str, str]:
    nouns = lexicon.words("attributes")
    return {word: forms[0] for word, forms in _table().items() if word.replace(" ", "_") not in nouns}


@cache
def _one_at_a_time() -> frozenset[str]:
    return frozenset(row.partition(" = ")[0] for row in lexicon.parts("predicates")["one at a time"])


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    rows = (row.partition(" = ") for row in lexicon.parts("predicates")["kinds"])
    return {word: tuple(kind.replace("_", " ") for kind in kinds.split()) for word, _, kinds in rows}
