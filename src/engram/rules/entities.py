"""Entities: a name and what is known come in, the one entity it means comes out, or none.

In this order: the same name or alias, but for case, accents, hyphens, "the" and a possessive; a firm's name
without what sort of firm it is (Acme Corp, Acme Inc); a known short form (k8s, NYC); a part of one person's
name only (Anna, Smith, A. Smith, Bob Smith, @anna); initials (MIT); a slip of the pen in a long word. Wrongly
joined entities mix up two people, so a doubt means None: names with other digits (GPT-4, GPT-5) are never
one, short names must be the same, and types agree unless the names are equal. Two names that may mean one
entity share one of their `keys_of` or are `nearly_spelt` alike: by these a store finds candidates.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from engram.model.facts import Entity, Fact, Named, words_of
from engram.text import lexicon, re
from engram.text.kinds import known, vocabulary
from engram.text.statement import plain_name

_EXACT_TYPES: Final = frozenset({"file", "url", "email", "version"})
"""What has a fixed form is the same only letter by letter."""
_PERSON_LIKE: Final = frozenset({"person", "handle"})
_SHORTEST_SLIP: Final = 5
"""In words of fewer letters one letter makes another word."""
_LONG_FIRST_NAME: Final = 7
_SHORTEST_INITIALS: Final = 3
_LONGEST_INITIALS: Final = 6


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
    for rule in (_same_firm, _short_form, _part_of_person, _initials, _slip):
        found = [entity for entity in likely if rule(named, entity)]
        if found:
            return _only(found)
    return _only([entity for entity in candidates if _firm_in_short(named, entity)])


def also_called(name: str) -> frozenset[str]:
    """A name as facts write it with the forms that mean the same to everybody.

    >>> sorted(also_called("k8s")), sorted(also_called("Anna"))
    (['k8s', 'kubernetes'], ['anna'])
    """
    meant = _meanings(name)
    return frozenset({plain_name(name)}).union(*(_forms().get(one, ()) for one in meant))


@lru_cache(maxsize=1 << 13)
def keys_of(name: str) -> frozenset[str]:
    """What a name is looked up by: its words, and signs that it shares with names that may mean the same.

    >>> (
    ...     bool(keys_of("Zoë Brontë") & keys_of("zoe bronte")),
    ...     bool(keys_of("MIT") & keys_of("Moscow Institute")),
    ... )
    (True, False)
    >>> bool(keys_of("Bob Hayes") & keys_of("robert hayes") - {"hayes"})
    True
    """
    tokens = _tokens(name)
    keys = {*words_of(name), *tokens, *(f"={_compact(form)}" for form in _spelt(name)), f"={_firm(name)}"}
    keys |= {f"@{meaning.lower()}" for meaning in _meanings(name)}
    if len(tokens) > 1:
        keys |= {f"^{letters}" for letters in _first_letters(tokens)}
        keys |= {f"~{first} {tokens[-1]}" for first in _firsts(tokens[0])}
    elif name.isascii() and len(tokens) == 1 and _SHORTEST_INITIALS <= len(tokens[0]) <= _LONGEST_INITIALS:
        keys.add(f"^{tokens[0]}")
    return frozenset(keys - {"="})


def nearly_spelt(name: str, other: str) -> bool:
    """Whether two names may be one but for a slip of the pen.

    >>> nearly_spelt("Kuberentes", "kubernetes"), nearly_spelt("Austria", "australia")
    (True, False)
    """
    mine = folded(name)
    theirs = (other.lower(),) if other.isascii() and other.isalnum() else _spelt(other)
    return any(_nearly(mine, one, person=False) for one in theirs)


def roles_in(facts: Iterable[Fact]) -> dict[str, str]:
    """Who is somebody's wife, boss or dentist by these facts: the name in lower case, and the role.

    >>> roles_in([Fact("user", "wife", "anna"), Fact("user", "like", "tea")])
    {'anna': 'wife'}
    """
    return {fact.object.casefold(): fact.predicate for fact in facts if _role(fact.predicate)}


def may_be_one(role: str, known: Iterable[str]) -> bool:
    """Whether somebody in a role may be who is known in these: a friend may be a colleague, a wife no boss.

    >>> may_be_one("boss", {"brother"}), may_be_one("friend", {"boss"}), may_be_one("mum", {"mother"})
    (False, True, True)
    """
    mine, theirs = _role(role), {_role(one) for one in known} - {""}
    return not mine or not theirs or mine in theirs or bool({mine, *theirs} & _LOOSE_ROLES)


def _role(predicate: str) -> str:
    """The role that a predicate names, by one word for several; empty when it names none."""
    word = _SAME_ROLE.get(predicate, predicate)
    return word if word in lexicon.words("kin") or word in lexicon.words("roles") else ""


_SAME_ROLE: Final = {
    "mom": "mother", "mum": "mother", "dad": "father", "manager": "boss", "spouse": "partner",
    "wife": "partner", "husband": "partner", "girlfriend": "partner", "boyfriend": "partner",
    "fiance": "partner", "fiancee": "partner", "neighbor": "neighbour", "coworker": "colleague",
}  # fmt: skip
_LOOSE_ROLES: Final = frozenset(
    {"friend", "colleague", "neighbour", "roommate", "flatmate", "teammate", "classmate", "owner", "lead"}
)
"""What somebody may be beside anything else."""


def _first_letters(tokens: Sequence[str]) -> set[str]:
    small = {"of", "the", "and", "for", "de", "la"}
    told = (tokens, [token for token in tokens if token not in small])
    return {"".join(token[0] for token in some) for some in told if len(some) > 1}


def _only(found: Sequence[Entity]) -> Entity | None:
    return found[0] if len({(one.namespace, one.key, one.name) for one in found}) == 1 else None


def _names(entity: Entity) -> frozenset[str]:
    return _spellings((entity.name, *entity.aliases))


@lru_cache(maxsize=1 << 12)
def _spellings(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(form for name in names for form in _spelt(name)) - {""}


@lru_cache(maxsize=1 << 12)
def _spelt(name: str) -> frozenset[str]:
    """A name folded, and as it is spelt where there are no umlauts.

    >>> sorted(_spelt("Müller"))
    ['mueller', 'muller']
    """
    return frozenset({folded(name), folded(name.casefold().translate(_UMLAUTS))})


_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


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
    mine = _digits(folded(named.name))
    theirs = [digits for name in _names(entity) if (digits := _digits(name))]
    return not mine or not theirs or mine in theirs


# ---------------------------------------------------------------- the rules, surest first


def _same(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & _EXACT_TYPES:
        known = (entity.name, *entity.aliases)
        return named.name.strip().lower() in {alias.strip().lower() for alias in known}
    mine = {_compact(form) for name in (named.name, named.canonical) if name for form in _spelt(name)}
    return not mine.isdisjoint(_compact(name) for name in _names(entity))


def _same_firm(named: Named, entity: Entity) -> bool:
    """Whether two firms differ only in what sort of firm they are said to be."""
    if not {named.type, entity.type} <= {"organization", "unknown", "service", "project"}:
        return False
    mine = _firm(named.name)
    return bool(mine) and any(mine == _firm(name) for name in (entity.name, *entity.aliases))


def _firm_in_short(named: Named, entity: Entity) -> bool:
    """Whether what looks like a person's name is a firm's without its legal form: "Acme wants a discount"."""
    if named.type != "person" or entity.type != "organization":
        return False
    return folded(named.name) == _firm(entity.name) != folded(entity.name)


@lru_cache(maxsize=1 << 12)
def _firm(name: str) -> str:
    """A firm's own name, without its legal form.

    >>> _firm("Acme Corp."), _firm("ACME Corporation"), _firm("华为技术有限公司"), _firm("Bank")
    ('acme', 'acme', '华为', 'bank')
    """
    words = folded(name).split()
    while len(words) > 1 and words[-1] in _LEGAL_FORMS:
        words.pop()
    whole = _compact(" ".join(words))
    return _FIRM_ENDING.sub("", whole) or whole


_LEGAL_FORMS: Final = frozenset(
    {
        "inc", "ltd", "limited", "llc", "llp", "corp", "corporation", "gmbh", "ag", "co", "company", "plc",
        "bv", "nv", "oy", "ab", "sa", "srl", "kg", "ug", "spa", "pty", "kk", "se", "as", "asa",
        "incorporated",
    }
)  # fmt: skip
_FIRM_ENDING = re.compile(
    "(?<=[一-鿿]{2})(?:科技|技术|信息|网络|软件|电子|实业|控股)*(?:股份)?(?:有限)?(?:责任)?(?:公司|集团)$"
)


def _short_form(named: Named, entity: Entity) -> bool:
    if {named.type, entity.type} & (_EXACT_TYPES | _PERSON_LIKE):
        return False
    meant = _meanings(named.name)
    return any(meant & _meanings(name) for name in (entity.name, *entity.aliases))


def _part_of_person(named: Named, entity: Entity) -> bool:
    """Whether one is part of the other's full name, and no other full name speaks against it."""
    if entity.type != "person":
        return False
    mine = _tokens(named.name)
    theirs = [_tokens(name) for name in _names(entity)]
    if mine in theirs and named.type in {*_PERSON_LIKE, "unknown"}:
        return True  # but for a title
    if not _may_be_person(named) or not mine or not theirs or max(map(len, (mine, *theirs))) == 1:
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
    mine = folded(named.name)
    return any(_nearly(mine, name, person=person) for name in _names(entity))


# ---------------------------------------------------------------- folding

_POSSESSIVE = re.compile(r"['’]s?$")
_ARTICLE = re.compile(r"^(?:the|a|an|our|my)\s+(?=\S)")
_BETWEEN = re.compile(r"(?<!\d)[.]|[.](?!\d)|[\s_/&,'’()\"-]+")


@lru_cache(maxsize=1 << 12)
def folded(name: str) -> str:
    """A name without what does not tell names apart.

    >>> folded("The Smith-Jones's"), folded("José"), folded("Node.js"), folded("v1.2")
    ('smith jones', 'jose', 'node js', 'v1.2')
    """
    if name.isascii() and name.isalnum():
        return name.lower()
    wide = unicodedata.normalize("NFKD", name.strip()).casefold()
    plain = "".join(char for char in wide if not unicodedata.combining(char))
    plain = _ARTICLE.sub("", _POSSESSIVE.sub("", plain.translate(_LETTERS)))
    spaced = " ".join(_BETWEEN.sub(" ", plain).split())
    while _ARTICLE.match(spaced):  # "A-Team" begins with no article
        spaced = spaced.replace(" ", "", 1)
    return spaced or wide.strip()


_LETTERS: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i"})


@lru_cache(maxsize=1 << 12)
def _compact(name: str) -> str:
    """Words run together, but not two numbers: "node js" is "nodejs", "3 5" is not "35"."""
    return re.sub(r"(?<!\d) | (?!\d)", "", name)


@lru_cache(maxsize=1 << 12)
def _tokens(name: str) -> tuple[str, ...]:
    words = folded(name.lstrip("@")).split()
    if initial := _INITIAL.match(name):  # "A. Smith" begins with no article
        words = [initial[1].casefold(), *folded(name[initial.end() :]).split()]
    titles = lexicon.words("titles")
    return tuple(word for word in words if word not in titles) or tuple(words)


_INITIAL = re.compile(r"\s*([^\W\d_])\.\s+(?=\w)")


@lru_cache(maxsize=1 << 12)
def _digits(name: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+(?:\.\d+)*", name))


# ---------------------------------------------------------------- short forms


@lru_cache(maxsize=1 << 12)
def _meanings(name: str) -> frozenset[str]:
    """What a name is the short form of, or is itself."""
    plain = " ".join(name.strip().split())
    tech = known(plain) or known(folded(plain))
    place = _short_forms().get(plain.lower()) or _short_forms().get(folded(plain))
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
                forms[form.strip().lower()] = forms[folded(form)] = name
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
    first = _tokens(named.name)[:1]
    if named.type != "unknown" or not first:
        return False
    initial = len(first[0]) == 1 and len(_tokens(named.name)) > 1
    return initial or first[0] in lexicon.words("first_names") or bool(_full(first[0]))


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
def _firsts(first: str) -> tuple[str, ...]:
    """A first name, its letter, and what else its bearers may be called."""
    return (first, first[0], *_called(first), *_full(first))


def _called(first: str) -> tuple[str, ...]:
    return _nicknames().get(first, ())


@lru_cache(maxsize=1 << 10)
def _full(nickname: str) -> tuple[str, ...]:
    """The names whose bearers are called so."""
    return tuple(name for name, others in _nicknames().items() if nickname in others)


@cache
def _nicknames() -> dict[str, tuple[str, ...]]:
    rows = (row.partition(" = ") for row in lexicon.lines("nicknames"))
    return {name: tuple(others.split()) for name, _, others in rows}


# ---------------------------------------------------------------- slips of the pen


def _nearly(one: str, other: str, *, person: bool) -> bool:
    """Whether two names differ by one slip in one long word, which makes no other name that is known."""
    if abs(len(one) - len(other)) > 1:
        return False
    mine, theirs = one.split(), other.split()
    if len(mine) != len(theirs) or _digits(one) != _digits(other):
        return False
    changed = [at for at, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b]
    if len(changed) != 1 or (known(one) and known(other)):
        return False
    at = changed[0]
    if person and at == 0 and not (_misspelt(mine[0], theirs[0]) or _doubled(mine[0], theirs[0])):
        return False
    if person and at > 0 and not _same_letters(mine[at], theirs[at]):
        return False  # Miller and Muller are two families
    return _one_slip(mine[at], theirs[at], least=_SHORTEST_SLIP)


def _misspelt(one: str, other: str) -> bool:
    """Whether a first name has one wrong letter inside: Jonathon. Other slips make other names: Martina."""
    names = lexicon.words("first_names")
    if len(one) != len(other) or len(one) < _LONG_FIRST_NAME or (one in names and other in names):
        return False
    return sum(a != b for a, b in zip(one, other, strict=True)) == 1 and one[-1] == other[-1]


def _doubled(one: str, other: str) -> bool:
    """Whether a long first name has one letter once or twice: Kristoffer."""
    return min(len(one), len(other)) >= _LONG_FIRST_NAME and _once(one) == _once(other)


def _same_letters(one: str, other: str) -> bool:
    """Whether a letter is doubled, swapped or one that sounds alike, and none is another."""
    return sorted(one) == sorted(other) or _once(one).translate(_SOUNDS) == _once(other).translate(_SOUNDS)


def _once(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)


_SOUNDS: Final = str.maketrans({"w": "v", "y": "i", "k": "c", "z": "s"})


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
