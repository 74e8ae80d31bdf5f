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
from engram.maintain.support import (
    changed_scopes,
    changes_since,
    give_back_if_much,
    keep_sketch,
    mark_batch,
    model_summary,
    says_something,
)
from engram.model.maintenance import Sketch
from engram.model.memory import ANY_STATUS, Kind, Lifecycle, Memory, Space, Status, Verification
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


class CensusRow(NamedTuple):
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
    def says_something(self) -> bool:
        """Whether its key fact says something by itself; much of what people say to each other does not."""
        return says_something(self.text, self.speaker)

    @property
    def weight(self) -> tuple[bool, int, float, int, int]:
        """What says more than another: pinned, confirmed, important, used, late."""
        return self.pinned, self.confirmed, self.importance, self.accessed, self.key


Census = Mapping[Scope, list[CensusRow]]


def census(context: StepContext) -> Census:
    """Everything in use, place by place, in the order of storing."""
    rows: Census | None = context.notes.get(NOTE)
    if rows is None:
        forget_nearest(context)  # no step of this stage or after it asks who lies near whom
        shared: dict[Any, Any] = {}
        keyed = chain.from_iterable(context.memories(CLEAR))
        rows = grouped((memory.scope, _census_row(key, memory, shared)) for key, memory in keyed)
        context.notes[NOTE] = rows
    return rows


def forget(context: StepContext) -> None:
    """The last step of the stage lets go of it."""
    context.notes.pop(NOTE, None)
    give_back_if_much()


UNSURE: Final = 0.4
REFLECTION: Final = "reflection"


def _census_row(key: int, memory: Memory, shared: dict[Any, Any]) -> CensusRow:
    # One value for all memories that have it: there are few, and many memories.
    same = shared.setdefault
    metadata, usage, disputed = memory.metadata, memory.usage, _disputed(memory)
    speaker, category = memory.speaker, memory.category
    shown = (*(tag for tag in memory.tags if tag[0] != "_"), *memory.entities)
    names = tuple([same(name, name) for name in dict.fromkeys(shown)])
    topics, languages = tuple(metadata.get("topics", ())), tuple(metadata.get("languages", ()))
    return CensusRow(
        key=key,
        id=memory.id,
        text=_short_text(memory),
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


def _short_text(memory: Memory) -> str:
    """What a memory says, as whole sentences and not more than a line; facts that ended are marked so."""
    whole = memory.content
    if len(whole) > LINE:
        first = next(iter(sentences(whole)), whole)
        whole = first if len(first) <= LINE else memory.forms.key_fact or whole
    over = memory.details.get("no_longer")
    ended = [str(fact.get("fact", "")) for fact in over] if isinstance(over, list) else []
    return f"{whole} [no longer: {'; '.join(ended)}]" if ended else whole


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


def cluster_text(context: StepContext, members: Sequence[CensusRow]) -> tuple[str, list[str]]:
    """What a cluster comes to, and the memories whose words that is."""
    ordered = _telling_first(members)
    shown = list(islice(ordered, SHOWN))
    statements = [row.statement for row in shown]
    written = model_summary(context, STEP, statements, CLUSTER_WORDS) if len(shown) > TOLD else None
    if written is not None:
        return written, [row.id for row in shown]
    chosen: list[CensusRow] = []
    for row in chain(shown, ordered):
        if not any(_alike(row.text, other.text) for other in chosen):
            chosen.append(row)
            if len(chosen) == TOLD:
                break
    return "; ".join(_line(row.statement) for row in chosen), [row.id for row in chosen]


def _telling_first(members: Sequence[CensusRow]) -> Iterator[CensusRow]:
    """Those that say something by themselves, read as they are wanted; the first ones when none does."""
    telling = (row for row in members[:LOOKED_AT] if row.says_something)
    first = next(telling, None)
    return iter(members[:TOLD]) if first is None else chain((first,), telling)


def title_of(context: StepContext, members: Sequence[CensusRow]) -> str:
    """The topic that many have, or the one of the most telling, or the label of that."""
    first = next(_telling_first(members), None)
    topic = topic_of(members)
    if topic or first is None or first.topics:
        return topic or (first.topics[0] if first is not None else "")
    return context.tools.store.memories.read([first.key])[first.key].forms.label


def topic_of(members: Sequence[CensusRow]) -> str:
    """The topic that many of the memories have; empty when none is so common."""
    topics = Counter(topic for row in members for topic in row.topics)
    if not topics:
        return ""
    topic, count = min(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return topic if count >= COMMON * len(members) else ""


def _topics_of(members: Sequence[CensusRow]) -> str:
    """The two topics that come up most, if they come up more than once."""
    topics = Counter(topic for row in members for topic in row.topics)
    ordered = sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(topic for topic, count in ordered[:2] if count > 1)


def domain_text(
    context: StepContext, title: str, branches: Sequence[tuple[str, Sequence[str]]]
) -> tuple[str, list[str]]:
    """One sentence for a domain: its title and what its largest clusters begin with."""
    largest = branches[:DOMAIN_BRANCHES]
    source_ids = [id_ for _, ids in largest for id_ in ids]
    texts = [text for text, _ in largest]
    written = model_summary(context, STEP, texts, DOMAIN_WORDS) if len(largest) > 1 else None
    if written is not None:
        return written, source_ids
    firsts = [text.partition("; ")[0] for text in texts]
    return f"{title}: {'; '.join(firsts)}", [ids[0] for _, ids in largest if ids]


def paragraph(context: StepContext, domains: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Everything in a few sentences, the largest domains first, within the tokens that it may have.

    They are estimated: a tokenizer takes more memory than all else that a run needs.
    """
    source_ids = [id_ for domain in domains for id_ in domain["told"]]
    written = model_summary(context, STEP, [domain["text"] for domain in domains[:SHOWN]], TREE_TOKENS // 2)
    if written is not None and estimate(written) <= TREE_TOKENS:
        return written, source_ids
    text = ""
    used: list[str] = []
    for domain in domains:
        noun = "memory" if domain["memories"] == 1 else "memories"
        longer = f"{text} {domain['memories']} {noun} about {domain['text']}.".strip()
        if estimate(longer) > TREE_TOKENS:
            break
        text, used = longer, [*used, *domain["told"]]
    return text, used


def _alike(text: str, other_text: str) -> bool:
    mine, theirs = content_words(text), content_words(other_text)
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
    members: dict[str, CensusRow]
    centre: Floats
    text: str = ""
    title: str = ""
    source_ids: list[str] = field(default_factory=list)
    domain: int = -1
    changed: bool = True


def plan_tree(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """The tree of every place, as far as its memories changed."""
    space = space_of(context)
    if space is None:
        return
    step = f"{NAME} {space.key}"  # vectors of another model make another tree
    news = changes_since(context, step)
    changed = frozenset(news.changed)
    everything = census(context)
    touched = everything.keys() if news.gone else changed_scopes(context, news, ANY_STATUS)
    for scope, rows in everything.items():
        if scope in touched:
            yield from _place(context, space, scope, rows, changed)
    for sketch in context.tools.store.upkeep.sketches(TREE, Access.everything(), 100_000):
        if sketch.scope not in everything:
            yield Batch((Decision("tree.felled", "nothing is left", (Drop(sketch.scope, TREE, ""),)),))
    yield from mark_batch(context, step, news)


def _place(
    context: StepContext, space: Space, scope: Scope, rows: Sequence[CensusRow], changed: frozenset[str]
) -> Iterator[Batch]:
    store = context.tools.store.upkeep
    root = store.sketch(scope, TREE, "")
    visible = store.sketches(BRANCH, Access(scope, Role.AGENT), 100_000)
    sketches = [sketch for sketch in visible if sketch.scope == scope]
    old = [sketch for sketch in sketches if sketch.body["space"] == space.key]
    branches = _grafted(context, space, rows, old, changed, root)
    if branches is None:
        branches = _grown(context, space, rows)
        _into_domains(branches)
    elif root and not any(branch.changed for branch in branches) and len(branches) == len(sketches):
        return
    for start in range(0, len(branches), TOGETHER):
        effects = [
            effect
            for branch in branches[start : start + TOGETHER]
            if branch.changed
            for effect in _branch(context, space, scope, branch)
        ]
        if effects:
            yield Batch((Decision("tree.branch", f"{len(effects)} branches", tuple(effects), quiet=True),))
    yield from _root(context, space, scope, branches, sketches)


# ---------------------------------------------------------------- growing


def _grown(context: StepContext, space: Space, rows: Sequence[CensusRow]) -> list[TreeBranch]:
    """Clusters of all memories of a place that have a vector."""
    import numpy as np

    step = max(1, len(rows) // SAMPLE)
    _, sample = vectors_of(context, space, [row.key for row in rows[::step]])
    if not len(sample):
        return []
    count = max(1, min(TREE_CLUSTERS, round(len(rows) / TREE_MEMORIES)))
    middles = centres(sample, count)
    groups: list[dict[str, CensusRow]] = [{} for _ in middles]
    sums = np.zeros_like(middles)
    for block, vectors in _blocks(context, space, rows):
        nearest_branch, _ = nearest(vectors, middles)
        np.add.at(sums, nearest_branch, vectors)
        for row, index in zip(block, nearest_branch.tolist(), strict=True):
            groups[index][row.id] = row
    return [
        TreeBranch(next(iter(group)), group, unit(total))
        for group, total in zip(groups, sums, strict=True)
        if group
    ]


def _blocks(
    context: StepContext, space: Space, rows: Sequence[CensusRow]
) -> Iterator[tuple[list[CensusRow], Floats]]:
    """Memories with their vectors, some at a time; those without one are left out."""
    for start in range(0, len(rows), BLOCK):
        by_key = {row.key: row for row in rows[start : start + BLOCK]}
        keys, vectors = vectors_of(context, space, list(by_key))
        if keys:
            yield [by_key[key] for key in keys], vectors


def _grafted(
    context: StepContext,
    space: Space,
    rows: Sequence[CensusRow],
    sketches: Sequence[Sketch],
    changed: frozenset[str],
    root: Sketch | None,
) -> list[TreeBranch] | None:
    """The branches that are there with what came and went; None when the tree must be grown anew."""
    by_id = {row.id: row for row in rows}
    placed = {id_ for sketch in sketches for id_ in sketch.sources}
    fresh = [row for row in rows if row.id not in placed]
    gone = sum(id_ not in by_id for id_ in placed)
    if not sketches or len(fresh) + gone > GROWN * max(len(rows), 1):
        return None
    domains = {} if root is None else root.body["branches"]
    branches = [_read(sketch, by_id, changed, domains.get(sketch.key, -1)) for sketch in sketches]
    branches = [branch for branch in branches if branch.members]
    if not branches:
        return None
    _graft(context, space, fresh, branches)
    if any(branch.domain < 0 for branch in branches):
        _into_domains(branches)
    return branches


def _read(sketch: Sketch, by_id: Mapping[str, CensusRow], changed: frozenset[str], domain: int) -> TreeBranch:
    members = {id_: by_id[id_] for id_ in sketch.sources if id_ in by_id}
    body = sketch.body
    touched = len(members) < len(sketch.sources) or not changed.isdisjoint(members)
    words = (body["text"], sketch.title, list(body["told"]))
    return TreeBranch(sketch.key, members, _decoded(body["centre"]), *words, domain, touched)


def _graft(
    context: StepContext, space: Space, fresh: Sequence[CensusRow], branches: list[TreeBranch]
) -> None:
    """Put new memories onto the nearest branches; several that are near none make branches of their own."""
    import numpy as np

    middles = np.stack([branch.centre for branch in branches])
    least = meant(NEAR, space.key)
    far: list[CensusRow] = []
    for block, vectors in _blocks(context, space, fresh):
        nearest_branch, cosines = nearest(vectors, middles)
        for row, index, cosine in zip(block, nearest_branch.tolist(), cosines.tolist(), strict=True):
            if cosine < least:
                far.append(row)
            else:
                branches[index].members[row.id] = row
                branches[index].changed = True
    branches += _grown(context, space, far) if far else []


def _into_domains(branches: Sequence[TreeBranch]) -> None:
    """Group branches by where their centres lie from the middle of all: centres differ little otherwise."""
    import numpy as np

    if not branches:
        return
    middles = np.stack([branch.centre for branch in branches])
    if len(branches) > 1:
        middles = unit(middles - middles.mean(axis=0))
    count = max(1, min(MOST_DOMAINS, round(len(branches) / BRANCHES_A_DOMAIN)))
    nearest_domain, _ = nearest(middles, centres(middles, count))
    for branch, index in zip(branches, nearest_domain.tolist(), strict=True):
        branch.domain = index


# ---------------------------------------------------------------- into words


def _branch(context: StepContext, space: Space, scope: Scope, branch: TreeBranch) -> Sequence[Effect]:
    ordered, centre = _central(context, space, branch)
    branch.centre = centre
    branch.text, branch.source_ids = cluster_text(context, ordered)
    branch.title = title_of(context, ordered)
    body = {
        "text": branch.text,
        "told": branch.source_ids,
        "memories": len(ordered),
        "space": space.key,
        "centre": _encoded(centre),
    }
    sources = [row.id for row in ordered]
    return keep_sketch(context, scope, BRANCH, branch.key, body, title=branch.title, sources=sources)


def _central(context: StepContext, space: Space, branch: TreeBranch) -> tuple[list[CensusRow], Floats]:
    """The members, the most central and weighty first, and their centre."""
    import numpy as np

    by_key = {row.key: row for row in branch.members.values()}
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
    context: StepContext, space: Space, scope: Scope, branches: Sequence[TreeBranch], old: Sequence[Sketch]
) -> Iterator[Batch]:
    by_size = sorted(branches, key=lambda branch: (-len(branch.members), branch.key))
    groups = grouped((branch.domain, branch) for branch in by_size)
    ordered = sorted(groups.values(), key=lambda group: -sum(len(branch.members) for branch in group))
    domains = [_domain(context, group) for group in ordered]
    text, source_ids = paragraph(context, domains)
    body = {
        "space": space.key,
        "memories": sum(len(branch.members) for branch in branches),
        "branches": {branch.key: branch.domain for branch in branches},
        "domains": domains,
        "paragraph": text,
    }
    sources = dict.fromkeys([*source_ids, *(id_ for domain in domains for id_ in domain["told"])])
    effects: list[Effect] = list(keep_sketch(context, scope, TREE, "", body, sources=sources))
    keys = {branch.key for branch in branches}
    effects += [Drop(scope, BRANCH, sketch.key) for sketch in old if sketch.key not in keys]
    if effects:
        why = f"{body['memories']} memories, {len(branches)} clusters, {len(domains)} domains"
        yield Batch((Decision("tree.grown", why, tuple(effects)),))


def _domain(context: StepContext, branches: Sequence[TreeBranch]) -> dict[str, Any]:
    """One sentence for several branches, the largest first."""
    members = [row for branch in branches for row in branch.members.values()]
    title = (
        topic_of(members)
        or _topics_of(members)
        or ", ".join(dict.fromkeys(branch.title for branch in branches[:2]))
    )
    text, source_ids = domain_text(context, title, [(branch.text, branch.source_ids) for branch in branches])
    return {
        "title": title,
        "text": text,
        "told": source_ids,
        "memories": len(members),
        "branches": [branch.key for branch in branches],
    }


# ---------------------------------------------------------------- centres as text


def _encoded(centre: Floats) -> str:
    from base64 import b85encode

    import numpy as np

    return b85encode(centre.astype(np.float16).tobytes()).decode()


def _decoded(text: str) -> Floats:
    from base64 import b85decode

    import numpy as np

    centre: Floats = np.frombuffer(b85decode(text), dtype=np.float16).astype(np.float32)
    return centre
