"""The plan: a question comes in; what it is after, which words, vector, weights and view come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from engram.errors import EmbedderError
from engram.lazily import dataclass, replace
from engram.model.clock import zone_of
from engram.model.facts import Entity
from engram.model.recall import Intent, Plan, Question, Span
from engram.ports import ConversationBias, Embedded, NearSearch, Noise, Tools, View, WordSearch
from engram.recall import intents, times
from engram.rules.sealing import turned
from engram.rules.vectors import Thresholds, thresholds
from engram.text import cues, lexicon, re, words
from engram.text.metadata import language
from engram.text.words import HAN, PAIRED

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from engram.model.memory import Space
    from engram.model.scope import Access
    from engram.ports import Floats, Keys

TIME_GAIN = 0.5  # factor more for what happened in the time asked about (measured)
ALIAS_SHARE = 0.5  # what another name of an entity counts against its own (measured)
FRESH_GAIN = 0.05  # factor more for what is new when that is asked for (measured)


# ---------------------------------------------------------------- shape
# A question of a few Chinese characters is too little for a vector to go by: its words count more.


SHORT_TEXT, SHORT_VECTOR = 2.0, 4 / 7
"""What the words and the meaning of such a question count, against those of any other."""
SHORT_CHARACTERS: Final = 4
SHORT_RELEVANCE: Final = 0.5
"""The least relevance of a memory that has all of such a question in a row."""

_PAIRED = re.compile(f"[{PAIRED}]")
_ONLY_HAN = re.compile(f"[{HAN}]+")


def short_chinese(question: str) -> str:
    """The characters of a question that is one to four Chinese ones and nothing else; "" for any other.

    >>> short_chinese("咖啡?"), short_chinese("我喜欢喝咖啡"), short_chinese("tea")
    ('咖啡', '', '')
    """
    plain = question.strip(" \t\n?？!！。.,，")
    return plain if len(plain) <= SHORT_CHARACTERS and _ONLY_HAN.fullmatch(plain) else ""


# ---------------------------------------------------------------- named
# Names in a question: its words come in; the known entities among them come out, with their other names.
#
# The store is asked once, for a bounded number of words and groups of words; it answers with entities that
# the caller may see.


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


def _has_han(text: str) -> bool:
    return not text.isascii() and _HAN.search(text) is not None


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
            if not _has_han("".join(group)) and not _idle(group):
                yield " ".join(group)
    for run in kept:
        if _has_han(run):
            yield from _pieces(run[:MOST_WORDS])


def aliases_named(entities: Sequence[Entity], asked: Sequence[str]) -> tuple[str, ...]:
    """Terms of the entities' other names that the question itself does not have.

    >>> aliases_named([Entity("Robert Smith", aliases=("bob", "robert smith"))], ["bob", "dog"])
    ('robert', 'smith')
    """
    had = set(asked)
    more = (term for one in entities for name in (one.name, *one.aliases) for term in words.terms(name))
    return tuple(dict.fromkeys(t for t in more if t not in had and not t.startswith(words.SINGLE)))[
        :MOST_ALIASES
    ]


def others_named(question: str, entities: Sequence[Entity]) -> int:
    """How many telling words a question has beside the names of these entities.

    >>> others_named("Who is Anna Smith?", [Entity("Anna Smith", aliases=("anna smith",))])
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


SELF_WORDS = frozenset({"i", "me", "my", "mine", "myself", "we", "our", "us", "我", "我的", "我们"})
"""Words by which the asker means the user; a stop word everywhere else."""
USER = "user"
PAIR_SHARE = 0.3
"""Pairs of a script without spaces run across the borders of words: most of them mean nothing."""
MOST_MASS = 30.0
"""A question that talks on and on is answered by what would answer one of about six telling words."""
NOISE_PRIOR = 100
"""The known figures of a space weigh as much as so many measured vectors."""
MIN_DEVIATION = 0.01
KIN_SHARE = 0.5
"""What another word for what is asked counts against the word itself."""
THING_SHARE = 0.8
"""The same of a thing of the kind that is asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class WordColumns:
    """The words that are looked up, by their places: what each tells, and how they belong together."""

    telling: NDArray[np.float64]
    """The share of all that the question's own words tell; 0 for others."""
    whole: bool
    """Whether any of them tells something."""
    forms: tuple[tuple[int, list[int]], ...]
    """A word and its other forms, which say the same: "bought" for "buy"."""
    kin: tuple[tuple[list[int], list[int]], ...]
    """A word with its forms, none where the whole question asks, and other words for what it asks for."""
    own: NDArray[np.intp]
    """All but those."""

    @classmethod
    def of(
        cls,
        terms: Sequence[str],
        rarity: Mapping[str, float],
        forms: Mapping[str, tuple[str, ...]],
        kin: Mapping[str, Sequence[str]],
    ) -> WordColumns:
        """The columns of these terms."""
        place, whole = {term: at for at, term in enumerate(terms)}, sum(rarity.values())
        others = {other for found in forms.values() for other in found}
        kindred = {word: [one for one in found if one not in others] for word, found in kin.items()}
        is_kin = np.zeros(len(terms), dtype=np.bool_)
        is_kin[[place[term] for found in kindred.values() for term in found]] = True
        said = {word: [word, *forms.get(word, ())] if word in place else words.terms(word) for word in kin}
        return cls(
            np.array([rarity.get(term, 0.0) / (whole or 1.0) for term in terms]),
            whole > 0,
            tuple((place[term], [place[other] for other in others]) for term, others in forms.items()),
            tuple(
                ([place[term] for term in said[word] if term in place], [place[term] for term in found])
                for word, found in kindred.items()
                if found
            ),
            np.flatnonzero(~is_kin),
        )


FORMER_SHARE = 0.9
"""What the meaning counts by a former model, against the present one's."""


class BothSpaces:
    """Implements `ports.NearSearch` while memories are being embedded anew.

    Those that have a vector of the present model are near by it, the others by the former one's, as far above
    the noise as that says.
    """

    def __init__(self, present: NearSearch, former: NearSearch, near: Thresholds, before: Thresholds) -> None:
        self._present, self._former = present, former
        self.noise = present.noise
        self._near, self._before = _noise(present, near), _noise(former, before)
        self._counts = FORMER_SHARE * before.leads / near.leads

    def search(self, view: View, k: int) -> list[tuple[int, float]]:
        """The nearest of both."""
        return self._nearest(self._present.search(view, k), self._former.search(view, k), k)

    def among(self, keys: Keys, k: int) -> list[tuple[int, float]]:
        """The nearest of these keys."""
        return self._nearest(self._present.among(keys, k), self._former.among(keys, k), k)

    def compare(self, keys: Keys) -> Floats:
        """The cosine of each as the present model would have it."""
        found = self._present.compare(keys)
        return np.where(np.isnan(found), self._as_present(self._former.compare(keys)), found)

    def between(self, keys: Keys) -> Floats:
        """The cosine of each pair, of one model or the other."""
        found = self._present.between(keys)
        return np.where(np.isnan(found), self._former.between(keys), found)

    def _nearest(
        self, present: list[tuple[int, float]], former: list[tuple[int, float]], k: int
    ) -> list[tuple[int, float]]:
        keys = np.array([key for key, _ in former], dtype=np.int64)
        lacking = np.isnan(self._present.compare(keys))
        cosines = self._as_present(np.array([cosine for _, cosine in former], dtype=np.float32))
        only = zip(keys[lacking].tolist(), cosines[lacking].tolist(), strict=True)
        return sorted([*present, *only], key=lambda one: -one[1])[:k]

    def _as_present(self, cosines: Floats) -> Floats:
        above = (cosines - self._before.mean) / self._before.deviation
        found: Floats = self._near.mean + self._counts * above * self._near.deviation
        return found.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan as shown, and what only the steps need."""

    shown: Plan
    view: View
    words: WordSearch
    """Its words, looked up."""
    columns: WordColumns
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    """Quoted parts of the question, whose words should stand together."""
    mass: float
    """The most the words of a memory could weigh."""
    space: Space | None
    vector: Floats | None
    near_search: NearSearch | None
    hidden_search: NearSearch | None
    """Among what is confidential, for whoever may open it; None where there is no key."""
    """Its vector, looked up; None without one."""
    near: Thresholds
    noise: Noise
    """How near this question lies to memories in general: the order of the hits is measured against it."""
    usual_noise: Noise
    """How near any question does: relevance is measured against it, so a question nothing answers shows."""
    named: frozenset[str]
    """Lower-case words of the question, to recognise a speaker's name."""
    fetch: float = 1.0
    """Factor on the number of candidates."""
    entities: tuple[Entity, ...] = ()
    """The known things that it names."""
    whole: str = ""
    """A question of a few Chinese characters: what has all of it in a row fits."""

    slots: frozenset[str] = frozenset()
    """What of a life it asks for."""
    kinds: frozenset[str] = frozenset()
    """The kinds of things that it asks for."""


@dataclass(frozen=True, slots=True)
class Read:
    """What the words of a question say by themselves."""

    intent: Intent | None
    confidence: float
    row: intents.Row
    spans: tuple[Span, ...]
    entities: list[Entity]
    fresh: bool


def asked_at(question: Question, tools: Tools) -> datetime:
    """When a question is asked, on the clocks of whoever asks."""
    zone = zone_of(question.access.timezone) if question.access.timezone else tools.zone
    return tools.clock.now().astimezone(zone)


def read(question: Question, asks: str, spans: tuple[Span, ...], tools: Tools) -> Read:
    """What a question is after, and whom it names."""
    entities = known(question.text, question.access, tools)
    others = others_named(question.text, entities) if len(entities) == 1 else 0
    found = intents.guess(asks, timed=bool(spans), named=len(entities), others=others)
    wished = question.wish.intent
    intent = wished or found.clear
    row = intents.ROWS[intent] if intent else intents.NEUTRAL
    confidence = 1.0 if wished else found.confidence
    return Read(intent, confidence, row, spans, entities, intents.is_fresh(asks))


def _hidden(
    question: Question, space: Space | None, vector: Floats | None, former: Sequence[Embedded], tools: Tools
) -> NearSearch | None:
    """The question, without values and turned as the vectors of what is confidential are."""
    access = question.access
    if tools.keys is None or space is None or vector is None or not access.may_open:
        return None
    from engram.rules.sensitivity import without_values  # only what has a key needs it

    bare = without_values(question.text)
    if bare != question.text:
        with suppress(EmbedderError):  # then with its values
            space, vector = tools.embedder.embed_query(bare)
    asked = turned(Embedded(space, vector), tools.keys)
    before = [turned(one, tools.keys) for one in former]
    return _near(asked.space, asked.vector, before, access, tools)


def _former(text: str, space: Space, tools: Tools, notes: list[str]) -> Sequence[Embedded]:
    """The question as former models mean it, as long as memories have vectors of theirs."""
    found = () if tools.former is None else tools.former.embed_query(text, space)
    notes.extend(f"also searched by {one.space.model}: `engram reembed` is not done" for one in found)
    return found


def _near(
    space: Space | None, vector: Floats | None, former: Sequence[Embedded], access: Access, tools: Tools
) -> NearSearch | None:
    """The question's vector, looked up; beside those of former models while memories have theirs alone."""
    if space is None or vector is None:
        return None
    search = tools.index.ask(space, vector, access)
    for one in former:
        before = tools.index.ask(one.space, one.vector, access)
        search = BothSpaces(search, before, thresholds(space.key), thresholds(one.space.key))
    return search


def make(question: Question, tools: Tools, lean: ConversationBias | None = None) -> Planned:
    """The plan for a question. Without an embedder it goes by words alone and says so."""
    now, asks = asked_at(question, tools), intents.asking(question.text)
    spans = () if intents.is_to_do(asks) else times.spans(asks, now)
    searched = intents.unframed(times.written_out(question.text, spans, now))
    slots = cues.slots_asked(question.text)
    asked = _without_asking(words.query_terms(searched), searched, slots)
    notes: list[str] = []
    if asked.weak:
        notes.append("only common words: they are searched as they are")
    if asked.phrases:
        notes.append("quoted words count more where they stand together")
    # Before anything is read from the store: the embedder may be far away.
    space, vector = _leaning(*_embed(searched, tools, notes), lean, notes)
    former = () if space is None else _former(searched, space, tools, notes)
    said = read(question, asks, spans, tools)
    spoken = _words(question.text)
    speakers = (USER,) if spoken & SELF_WORDS else ()
    near = thresholds(space.key if space else "")
    near_search = _near(space, vector, former, question.access, tools)
    noise = _noise(near_search, near)
    aliases = aliases_named(said.entities, asked.terms) if ALIAS_SHARE else ()
    weights = _weights(question, said, tools)
    lent = _lent(lean, (*asked.terms, *aliases))
    forms = cues.forms(asked.terms)
    other_forms = [form for found in forms.values() for form in found]
    families = {"": slots, **_families(searched, asked.terms, forms)}
    kindred = tuple(dict.fromkeys(term for family in families.values() for term in family))
    kinds = [term for term in kindred if term.startswith(cues.THING)]
    looked_up = tools.store.texts.ask(
        {
            **dict.fromkeys(kindred, KIN_SHARE),
            **dict.fromkeys(kinds, THING_SHARE),
            **lent,
            **dict.fromkeys(aliases, ALIAS_SHARE),
            **dict.fromkeys((*other_forms, *asked.terms), 1.0),
        },
        question.access,
    )
    rarity = {term: looked_up.rarity[term] for term in _untimed(asked.terms, said.spans)}
    shown = Plan(
        terms=asked.terms,
        weights=weights if space else weights | {"vector": 0.0},
        intent=said.intent,
        confidence=said.confidence,
        language=language(question.text),
        spans=said.spans,
        entities=tuple(one.name for one in said.entities),
        aliases=aliases,
        hops=said.row.hops if question.wish.hops is None else question.wish.hops,
        prefer=said.row.prefer if question.wish.prefer is None else tuple(sorted(question.wish.prefer)),
        freshness=_freshness(question, said),
        space=space.key if space else "",
        speakers=speakers,
        notes=tuple(notes),
    )
    return Planned(
        shown=shown,
        view=View(question.access, question.filters),
        words=looked_up,
        columns=WordColumns.of(looked_up.terms, rarity, forms, families),
        terms=(*asked.terms, *aliases, *lent, *kindred),
        phrases=asked.phrases,
        mass=_mass(rarity) + _lent_mass(looked_up.rarity, lent),
        space=space,
        vector=vector,
        near_search=near_search,
        hidden_search=_hidden(question, space, vector, former, tools),
        near=near,
        noise=noise,
        usual_noise=_usual(near, chinese=shown.language == "zh") if near.is_steady else noise,
        named=spoken | frozenset(speakers),
        fetch=said.row.candidates,
        entities=tuple(said.entities),
        whole=short_chinese(question.text),
        slots=frozenset(slots),
        kinds=frozenset(kinds),
    )


def _families(
    searched: str, asked: Sequence[str], forms: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """For each word of a question what may answer for it: kinds of things, and kindred words."""
    base = {form: term for term, others in forms.items() for form in others}
    kinds, kin = cues.kinds_named(searched, asked), cues.kin(searched, [*asked, *base])
    found: dict[str, tuple[str, ...]] = {}
    for said, family in (*kinds.items(), *kin.items()):
        word = base.get(said, said)
        found[word] = tuple(dict.fromkeys((*found.get(word, ()), *family)))
    return found


def _without_asking(asked: words.QueryTerms, searched: str, slots: Sequence[str]) -> words.QueryTerms:
    """The terms without those that only ask: "how old am I?" is not about old things.

    What stands twice ("which day is bin day?") stays, and so does what is asked about nothing else.
    """
    heads = [match["head"].lower() for match in _HEADS.finditer(searched)]
    heads += ["old"] * ("slotage" in slots)
    said = words.normalized(searched).split()
    only = {term for head in heads if said.count(head) == 1 for term in words.terms(head)}
    rest = tuple(term for term in asked.terms if term not in only)
    return replace(asked, terms=rest) if rest else asked


_HEADS = re.compile(
    r"\b(?:what|which|wat)(?:['’]?s the)? (?P<head>time|day|date|year|month|kind|sort|type)"
    r"(?= (?:is|are|am|was|were|do|does|did|will|can|should|has|have|had|of)\b)",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    """The words of a question without case; whose something is, is named too."""
    plain = text.replace("’", "'")
    owners = words.normalized(plain.replace("'s", " ")) if "'s" in plain else ""
    return frozenset([*words.normalized(plain).split(), *owners.split()])


def _weights(question: Question, said: Read, tools: Tools) -> dict[str, float]:
    """The configured weights as intent moves them, and a few Chinese signs; and the caller's own."""
    settings = tools.config.recall
    by_text, by_vector = (SHORT_TEXT, SHORT_VECTOR) if short_chinese(question.text) else (1.0, 1.0)
    return {
        "text": settings.text_weight * by_text,
        "vector": settings.vector_weight * by_vector,
        "graph": said.row.graph,
        "time": TIME_GAIN,
        **question.wish.weights,
    }


def _freshness(question: Question, said: Read) -> float:
    if question.wish.freshness is not None:
        return question.wish.freshness
    return FRESH_GAIN if said.fresh else 0.0


def _untimed(terms: tuple[str, ...], spans: tuple[Span, ...]) -> tuple[str, ...]:
    """The terms without those of times: a memory of "two months ago" need not say so."""
    told = {term for span in spans for term in words.terms(f"{span.words} {times.day_words(span)}")}
    return tuple(term for term in terms if term not in told) or terms


def _mass(rarity: dict[str, float]) -> float:
    whole = sum(
        value * (PAIR_SHARE if not term.isascii() and _PAIRED.search(term) else 1.0)
        for term, value in rarity.items()
    )
    return min(whole, MOST_MASS)


def _usual(near: Thresholds, *, chinese: bool = False) -> Noise:
    mean = near.noise_chinese if chinese and near.noise_chinese else near.noise_mean
    return Noise(mean, near.noise_sd, 0)


def _noise(search: NearSearch | None, near: Thresholds) -> Noise:
    """What is measured in what the caller may read; where that is little, the space's known figures count."""
    if search is None:
        return _usual(near)
    found = search.noise
    share = found.sample / (found.sample + NOISE_PRIOR)
    mean = share * found.mean + (1 - share) * near.noise_mean
    deviation = max(MIN_DEVIATION, share * found.deviation + (1 - share) * near.noise_sd)
    return Noise(mean, deviation, found.sample)


def _embed(text: str, tools: Tools, notes: list[str]) -> tuple[Space | None, Floats | None]:
    try:
        space, vector = tools.embedder.embed_query(text)
    except EmbedderError as down:
        notes.append(f"words only: {down.message}")
        return None, None
    if not vector.any():
        notes.append("words only: the embedder knows none of these words")
        return None, None
    return space, vector


def _lent(lean: ConversationBias | None, asked: tuple[str, ...]) -> dict[str, float]:
    """The words that the talk lends a question, with what each counts there."""
    if lean is None or not lean.share:
        return {}
    return {term: weight for term, weight in lean.terms.items() if term not in asked}


def _lent_mass(rarity: Mapping[str, float], lent: Mapping[str, float]) -> float:
    """The most that lent words could weigh: half of them, for nothing repeats all that was said before."""
    return 0.5 * sum(rarity[term] * share for term, share in lent.items())


def _leaning(
    space: Space | None, vector: Floats | None, lean: ConversationBias | None, notes: list[str]
) -> tuple[Space | None, Floats | None]:
    """What the question means, leaning towards the talk around it; vectors of another space say nothing."""
    if lean is None or not lean.share or (space is not None and space != lean.space):
        return space, vector
    notes.append(f"leans by {lean.share:.0%} towards the talk so far")
    if vector is None:
        return lean.space, lean.vector
    from engram.rules.vectors import unit

    return lean.space, unit((1.0 - lean.share) * vector + lean.share * lean.vector)
