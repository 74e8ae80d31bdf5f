"""Cues: a question comes in; the predicates that its words ask for come out, word by word.

"In which city does my sister live?" has three: "city" is answered by where something is, "sister" by who
somebody's sister is, "live" by where one lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final

from engram.lazily import dataclass, replace
from engram.text import lexicon, re, statement, words
from engram.text.reading import read_once
from engram.text.words import HAN

VAGUE: Final = 0.4
"""What a word counts that many facts answer."""
LONGEST: Final = 3
"""Words of the longest cue."""
MOST: Final = 60
"""Words of a question that are looked at."""
_WORD = re.compile(r"[^\W_](?:[\w'’-]*\w)?")
_HAN = re.compile(f"[{HAN}]")
_OWN_NAME = re.compile(r"\bmy (?:full |first |last |own )?name\b")


@dataclass(frozen=True, slots=True)
class Cue:
    """One word, or a few that belong together, and the predicates that answer it."""

    words: str
    predicates: frozenset[str]
    weight: float = 1.0

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the question that it explains."""
        return frozenset(words.terms(self.words))


def cues(question: str) -> tuple[Cue, ...]:
    """The cues of a question, longest first; each word belongs to one.

    >>> [(cue.words, sorted(cue.predicates)) for cue in cues("Is my sister's phone number new?")]
    [('phone number', ['phone']), ('sister', ['sister'])]
    >>> [cue.words for cue in cues("Where does Anna live?")], cues("How are you?")
    (['where', 'live'], ())
    >>> [cue.words for cue in cues("What does my aunt do for a living?")]
    ['aunt', 'do for a living']
    """
    lower = question.lower()
    spoken = [_bare(word) for word in _WORD.findall(lower)[:MOST]]
    found = [*_spaced(spoken)]
    if _OWN_NAME.search(lower):  # of anything else "name" may ask for any fact
        found = [replace(cue, weight=1.0) if cue.words == "name" else cue for cue in found]
    if of_work := _OF_WORK.search(question):
        asks = of_work["asks"]
        found = [*(cue for cue in found if cue.words not in asks), Cue(asks, _WORK)]
    if not question.isascii() and _HAN.search(question):
        found += (cue for word, cue in _chinese().items() if word in question)
    return tuple(found)


_OF_WORK: Final = re.compile(
    r"(?i)\bwh?at (?:do|does) [\w'’ ]{1,40} (?P<asks>do(?: for (?:a living|work|money))?)"
    r"\s*(?:now|these days)?[?.!]*$"
)
_WORK: Final = frozenset({"job", "work at", "run a business", "occupation", "own"})
"""What answers "what does she do?"."""


def _spaced(spoken: Sequence[str]) -> Iterator[Cue]:
    stems, taken = [_stem(word) for word in spoken], set[int]()
    for size in range(LONGEST, 0, -1):
        for at in range(len(spoken) - size + 1):
            group, places = stems[at : at + size], range(at, at + size)
            if all(group) and taken.isdisjoint(places):
                cue = _cue(" ".join(spoken[at : at + size]), " ".join(group))
                if cue is not None:
                    taken.update(places)
                    yield cue


def _cue(spoken: str, stem: str) -> Cue | None:
    """What a word or group of words asks for."""
    if stem in _vague():
        return Cue(spoken, _vague()[stem], VAGUE)
    asked = _telling().get(stem, frozenset()) | _heads().get(stem, frozenset()) | _noun(spoken)
    return Cue(spoken, asked) if asked else None


def _noun(spoken: str) -> frozenset[str]:
    """A noun that things have, as it is said or in the singular."""
    for form in (spoken, spoken.removesuffix("s")):
        if form and form.replace(" ", "_") in _nouns():
            return statement.asked(form)
    return frozenset()


def _bare(word: str) -> str:
    plain = word.replace("’", "'")
    return plain.removesuffix("'s").removesuffix("'")


def _stem(spoken: str) -> str:
    """The stems of a cue; none when one of its words is so common that it asks for nothing."""
    if spoken in _ASKING:
        return spoken
    common = lexicon.words("stop_words")
    if any(word in common for word in spoken.split()):
        return ""
    return " ".join(words.terms(spoken))


_ASKING: Final = frozenset({"where", "who", "when", "name", "place"})


@cache
def _nouns() -> frozenset[str]:
    return lexicon.words("attributes") | lexicon.words("roles") | lexicon.words("shared_attributes")


@cache
def _telling() -> dict[str, frozenset[str]]:
    return _rows("telling")


@cache
def _vague() -> dict[str, frozenset[str]]:
    return _rows("vague")


@cache
def _chinese() -> dict[str, Cue]:
    rows = (row.partition(" = ") for row in lexicon.parts("fact_cues")["chinese"])
    return {word: Cue(word, _listed(answers)) for word, _, answers in rows}


def _rows(heading: str) -> dict[str, frozenset[str]]:
    rows = (row.partition(" = ") for row in lexicon.parts("fact_cues")[heading])
    return {_stem(word): _listed(answers) for word, _, answers in rows}


def _listed(answers: str) -> frozenset[str]:
    return frozenset(statement.canonical(one.strip()) for one in answers.split(","))


@cache
def _heads() -> dict[str, frozenset[str]]:
    """The telling word of each way to say a predicate: "is married to" is asked for by "married"."""
    heads: dict[str, set[str]] = {}
    for form, predicate in statement.ways():
        told = [word for word in form.split() if word not in lexicon.words("stop_words")]
        if len(told) == 1 and told[0].isascii() and _stem(told[0]):
            heads.setdefault(_stem(told[0]), set()).add(predicate)
    return {head: frozenset(found) for head, found in heads.items()}


# ---------------------------------------------------------------- kinship
# Kinship of words: the words of a question come in; other words by which people speak of the same come out.
#
# "What food must I avoid?" is answered by an allergy, "when do we get the keys?" by a day on which one
# moves. The families are data (`data/kinship.txt`), English and Chinese.


KINSHIP_MOST = 48
"""Words that a question is widened by at most."""


def kin(question: str, asked: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each word of a question that has them: terms that may answer for it.

    English words are given as they are `asked`, as terms.

    >>> found = kin("Who is my husband?", ["husband"])["husband"]
    >>> "wife" in found, "spous" in found, "husband" in found
    (True, True, False)
    >>> "老公" in kin("我丈夫是谁", ["丈夫"])["丈夫"]
    True
    """
    had, english = dict.fromkeys(asked), _english_families()
    found = {word: english[word] for word in had if word in english}
    if not question.isascii():
        found |= {word: family for word, family in _chinese_families().items() if word in question}
    return {
        word: tuple(dict.fromkeys(term for term in family if term not in had))[:KINSHIP_MOST]
        for word, family in found.items()
    }


@read_once
def people(text: str) -> frozenset[str]:
    """Terms for those a text names by what they are to somebody, people and animals.

    >>> sorted(people("my daughter wants the dog to sleep in her room"))
    ['daughter', 'dog']
    """
    return _people().intersection(words.terms(text))


def are_of_others(named: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two texts name people by what they are, and nobody is in both, in whichever words.

    >>> are_of_others(people("my kid"), people("the dog")), are_of_others(people("my kid"), people("our son"))
    (True, False)
    """
    if not named or not others or not named.isdisjoint(others):
        return False
    families = _english_families()
    return not any(others.intersection(families.get(term, ())) for term in named)


@cache
def _people() -> frozenset[str]:
    return frozenset(term for word in lexicon.words("kin") for term in words.terms(word))


def forms(asked: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each term of a question that has them: its other forms, which no stemmer joins.

    >>> forms(["buy", "boat"])
    {'buy': ('bought',)}
    """
    known = _forms()
    return {term: known[term] for term in asked if term in known}


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in lexicon.lines("irregular"):
        stems = dict.fromkeys(words.terms(word)[0] for word in row.split())
        found |= {stem: tuple(other for other in stems if other != stem) for stem in stems}
    return found


@cache
def _english_families() -> dict[str, list[str]]:
    """For each English term the terms of its families."""
    found: dict[str, list[str]] = {}
    common = lexicon.words("stop_words")
    for row in lexicon.lines("kinship"):
        spaced = row.partition("|")[0].split()
        stems = [words.chunk_terms(word, True)[0] for word in spaced if word not in common]  # noqa: FBT003
        for stem in stems:
            found.setdefault(stem, []).extend(stems)
    return found


@cache
def _chinese_families() -> dict[str, list[str]]:
    """For each Chinese word the terms of its families."""
    found: dict[str, list[str]] = {}
    for row in lexicon.lines("kinship"):
        run_on = row.partition("|")[2].split()
        pieces = [piece for word in run_on for piece in _pieces(word)]
        for word in run_on:
            found.setdefault(word, []).extend(pieces)
    return found


def _pieces(word: str) -> list[str]:
    """The pairs of a Chinese word; a single character as it is indexed alone."""
    found = words.terms(word)
    return [term for term in found if not term.startswith(words.SINGLE)] or found


# ---------------------------------------------------------------- things
# Kinds of things: people ask for the kind, "which fruit can't I eat?", and tell the thing, "no grapefruit".
#
# The kinds that a statement names are worked out when it is kept, so that a question looks up one term for
# a kind, however many things there are of it (`data/things.txt`, English and Chinese).


THING: Final = "thing"
"""How the terms for kinds begin."""
HINT: Final = "hint"
"""How those begin whose words only hint at what is asked for."""


def kinds_named(question: str, asked: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Terms for the kinds of things that each of the terms `asked` of a question names.

    >>> kinds_named("Which fruit can't I eat?", ["fruit", "eat"])["fruit"]
    ('thingfruit',)
    """
    return _of_kinds(question, asked, *_kinds(0))


def things_named(statement: str, terms: Iterable[str]) -> tuple[str, ...]:
    """Terms for the kinds of the things that a statement of these terms names.

    >>> things_named("no grapefruit for me", ["grapefruit"]), things_named("我买了草莓", [])
    (('thingfruit',), ('thingfruit',))
    """
    found = _of_kinds(statement, terms, *_kinds(1)).values()
    return tuple(dict.fromkeys(kind for kinds in found for kind in kinds))


_KindTerms = dict[str, tuple[str, ...]]


def _of_kinds(text: str, terms: Iterable[str], english: _KindTerms, chinese: _KindTerms) -> _KindTerms:
    found = {term: english[term] for term in terms if term in english}
    if not text.isascii() and _HAN.search(text):
        found |= {word: kinds for word, kinds in chinese.items() if word in text}
    return found


@cache
def _kinds(side: int) -> tuple[_KindTerms, _KindTerms]:
    """The kinds by the words that ask for them (0) or by the things of each (1), English and Chinese."""
    found: tuple[dict[str, list[str]], ...] = ({}, {})
    for row in lexicon.lines("things"):
        spaced, _, run_on = row.partition("|")
        mark, begins = (" : ", THING) if " : " in spaced else (" ~ ", HINT)
        kind = begins + spaced.split(maxsplit=1)[0]
        for place, listed in enumerate((spaced, run_on)):
            for word in listed.split(mark)[side].split():
                term = words.stem(word) if place == 0 else word
                found[place].setdefault(term, []).append(kind)
    english, chinese = ({word: tuple(dict.fromkeys(told)) for word, told in one.items()} for one in found)
    return english, chinese


# ---------------------------------------------------------------- slots


def slots_asked(question: str) -> tuple[str, ...]:
    """Terms for what a question asks of a person's life, under which statements that tell it are found.

    >>> slots_asked("How old am I?"), slots_told("I'm 29."), slots_told("The tower is 29 metres high.")
    (('slotage',), ('slotage',), ())
    """
    return _slots(question, "? ")


def slots_told(statement: str) -> tuple[str, ...]:
    """Terms for what of somebody's life a statement tells."""
    return _slots(statement, "= ")


def part_of_life(statement: str) -> str:
    """What of somebody's life a statement tells first, in words; empty where it tells nothing of it.

    >>> part_of_life("rent goes up to 1400 in July"), part_of_life("The tower is 29 metres high.")
    ('rent and bills', '')
    """
    told = slots_told(statement)
    titles = {f"slot{title.replace(' ', '')}": title for title in lexicon.parts("slots")}
    return titles[told[0]] if told else ""


@read_once
def _slots(text: str, side: str) -> tuple[str, ...]:
    return slot_patterns(side).of(text.lower().replace("’", "'"))


@cache
def slot_patterns(side: str) -> lexicon.NamedPatterns:
    """The patterns that ask (`? `) or tell (`= `), by the terms they stand for."""
    return lexicon.NamedPatterns(
        (f"slot{title.replace(' ', '')}", row[2:])
        for title, rows in lexicon.parts("slots").items()
        for row in rows
        if row.startswith(side)
    )
