"""The abstraction tree: memories of a place come in; clusters, domains and one paragraph for all come out.

A branch is a cluster: its members, its centre and its words, in one sketch. What is new goes to the nearest
branch, what is gone leaves it, and only branches that changed are put into words again. When half of it is
new, the whole tree is grown anew. Words are the members' own, the most central ones first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engram.lazily import dataclass
from engram.maintain.pairs import forget_nearest, space_of, vectors_of
from engram.maintain.step import CLEAR, Batch, Decision, Drop, Effect, StepContext, grouped
from engram.maintain.support import give_back_if_much, in_words, keep, noted, places, since, tells
from engram.model.maintenance import Sketch
from engram.model.memory import (
    ANY_STATUS,
    Kind,
    Lifecycle,
    Memory,
    Space,
    Status,
    Verification,
)
from engram.model.scope import Access, Role, Scope
from engram.rules.grouping import centres, nearest
from engram.rules.vectors import meant, unit
from engram.text.sentences import sentences
from engram.text.tokens import estimate
from engram.text.words import content_words

if TYPE_CHECKING:
    from engram.ports import Floats

TREE_MEMORIES = 5  # memories of a cluster, on average, in a small tree (cortex)
TREE_CLUSTERS = 400  # clusters of a tree at most
TREE_TOKENS = 200  # tokens of the paragraph that stands for all (cortex)


# ---------------------------------------------------------------- census
# The census: every clear memory in use comes in, place by place, as the few things that sums are made of.
#
# One pass serves all steps of the stage: they make sketches only, and change no memory.


NOTE: Final = "census"


class PlaceKnowledge(NamedTuple):
    """A memory in a few words and numbers."""

    key: int
    id: str
    text: str
    """Its key fact."""
    speaker: str
    kind: Kind
    category: str
    names: tuple[str, ...]
    """Its tags, and whom and what it names."""
    topics: tuple[str, ...]
    languages: tuple[str, ...]
    at: datetime
    used_at: datetime | None
    accessed: int
    confirmed: int
    importance: float
    strength: float
    trust: float
    pinned: bool
    doubtful: bool
    """Challenged, disputed, stale, or hardly believed."""
    disputed: bool
    """Challenged, disputed or hardly believed."""
    is_reflection: bool

    @property
    def statement(self) -> str:
        """Its key fact, and whose words it is where somebody said it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def tells(self) -> bool:
        """Whether its key fact says something by itself; much of what people say to each other does not."""
        return tells(self.text, self.speaker)

    @property
    def weight(self) -> tuple[bool, int, float, int, int]:
        """What says more than another: pinned, confirmed, important, used, late."""
        return self.pinned, self.confirmed, self.importance, self.accessed, self.key


Census = Mapping[Scope, list[PlaceKnowledge]]


def census(context: StepContext) -> Census:
    """Everything in use, place by place, in the order of storing."""
    known = context.notes.get(NOTE)
    if known is None:
        forget_nearest(context)  # no step of this stage or after it asks who lies near whom
        shared: dict[Any, Any] = {}
        every = (memory for part in context.memories(CLEAR) for memory in part)
        known = context.notes[NOTE] = grouped((one.scope, _known(key, one, shared)) for key, one in every)
    counted: Census = known
    return counted


def forget(context: StepContext) -> None:
    """The last step of the stage lets go of it."""
    context.notes.pop(NOTE, None)
    give_back_if_much()


UNSURE: Final = 0.4
REFLECTION: Final = "reflection"


def _known(key: int, memory: Memory, shared: dict[Any, Any]) -> PlaceKnowledge:
    # One value for all memories that have it: there are few, and many memories.
    same = shared.setdefault
    metadata, usage, disputed = memory.metadata, memory.usage, _disputed(memory)
    speaker, category = memory.speaker, memory.category
    shown = (*(tag for tag in memory.tags if tag[0] != "_"), *memory.entities)
    names = tuple([same(name, name) for name in dict.fromkeys(shown)])
    topics, languages = tuple(metadata.get("topics", ())), tuple(metadata.get("languages", ()))
    return PlaceKnowledge(
        key=key,
        id=memory.id,
        text=_told(memory),
        speaker=same(speaker, speaker),
        kind=memory.kind,
        category=same(category, category),
        names=same(names, names),
        topics=same(topics, topics),
        languages=same(languages, languages),
        at=memory.happened_at,
        used_at=memory.last_accessed,
        accessed=usage.accessed,
        confirmed=usage.confirmed,
        importance=same(memory.importance, memory.importance),
        strength=same(memory.strength, memory.strength),
        trust=same(memory.trust, memory.trust),
        pinned=memory.pinned,
        doubtful=disputed or memory.lifecycle is Lifecycle.STALE,
        disputed=disputed,
        is_reflection=memory.category == "identity" or REFLECTION in memory.tags,
    )


def _told(memory: Memory) -> str:
    """What a memory says, as whole sentences and not more than a line; what is over is told to be over."""
    whole = memory.content
    if len(whole) > LINE:
        first = next(iter(sentences(whole)), whole)
        whole = first if len(first) <= LINE else memory.forms.key_fact or whole
    over = memory.details.get("no_longer")
    told = [str(part.get("fact", "")) for part in over] if isinstance(over, list) else []
    return f"{whole} [no longer: {'; '.join(told)}]" if told else whole


def _disputed(memory: Memory) -> bool:
    return (
        memory.status is Status.CHALLENGED
        or memory.verification is Verification.DISPUTED
        or memory.confidence < UNSURE
    )


# ---------------------------------------------------------------- wording
# Wording: memories, the most telling first, come in; few words for all of them come out, and whose they
# are.
#
# Without a model the words are cut from the memories themselves. A model is asked where one may always be
# (`llm.level` full), only so many times a run, and its words stand only if the memories bear them out.


STEP: Final = "tree"
TOLD: Final = 3
"""Memories whose words stand for a cluster."""
SHOWN: Final = 12
"""Memories of a cluster that a model is shown."""
LOOKED_AT: Final = 30
ALIKE: Final = 0.5
"""Two statements that share so many of their words say the same."""
COMMON: Final = 0.4
"""A topic that so many of the memories have names them all."""
LINE: Final = 160
"""Characters of one statement."""
CLUSTER_WORDS, DOMAIN_WORDS = 40, 25
DOMAIN_BRANCHES: Final = 3


def telling(context: StepContext, members: Sequence[PlaceKnowledge]) -> tuple[str, list[str]]:
    """What a cluster comes to, and the memories whose words that is."""
    looked_at = _telling_first(members)
    asked = list(islice(looked_at, SHOWN))
    told = [one.statement for one in asked]
    written = in_words(context, STEP, told, CLUSTER_WORDS) if len(asked) > TOLD else None
    if written is not None:
        return written, [one.id for one in asked]
    chosen: list[PlaceKnowledge] = []
    for one in chain(asked, looked_at):
        if not any(_alike(one.text, other.text) for other in chosen):
            chosen.append(one)
            if len(chosen) == TOLD:
                break
    return "; ".join(_line(one.statement) for one in chosen), [one.id for one in chosen]


def _telling_first(members: Sequence[PlaceKnowledge]) -> Iterator[PlaceKnowledge]:
    """Those that say something by themselves, read as they are wanted; the first ones when none does."""
    some = (one for one in members[:LOOKED_AT] if one.tells)
    first = next(some, None)
    return iter(members[:TOLD]) if first is None else chain((first,), some)


def title_of(context: StepContext, members: Sequence[PlaceKnowledge]) -> str:
    """The topic that many have, or the one of the most telling, or the label of that."""
    first = next(_telling_first(members), None)
    topic = topic_of(members)
    if topic or first is None or first.topics:
        return topic or (first.topics[0] if first is not None else "")
    return context.tools.store.memories.read([first.key])[first.key].forms.label


def topic_of(members: Sequence[PlaceKnowledge]) -> str:
    """The topic that many of the memories have; empty when none is so common."""
    topics = Counter(topic for one in members for topic in one.topics)
    if not topics:
        return ""
    topic, count = min(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return topic if count >= COMMON * len(members) else ""


def _topics_of(members: Sequence[PlaceKnowledge]) -> str:
    """The two topics that come up most, if they come up more than once."""
    topics = Counter(topic for one in members for topic in one.topics)
    ordered = sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(topic for topic, count in ordered[:2] if count > 1)


def domain_text(
    context: StepContext, title: str, branches: Sequence[tuple[str, Sequence[str]]]
) -> tuple[str, list[str]]:
    """One sentence for a domain: its title and what its largest clusters begin with."""
    largest = branches[:DOMAIN_BRANCHES]
    told = [id_ for _, ids in largest for id_ in ids]
    written = (
        in_words(context, STEP, [text for text, _ in largest], DOMAIN_WORDS) if len(largest) > 1 else None
    )
    if written is not None:
        return written, told
    firsts = [text.partition("; ")[0] for text, _ in largest]
    return f"{title}: {'; '.join(firsts)}", [ids[0] for _, ids in largest if ids]


def paragraph(context: StepContext, domains: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Everything in a few sentences, the largest domains first, within the tokens that it may have.

    They are estimated: a tokenizer takes more memory than all else that a run needs.
    """
    told = [id_ for one in domains for id_ in one["told"]]
    written = in_words(context, STEP, [one["text"] for one in domains[:SHOWN]], TREE_TOKENS // 2)
    if written is not None and estimate(written) <= TREE_TOKENS:
        return written, told
    text = ""
    used: list[str] = []
    for one in domains:
        noun = "memory" if one["memories"] == 1 else "memories"
        longer = f"{text} {one['memories']} {noun} about {one['text']}.".strip()
        if estimate(longer) > TREE_TOKENS:
            break
        text, used = longer, [*used, *one["told"]]
    return text, used


def _alike(one: str, other: str) -> bool:
    mine, theirs = content_words(one), content_words(other)
    return len(mine & theirs) >= ALIKE * max(1, min(len(mine), len(theirs)))


def _line(text: str) -> str:
    """A statement on one line, without its full stop."""
    flat = " ".join(text.split())
    if len(flat) > LINE:
        flat = flat[:LINE].rsplit(" ", 1)[0] + " …"
    return flat.rstrip(".")


NAME: Final = "tree"
TREE, BRANCH = "tree", "branch"
GROWN: Final = 0.5
"""When so much of a tree is new or gone, it is grown anew."""
NEAR: Final = 0.65
"""How near a memory lies to the branch it goes to, on the scale of common models."""
BLOCK: Final = 4_096
SAMPLE: Final = 4_096
BRANCHES_A_DOMAIN: Final = 6
MOST_DOMAINS: Final = 40
TOGETHER: Final = 40
"""Branches that are kept in one batch."""


@dataclass(slots=True)
class TreeBranch:
    """A cluster while it is worked on."""

    key: str
    members: dict[str, PlaceKnowledge]
    centre: Floats
    text: str = ""
    title: str = ""
    told: list[str] = field(default_factory=list)
    domain: int = -1
    changed: bool = True


def plan_tree(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """The tree of every place, as far as its memories changed."""
    space = space_of(context)
    if space is None:
        return
    step = f"{NAME} {space.key}"  # vectors of another model make another tree
    news = since(context, step)
    changed = frozenset(news.changed)
    everything = census(context)
    touched = everything.keys() if news.gone else places(context, news, ANY_STATUS)
    for scope, known in everything.items():
        if scope in touched:
            yield from _place(context, space, scope, known, changed)
    for sketch in context.tools.store.upkeep.sketches(TREE, Access.everything(), 100_000):
        if sketch.scope not in everything:
            yield Batch((Decision("tree.felled", "nothing is left", (Drop(sketch.scope, TREE, ""),)),))
    yield from noted(context, step, news)


def _place(
    context: StepContext, space: Space, scope: Scope, known: Sequence[PlaceKnowledge], changed: frozenset[str]
) -> Iterator[Batch]:
    store = context.tools.store.upkeep
    root = store.sketch(scope, TREE, "")
    kept = [one for one in store.sketches(BRANCH, Access(scope, Role.AGENT), 100_000) if one.scope == scope]
    old = [one for one in kept if one.body["space"] == space.key]
    branches = _grafted(context, space, known, old, changed, root)
    if branches is None:
        branches = _grown(context, space, known)
        _into_domains(branches)
    elif root is not None and not any(one.changed for one in branches) and len(branches) == len(kept):
        return
    for start in range(0, len(branches), TOGETHER):
        effects = [
            effect
            for one in branches[start : start + TOGETHER]
            if one.changed
            for effect in _branch(context, space, scope, one)
        ]
        if effects:
            yield Batch((Decision("tree.branch", f"{len(effects)} branches", tuple(effects), quiet=True),))
    yield from _root(context, space, scope, branches, kept)


# ---------------------------------------------------------------- growing


def _grown(context: StepContext, space: Space, known: Sequence[PlaceKnowledge]) -> list[TreeBranch]:
    """Clusters of all memories of a place that have a vector."""
    import numpy as np

    step = max(1, len(known) // SAMPLE)
    _, sample = vectors_of(context, space, [one.key for one in known[::step]])
    if not len(sample):
        return []
    count = max(1, min(TREE_CLUSTERS, round(len(known) / TREE_MEMORIES)))
    middles = centres(sample, count)
    groups: list[dict[str, PlaceKnowledge]] = [{} for _ in middles]
    sums = np.zeros_like(middles)
    for some, vectors in _blocks(context, space, known):
        places, _ = nearest(vectors, middles)
        np.add.at(sums, places, vectors)
        for one, place in zip(some, places.tolist(), strict=True):
            groups[place][one.id] = one
    return [
        TreeBranch(next(iter(group)), group, unit(total))
        for group, total in zip(groups, sums, strict=True)
        if group
    ]


def _blocks(
    context: StepContext, space: Space, known: Sequence[PlaceKnowledge]
) -> Iterator[tuple[list[PlaceKnowledge], Floats]]:
    """Memories with their vectors, some at a time; those without one are left out."""
    for start in range(0, len(known), BLOCK):
        by_key = {one.key: one for one in known[start : start + BLOCK]}
        keys, vectors = vectors_of(context, space, list(by_key))
        if keys:
            yield [by_key[key] for key in keys], vectors


def _grafted(
    context: StepContext,
    space: Space,
    known: Sequence[PlaceKnowledge],
    kept: Sequence[Sketch],
    changed: frozenset[str],
    root: Sketch | None,
) -> list[TreeBranch] | None:
    """The branches that are there with what came and went; None when the tree must be grown anew."""
    by_id = {one.id: one for one in known}
    placed = {id_ for sketch in kept for id_ in sketch.sources}
    fresh = [one for one in known if one.id not in placed]
    gone = sum(id_ not in by_id for id_ in placed)
    if not kept or len(fresh) + gone > GROWN * max(len(known), 1):
        return None
    domains = {} if root is None else root.body["branches"]
    branches = [_read(sketch, by_id, changed, domains.get(sketch.key, -1)) for sketch in kept]
    branches = [one for one in branches if one.members]
    if not branches:
        return None
    _graft(context, space, fresh, branches)
    if any(one.domain < 0 for one in branches):
        _into_domains(branches)
    return branches


def _read(
    sketch: Sketch, by_id: Mapping[str, PlaceKnowledge], changed: frozenset[str], domain: int
) -> TreeBranch:
    members = {id_: by_id[id_] for id_ in sketch.sources if id_ in by_id}
    body = sketch.body
    touched = len(members) < len(sketch.sources) or not changed.isdisjoint(members)
    words = (body["text"], sketch.title, list(body["told"]))
    return TreeBranch(sketch.key, members, _decoded(body["centre"]), *words, domain, touched)


def _graft(
    context: StepContext, space: Space, fresh: Sequence[PlaceKnowledge], branches: list[TreeBranch]
) -> None:
    """Put new memories onto the nearest branches; several that are near none make branches of their own."""
    import numpy as np

    middles = np.stack([one.centre for one in branches])
    least = meant(NEAR, space.key)
    far: list[PlaceKnowledge] = []
    for some, vectors in _blocks(context, space, fresh):
        places, cosines = nearest(vectors, middles)
        for one, place, cosine in zip(some, places.tolist(), cosines.tolist(), strict=True):
            if cosine < least:
                far.append(one)
            else:
                branches[place].members[one.id] = one
                branches[place].changed = True
    branches += _grown(context, space, far) if far else []


def _into_domains(branches: Sequence[TreeBranch]) -> None:
    """Group branches by where their centres lie from the middle of all: centres differ little otherwise."""
    import numpy as np

    if not branches:
        return
    middles = np.stack([one.centre for one in branches])
    if len(branches) > 1:
        middles = unit(middles - middles.mean(axis=0))
    count = max(1, min(MOST_DOMAINS, round(len(branches) / BRANCHES_A_DOMAIN)))
    places, _ = nearest(middles, centres(middles, count))
    for one, place in zip(branches, places.tolist(), strict=True):
        one.domain = place


# ---------------------------------------------------------------- into words


def _branch(context: StepContext, space: Space, scope: Scope, branch: TreeBranch) -> Sequence[Effect]:
    ordered, centre = _central(context, space, branch)
    branch.centre = centre
    branch.text, branch.told = telling(context, ordered)
    branch.title = title_of(context, ordered)
    body = {
        "text": branch.text,
        "told": branch.told,
        "memories": len(ordered),
        "space": space.key,
        "centre": _encoded(centre),
    }
    return keep(
        context, scope, BRANCH, branch.key, body, title=branch.title, sources=[one.id for one in ordered]
    )


def _central(context: StepContext, space: Space, branch: TreeBranch) -> tuple[list[PlaceKnowledge], Floats]:
    """The members, the most central and weighty first, and their centre."""
    import numpy as np

    by_key = {one.key: one for one in branch.members.values()}
    keys, vectors = vectors_of(context, space, list(by_key))
    if not keys:
        return list(branch.members.values()), branch.centre
    centre = unit(vectors.sum(axis=0))
    scores = vectors @ centre + WEIGHT * np.array([by_key[key].importance for key in keys])
    order = sorted(range(len(keys)), key=lambda at: (-round(float(scores[at]), 6), keys[at]))
    return [by_key[keys[at]] for at in order], centre


WEIGHT: Final = 0.2
"""What importance counts beside being central."""


def _root(
    context: StepContext, space: Space, scope: Scope, branches: Sequence[TreeBranch], kept: Sequence[Sketch]
) -> Iterator[Batch]:
    by_size = sorted(branches, key=lambda one: (-len(one.members), one.key))
    groups = grouped((one.domain, one) for one in by_size)
    ordered = sorted(groups.values(), key=lambda some: -sum(len(one.members) for one in some))
    domains = [_domain(context, some) for some in ordered]
    text, told = paragraph(context, domains)
    body = {
        "space": space.key,
        "memories": sum(len(one.members) for one in branches),
        "branches": {one.key: one.domain for one in branches},
        "domains": domains,
        "paragraph": text,
    }
    sources = dict.fromkeys([*told, *(id_ for one in domains for id_ in one["told"])])
    effects: list[Effect] = list(keep(context, scope, TREE, "", body, sources=sources))
    keys = {one.key for one in branches}
    effects += [Drop(scope, BRANCH, sketch.key) for sketch in kept if sketch.key not in keys]
    if effects:
        why = f"{body['memories']} memories, {len(branches)} clusters, {len(domains)} domains"
        yield Batch((Decision("tree.grown", why, tuple(effects)),))


def _domain(context: StepContext, branches: Sequence[TreeBranch]) -> dict[str, Any]:
    """One sentence for several branches, the largest first."""
    members = [one for branch in branches for one in branch.members.values()]
    title = (
        topic_of(members)
        or _topics_of(members)
        or ", ".join(dict.fromkeys(one.title for one in branches[:2]))
    )
    text, told = domain_text(context, title, [(one.text, one.told) for one in branches])
    return {
        "title": title,
        "text": text,
        "told": told,
        "memories": len(members),
        "branches": [one.key for one in branches],
    }


# ---------------------------------------------------------------- centres as text


def _encoded(centre: Floats) -> str:
    from base64 import b85encode

    import numpy as np

    return b85encode(centre.astype(np.float16).tobytes()).decode()


def _decoded(text: str) -> Floats:
    from base64 import b85decode

    import numpy as np

    found: Floats = np.frombuffer(b85decode(text), dtype=np.float16).astype(np.float32)
    return found
