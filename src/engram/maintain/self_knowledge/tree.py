"""The abstraction tree: memories of a place come in; clusters, domains and one paragraph for all come out.

A branch is a cluster: its members, its centre and its words, in one sketch. What is new goes to the nearest
branch, what is gone leaves it, and only branches that changed are put into words again. When half of it is
new, the whole tree is grown anew. Words are the members' own, the most central ones first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from engram.graph.clusters import centres, nearest
from engram.lifecycle.calibration import meant
from engram.maintain.decisions import Batch, Decision, Drop, Effect
from engram.maintain.neighbours import space_of, vectors_of
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census
from engram.maintain.self_knowledge.wording import domain_text, paragraph, telling, title_of, topic_of
from engram.maintain.since import noted, since
from engram.maintain.sketching import keep
from engram.model.scope import Access, Role, Scope
from engram.model.upkeep import Sketch
from engram.model.vectors import Space

if TYPE_CHECKING:
    from engram.ports import Floats

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
class Branch:
    """A cluster while it is worked on."""

    key: str
    members: dict[str, Known]
    centre: Floats
    text: str = ""
    title: str = ""
    told: list[str] = field(default_factory=list)
    domain: int = -1
    changed: bool = True


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """The tree of every place, as far as its memories changed."""
    news, space = since(room, NAME), space_of(room)
    if space is None:
        return
    changed = frozenset(news.changed)
    everything = census(room)
    for scope, known in everything.items():
        yield from _place(room, space, scope, known, changed)
    for sketch in room.tools.store.upkeep.sketches(TREE, Access.everything(), 100_000):
        if sketch.scope not in everything:
            yield Batch((Decision("tree.felled", "nothing is left", (Drop(sketch.scope, TREE, ""),)),))
    yield from noted(room, NAME, news)


def _place(
    room: Room, space: Space, scope: Scope, known: Sequence[Known], changed: frozenset[str]
) -> Iterator[Batch]:
    store = room.tools.store.upkeep
    root = store.sketch(scope, TREE, "")
    kept = [one for one in store.sketches(BRANCH, Access(scope, Role.AGENT), 100_000) if one.scope == scope]
    old = [one for one in kept if one.body["space"] == space.key]
    branches = _grafted(room, space, known, old, changed, root)
    if branches is None:
        branches = _grown(room, space, known)
        _into_domains(branches)
    elif root is not None and not any(one.changed for one in branches) and len(branches) == len(kept):
        return
    for start in range(0, len(branches), TOGETHER):
        effects = [
            effect
            for one in branches[start : start + TOGETHER]
            if one.changed
            for effect in _branch(room, space, scope, one)
        ]
        if effects:
            yield Batch((Decision("tree.branch", f"{len(effects)} branches", tuple(effects), quiet=True),))
    yield from _root(room, space, scope, branches, kept)


# ---------------------------------------------------------------- growing


def _grown(room: Room, space: Space, known: Sequence[Known]) -> list[Branch]:
    """Clusters of all memories of a place that have a vector."""
    import numpy as np

    settings = room.tools.config.knowledge
    step = max(1, len(known) // SAMPLE)
    _, sample = vectors_of(room, space, [one.key for one in known[::step]])
    if not len(sample):
        return []
    count = max(1, min(settings.tree_clusters, round(len(known) / settings.tree_memories)))
    middles = centres(sample, count)
    groups: list[dict[str, Known]] = [{} for _ in middles]
    sums = np.zeros_like(middles)
    for some, vectors in _blocks(room, space, known):
        places, _ = nearest(vectors, middles)
        np.add.at(sums, places, vectors)
        for one, place in zip(some, places.tolist(), strict=True):
            groups[place][one.id] = one
    return [
        Branch(next(iter(group)), group, _unit(total))
        for group, total in zip(groups, sums, strict=True)
        if group
    ]


def _blocks(room: Room, space: Space, known: Sequence[Known]) -> Iterator[tuple[list[Known], Floats]]:
    """Memories with their vectors, some at a time; those without one are left out."""
    for start in range(0, len(known), BLOCK):
        by_key = {one.key: one for one in known[start : start + BLOCK]}
        keys, vectors = vectors_of(room, space, list(by_key))
        if keys:
            yield [by_key[key] for key in keys], vectors


def _grafted(
    room: Room,
    space: Space,
    known: Sequence[Known],
    kept: Sequence[Sketch],
    changed: frozenset[str],
    root: Sketch | None,
) -> list[Branch] | None:
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
    _graft(room, space, fresh, branches)
    if any(one.domain < 0 for one in branches):
        _into_domains(branches)
    return branches


def _read(sketch: Sketch, by_id: Mapping[str, Known], changed: frozenset[str], domain: int) -> Branch:
    members = {id_: by_id[id_] for id_ in sketch.sources if id_ in by_id}
    body = sketch.body
    touched = len(members) < len(sketch.sources) or not changed.isdisjoint(members)
    words = (body["text"], sketch.title, list(body["told"]))
    return Branch(sketch.key, members, _decoded(body["centre"]), *words, domain, touched)


def _graft(room: Room, space: Space, fresh: Sequence[Known], branches: list[Branch]) -> None:
    """Put new memories onto the nearest branches; several that are near none make branches of their own."""
    import numpy as np

    middles = np.stack([one.centre for one in branches])
    least = meant(NEAR, space.key)
    far: list[Known] = []
    for some, vectors in _blocks(room, space, fresh):
        places, cosines = nearest(vectors, middles)
        for one, place, cosine in zip(some, places.tolist(), cosines.tolist(), strict=True):
            if cosine < least:
                far.append(one)
            else:
                branches[place].members[one.id] = one
                branches[place].changed = True
    branches += _grown(room, space, far) if far else []


def _into_domains(branches: Sequence[Branch]) -> None:
    """Group branches by where their centres lie from the middle of all: centres differ little otherwise."""
    import numpy as np

    if not branches:
        return
    middles = np.stack([one.centre for one in branches])
    if len(branches) > 1:
        middles = _unit(middles - middles.mean(axis=0))
    count = max(1, min(MOST_DOMAINS, round(len(branches) / BRANCHES_A_DOMAIN)))
    places, _ = nearest(middles, centres(middles, count))
    for one, place in zip(branches, places.tolist(), strict=True):
        one.domain = place


# ---------------------------------------------------------------- into words


def _branch(room: Room, space: Space, scope: Scope, branch: Branch) -> Sequence[Effect]:
    ordered, centre = _central(room, space, branch)
    branch.centre = centre
    branch.text, branch.told = telling(room, ordered)
    branch.title = title_of(ordered)
    body = {
        "text": branch.text,
        "told": branch.told,
        "memories": len(ordered),
        "space": space.key,
        "centre": _encoded(centre),
    }
    return keep(
        room, scope, BRANCH, branch.key, body, title=branch.title, sources=[one.id for one in ordered]
    )


def _central(room: Room, space: Space, branch: Branch) -> tuple[list[Known], Floats]:
    """The members, the most central and weighty first, and their centre."""
    import numpy as np

    by_key = {one.key: one for one in branch.members.values()}
    keys, vectors = vectors_of(room, space, list(by_key))
    if not keys:
        return list(branch.members.values()), branch.centre
    centre = _unit(vectors.sum(axis=0))
    scores = vectors @ centre + WEIGHT * np.array([by_key[key].importance for key in keys])
    order = sorted(range(len(keys)), key=lambda at: (-round(float(scores[at]), 6), keys[at]))
    return [by_key[keys[at]] for at in order], centre


WEIGHT: Final = 0.2
"""What importance counts beside being central."""


def _root(
    room: Room, space: Space, scope: Scope, branches: Sequence[Branch], kept: Sequence[Sketch]
) -> Iterator[Batch]:
    groups: dict[int, list[Branch]] = {}
    for one in sorted(branches, key=lambda one: (-len(one.members), one.key)):
        groups.setdefault(one.domain, []).append(one)
    ordered = sorted(groups.values(), key=lambda some: -sum(len(one.members) for one in some))
    domains = [_domain(room, some) for some in ordered]
    text, told = paragraph(room, domains)
    body = {
        "space": space.key,
        "memories": sum(len(one.members) for one in branches),
        "branches": {one.key: one.domain for one in branches},
        "domains": domains,
        "paragraph": text,
    }
    sources = dict.fromkeys([*told, *(id_ for one in domains for id_ in one["told"])])
    effects: list[Effect] = list(keep(room, scope, TREE, "", body, sources=sources))
    keys = {one.key for one in branches}
    effects += [Drop(scope, BRANCH, sketch.key) for sketch in kept if sketch.key not in keys]
    if effects:
        why = f"{body['memories']} memories, {len(branches)} clusters, {len(domains)} domains"
        yield Batch((Decision("tree.grown", why, tuple(effects)),))


def _domain(room: Room, branches: Sequence[Branch]) -> dict[str, Any]:
    """One sentence for several branches, the largest first."""
    members = [one for branch in branches for one in branch.members.values()]
    title = topic_of(members) or ", ".join(dict.fromkeys(one.title for one in branches[:2]))
    text, told = domain_text(room, title, [(one.text, one.told) for one in branches])
    return {
        "title": title,
        "text": text,
        "told": told,
        "memories": len(members),
        "branches": [one.key for one in branches],
    }


# ---------------------------------------------------------------- centres as text


def _unit(vector: Floats) -> Floats:
    from engram.vectors.similarity import unit

    return unit(vector)


def _encoded(centre: Floats) -> str:
    from base64 import b85encode

    import numpy as np

    return b85encode(centre.astype(np.float16).tobytes()).decode()


def _decoded(text: str) -> Floats:
    from base64 import b85decode

    import numpy as np

    found: Floats = np.frombuffer(b85decode(text), dtype=np.float16).astype(np.float32)
    return found
