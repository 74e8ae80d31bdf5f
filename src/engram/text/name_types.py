"""What a name names: the name and the words around it come in, its type comes out.

Well-known places, peoples and organizations are listed; for the rest the words before and after a name and
its own last word tell: "works at X", "X said", "X University". Without such a sign the type is `unknown`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.phrases import listed

UNKNOWN: Final = "unknown"


def type_of(name: str, before: str, after: str) -> str:
    """The type of `name` between `before` and `after`.

    >>> type_of("Globex", "I work at ", " with Zelda"), type_of("Zelda", "I talked to ", " about it")
    ('organization', 'person')
    >>> type_of("Apollo", "We ship project ", " soon"), type_of("Foo Bar", "", "")
    ('project', 'unknown')
    """
    own = by_its_words(name)
    if own:
        return own
    led, strong = led_by(_last_words(before))
    followed = followed_by(after)
    if strong or not followed:
        return led or ("person" if _is_somebody(before, after) else UNKNOWN)
    return followed


def listed_as(name: str) -> tuple[str, bool]:
    """The type of a well-known name, and whether it is a plain word as well; ('', False) for others.

    >>> listed_as("Berlin"), listed_as("Apple"), listed_as("Zelda")
    (('location', False), ('organization', True), ('', False))
    """
    return _well_known().get(name.lower(), ("", False))


def by_its_words(name: str) -> str:
    """The type that the first or the last word of a longer name gives.

    >>> by_its_words("Acme Inc."), by_its_words("Lake Garda"), by_its_words("Park")
    ('organization', 'location', '')
    """
    first, space, rest = name.lower().partition(" ")
    if not space:
        return ""
    last = rest.rpartition(" ")[2].rstrip(".")
    return _cues("endings").get(last, "") or _cues("beginnings").get(first, "")


@lru_cache(maxsize=1 << 12)
def led_by(words: str) -> tuple[str, bool]:
    """The type that the words before a name announce, and whether more than one word does.

    >>> led_by("I moved to"), led_by("give that to"), led_by("it was")
    (('location', True), ('location', False), ('', False))
    """
    held = words.lower().replace(".", "").split(" ")
    cues = _cues("before")
    for size in (3, 2, 1):
        found = cues.get(" ".join(held[-size:])) if len(held) >= size else None
        if found:
            return found, size > 1 or held[-1] in _TITLES
    return "", False


def followed_by(after: str) -> str:
    """The type that the word after a name gives.

    >>> followed_by(" said hello"), followed_by(" API."), followed_by(", said")
    ('person', 'service', '')
    """
    if after[:1] != " ":
        return ""
    return _cues("after").get(after[1:].split(" ", 1)[0].rstrip(".,;:!?").lower(), "")


def leads_to(before: str) -> tuple[str, bool]:
    """As `led_by`, for the whole text before a name."""
    return led_by(_last_words(before))


@cache
def openers() -> frozenset[str]:
    """Verbs that begin an order and stand before a name."""
    return frozenset(word for row in lexicon.parts("name_cues")["openers"] for word in row.split())


_TITLES: Final = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir", "uncle", "aunt"})
_CALL: Final = 20
_ENDS: Final = frozenset({"!", "?", ".", ""})
_REACH: Final = 40


def _last_words(before: str) -> str:
    """The last three words, when nothing but a space or an opening mark parts them from the name."""
    near = before[-_REACH:].rstrip("\"'“‘(*_")
    near = near.removesuffix("the ")
    return " ".join(near.rsplit(" ", 4)[-4:-1]) if near.endswith(" ") else ""


def _is_somebody(before: str, after: str) -> bool:
    """Whether a name is called ("Wow, Anna!"), owns something, or is told to be somebody ("is my sister")."""
    if after.startswith("'s"):
        return True
    # In "Rome, Oslo, Zelda." the name is one of a row; after a plain word it calls somebody.
    alone = len(before) < _CALL or before[:-2].rpartition(" ")[2].islower()
    called = alone and before.endswith(", ") and after[:1] in _ENDS
    told = after.split(" ", 4)[1:4] if after.startswith((" is ", " was ")) else ()
    return called or (len(told) > 2 and _cues("before").get(told[2].rstrip(".,;!?")) == "person")  # noqa: PLR2004


@cache
def _cues(part: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for words, type_ in listed("name_cues", part):
        found.setdefault(words, type_)
    return found


@cache
def _well_known() -> dict[str, tuple[str, bool]]:
    lists = (
        ("concept", "places", "peoples"),
        ("location", "places", "countries"),
        ("location", "places", "cities"),
        ("organization", "organizations", "english"),
    )
    return {
        name.removeprefix("~").lower(): (type_, name.startswith("~"))
        for type_, file, part in lists
        for name, _ in listed(file, part)
    }
