"""Entities: a name and what is known come in, the one entity it means comes out, or none.

In this order: the same name or alias, but for case, accents, hyphens, "the" and a possessive; a known short
form (k8s, NYC); a part of one person's name only (Anna, Smith, A. Smith, @anna); initials (MIT); a slip of
the pen in a long word. Wrongly joined entities mix up two people, so a doubt means None: names with other
digits (GPT-4, GPT-5) are never one, short names must be the same, and types agree unless the names are equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from engram.model.facts import Entity, Named
from engram.text import lexicon
from engram.text.kinds import known, vocabulary

_EXACT_TYPES: Final = frozenset({"file", "url", "email", "version"})
"""What has a fixed form is the same only letter by letter."""
_PERSON_LIKE: Final = frozenset({"person", "handle"})
_SHORTEST_SLIP: Final = 5
"""In words of fewer letters one letter makes another word."""
_LONG_FIRST_NAME: Final = 7
_SHORTEST_INITIALS: Final = 3


def resolve(named: Named, candidates: Sequence[Entity]) -> Entity | None:
    """The candidate that the name means; None when none does, or when several might.

    >>> anna, bob = Entity("Anna Smith", type="person"), Entity("Bob Smith", type="person")
    >>> resolve(Named("anna", "person"), [anna, bob]) is anna, resolve(Named("Smith", "person"), [anna, bob])
    (True, None)
    >>> resolve(Named("k8s", "technology"), [Entity("Kubernetes", type="technology")]).name
    'Kubernetes'
    """
    same = [entity for entity in candidates if _same(named, entity)]
    if same:
        return _only([entity for entity in same if _agree(named, entity)] or same)
    likely = [entity for entity in candidates if _agree(named, entity) and _digits_agree(named, entity)]
    for rule in (_short_form, _part_of_person, _initials, _slip):
        found = [entity for entity in likely if rule(named, entity)]
        if found:
            return _only(found)
    return None


def also_called(name: str) -> frozenset[str]:
    """A name in lower case with the forms that mean the same to everybody.

    >>> sorted(also_called("k8s")), sorted(also_called("Anna"))
    (['k8s', 'kubernetes'], ['anna'])
    """
    meant = _meanings(name)
    return frozenset({name.lower()}).union(*(_forms().get(one, ()) for one in meant))


def _only(found: Sequence[Entity]) -> Entity | None:
    return found[0] if len({(one.namespace, one.key, one.name) for one in found}) == 1 else None


def folded(name: str) -> str:
    """A name without what does not tell names apart.

    >>> folded("The Smith-Jones's"), folded("José"), folded("Node.js"), folded("v1.2")
    ('smith jones', 'jose', 'node js', 'v1.2')
    """
    return _folded(name)


def _names(entity: Entity) -> frozenset[str]:
    return frozenset({_folded(entity.name), *map(_folded, entity.aliases)}) - {""}


def _agree(named: Named, entity: Entity) -> bool:
    """Whether the two may be the same sort of thing."""
    mine, theirs = named.type, entity.type
    if mine == theirs or "unknown" in (mine, theirs) or "concept" in (mine, theirs):
        return True
    return {mine, theirs} in _NEAR_TYPES


_NEAR_TYPES: Final = (
    {"person", "handle"},
    {"technology", "project"},
    {"technology", "service"},
    {"project", "service"},
    {"organization", "service"},
    {"organization", "project"},
)


def _digits_agree(named: Named, entity: Entity) -> bool:
    """Whether the numbers in both, if both hold any, are the same."""
    mine = _digits(_folded(named.name))
    theirs = [digits for name in _names(entity) if (digits := _digits(name))]
    return not mine or not theirs or mine in theirs


# ---------------------------------------------------------------- the rules, surest first


def _same(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & _EXACT_TYPES:
        known = (entity.name, *entity.aliases)
        return named.name.strip().lower() in {alias.strip().lower() for alias in known}
    mine = {_compact(_folded(name)) for name in (named.name, named.canonical) if name}
    return not mine.isdisjoint(_compact(name) for name in _names(entity))


def _short_form(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & (_EXACT_TYPES | _PERSON_LIKE):
        return False
    meant = _meanings(named.name)
    return any(meant & _meanings(name) for name in (entity.name, *entity.aliases))


def _part_of_person(named: Named, entity: Entity) -> bool:
    """Whether one is part of the other's full name, and no other full name speaks against it."""
    if entity.type != "person" or not _may_be_person(named):
        return False
    mine = _tokens(named.name)
    theirs = [_tokens(name) for name in _names(entity)]
    if mine in theirs:
        return True  # but for a title
    if not mine or not theirs or max(map(len, (mine, *theirs))) == 1:
        return False
    if len(mine) == 1:
        return any(mine[0] in (name[0], name[-1]) for name in theirs if len(name) > 1)
    return all(_same_person(mine, name) for name in theirs)


def _initials(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & (_EXACT_TYPES | _PERSON_LIKE):
        return False
    return any(
        _stands_for(named.name, name) or _stands_for(name, named.name)
        for name in (entity.name, *entity.aliases)
    )


def _slip(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & (_EXACT_TYPES | {"handle"}):
        return False
    person = "person" in (named.type, entity.type)
    mine = _folded(named.name)
    return any(_nearly(mine, name, person=person) for name in _names(entity))


# ---------------------------------------------------------------- folding

_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLE = re.compile(r"^(?:the|a|an|our|my)\s+(?=\S)")
_BETWEEN = re.compile(r"(?<!\d)[.]|[.](?!\d)|[\s_/&,'’()\"-]+")


@lru_cache(maxsize=1 << 12)
def _folded(name: str) -> str:
    wide = unicodedata.normalize("NFKD", name.strip()).casefold()
    plain = "".join(char for char in wide if not unicodedata.combining(char))
    plain = _ARTICLE.sub("", _POSSESSIVE.sub("", plain.replace("ø", "o").replace("ł", "l")))
    spaced = " ".join(_BETWEEN.sub(" ", plain).split())
    while _ARTICLE.match(spaced):  # "A-Team" begins with no article
        spaced = spaced.replace(" ", "", 1)
    return spaced or wide.strip()


def _compact(name: str) -> str:
    """Words run together, but not two numbers: "node js" is "nodejs", "3 5" is not "35"."""
    return re.sub(r"(?<!\d) | (?!\d)", "", name)


def _tokens(name: str) -> tuple[str, ...]:
    words = _folded(name.lstrip("@")).split()
    titles = lexicon.words("titles")
    return tuple(word for word in words if word not in titles and f"{word}." not in titles) or tuple(words)


def _digits(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+(?:\.\d+)*", name))


# ---------------------------------------------------------------- short forms


@lru_cache(maxsize=1 << 12)
def _meanings(name: str) -> frozenset[str]:
    """What a name is the short form of, or is itself."""
    plain = " ".join(name.strip().split())
    tech = known(plain) or known(_folded(plain))
    place = _short_forms().get(plain.lower()) or _short_forms().get(_folded(plain))
    found = {tech.name} if tech is not None and not (tech.ambiguous and plain.islower()) else set()
    return frozenset(found | ({place} if place else set()))


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    """Every form of each meaning, as people write them."""
    forms: dict[str, dict[str, None]] = {}
    pairs = [(form, tech.name) for form, tech in vocabulary().items()]
    for form, meaning in (*pairs, *_short_forms().items()):
        forms.setdefault(meaning, {meaning.lower(): None})[form] = None
    return {meaning: tuple(found) for meaning, found in forms.items()}


@cache
def _short_forms() -> dict[str, str]:
    forms: dict[str, str] = {}
    for rows in lexicon.parts("short_forms").values():
        for row in rows:
            name, _, others = row.partition(" = ")
            for form in (name, *others.split(",")):
                forms[form.strip().lower()] = forms[_folded(form)] = name
    return forms


def _stands_for(short: str, full: str) -> bool:
    """Whether capitals are the initials of a longer name: "MIT", with or without the small words."""
    letters = short.strip().replace(".", "")
    if (
        not (letters.isascii() and letters.isupper() and letters.isalpha())
        or len(letters) < _SHORTEST_INITIALS
    ):
        return False
    words = [word for word in re.split(r"[\s-]+", full.strip()) if word[:1].isalpha()]
    large = [word for word in words if word[0].isupper()]
    return any(
        len(some) > 1 and "".join(word[0] for word in some).upper() == letters for some in (words, large)
    )


# ---------------------------------------------------------------- people


def _may_be_person(named: Named) -> bool:
    if named.type in _PERSON_LIKE:
        return True
    return named.type == "unknown" and not lexicon.words("first_names").isdisjoint(_tokens(named.name)[:1])


def _same_person(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names fit one person: a lone name is first or last; initials fit what they begin."""
    if len(one) == 1 or len(other) == 1:
        lone, full = (one, other) if len(one) == 1 else (other, one)
        return lone[0] in (full[0], full[-1])
    return _fits(one[-1], other[-1]) and _fits(one[0], other[0]) and _middle_fits(one[1:-1], other[1:-1])


def _middle_fits(one: Sequence[str], other: Sequence[str]) -> bool:
    return not one or not other or all(_fits(a, b) for a, b in zip(one, other, strict=False))


def _fits(one: str, other: str) -> bool:
    if one == other or one in _called(other) or other in _called(one):
        return True
    return min(len(one), len(other)) == 1 and one[0] == other[0]


@lru_cache(maxsize=1 << 10)
def _called(first: str) -> tuple[str, ...]:
    return _nicknames().get(first, ())


@cache
def _nicknames() -> dict[str, tuple[str, ...]]:
    rows = (row.partition(" = ") for row in lexicon.lines("nicknames"))
    return {name: tuple(others.split()) for name, _, others in rows}


# ---------------------------------------------------------------- slips of the pen


def _nearly(one: str, other: str, *, person: bool) -> bool:
    """Whether two names differ by one slip in one long word, which makes no other name that is known."""
    mine, theirs = one.split(), other.split()
    if len(mine) != len(theirs) or _digits(one) != _digits(other):
        return False
    changed = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b]
    if len(changed) != 1 or (known(one) and known(other)):
        return False
    at = changed[0]
    if person and at == 0 and not _misspelt(mine[0], theirs[0]):
        return False
    return _one_slip(mine[at], theirs[at], least=_SHORTEST_SLIP)


def _misspelt(one: str, other: str) -> bool:
    """Whether a first name has one wrong letter inside: Jonathon. Other slips make other names: Martina."""
    names = lexicon.words("first_names")
    if len(one) != len(other) or len(one) < _LONG_FIRST_NAME or (one in names and other in names):
        return False
    return sum(a != b for a, b in zip(one, other, strict=True)) == 1 and one[-1] == other[-1]


def _one_slip(one: str, other: str, *, least: int) -> bool:
    """Whether one letter is missing, added, wrong, or swapped with the next, the first letter being right.

    >>> _one_slip("kuberentes", "kubernetes", least=5), _one_slip("austria", "australia", least=5)
    (True, False)
    """
    if min(len(one), len(other)) < least or abs(len(one) - len(other)) > 1 or one[0] != other[0]:
        return False
    short, long = sorted((one, other), key=len)
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if not (short[at:] + long[at:]).isalpha():
        return False
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or swapped
