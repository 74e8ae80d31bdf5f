"""Short ways to put memories into a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, Fact
from engram.model.memory import ANY_STATUS, Filters, Memory, Space
from engram.model.scope import Access, Role, Scope
from engram.ports import Embedded, Findable, Match, Matched, Store, Terms, View
from engram.testing import START, sequential_ids
from engram.text.words import content_hash, terms

Floats = NDArray[np.float32]

SPACE = Space("tiny", 8)
OTHER_SPACE = Space("other", 8)
EVERYTHING = Access.everything()
ALL = View(EVERYTHING, ANY_STATUS)

new_id = sequential_ids()


def make(content: str, **fields: Any) -> Memory:
    """A memory that says this."""
    moments = {"created_at": START, "modified_at": START}
    return Memory(
        **({"id": new_id(), "content": content, "content_hash": content_hash(content)} | moments | fields)
    )


def found_by(content: str, cues: Sequence[str] = (), facts: Sequence[Fact] = ()) -> Findable:
    """What a memory with this content is found by."""
    return Findable(tuple(terms(content)), tuple(cues), tuple(facts))


def put(
    store: Store, memory: Memory, vector: Floats | None = None, findable: Findable | None = None
) -> Memory:
    """Write a memory, with a vector in `SPACE` if there is one."""
    embedded = None if vector is None else Embedded(SPACE, vector)
    store.write(
        lambda unit: unit.add(memory, findable or found_by(memory.content), embedded, "said so"), "tester"
    )
    return memory


def add(store: Store, content: str, vector: Floats | None = None, **fields: Any) -> Memory:
    """Make a memory and write it."""
    return put(store, make(content, **fields), vector)


def change(store: Store, new: Memory, verb: Verb = Verb.UPDATED, findable: Findable | None = None) -> Memory:
    """Write another version of a memory."""
    store.write(lambda unit: unit.change(new, verb, "changed my mind", findable), "tester")
    return new


def relate(store: Store, source: Memory, target: Memory, edge_type: EdgeType, **fields: Any) -> None:
    """Draw an edge."""
    edge = Edge(source.id, target.id, edge_type, **fields)
    store.write(lambda unit: unit.relate(edge, "belongs together"), "tester")


def erase(store: Store, memory: Memory) -> None:
    """Remove a memory."""
    store.write(lambda unit: unit.erase(memory.id, "asked to"), "tester")


def key_of(store: Store, memory: Memory) -> int:
    """The memory's key."""
    return store.memories.keys([memory.id])[memory.id]


def vector(seed: int, dims: int = SPACE.dims) -> Floats:
    """A unit vector, the same for the same seed."""
    row = np.random.default_rng(seed).standard_normal(dims).astype(np.float32)
    whole: Floats = row / np.linalg.norm(row)
    return whole


def agent(name: str, **parts: str) -> Access:
    """Somebody who sees its own place and those above."""
    return Access(Scope(agent=name, **parts), Role.AGENT)


def view(access: Access = EVERYTHING, **filters: Any) -> View:
    """What somebody may find; every status unless said."""
    return View(access, Filters(**({"statuses": ANY_STATUS.statuses} | filters)))


def contents(memories: Iterable[Memory]) -> list[str]:
    """What they say, in order."""
    return [memory.content for memory in memories]


def contents_of(store: Store, keys: Iterable[int]) -> list[str]:
    """What the memories of these keys say, in order."""
    wanted = [int(key) for key in keys]
    read = store.memories.read(wanted)
    return [read[key].content for key in wanted]


def find(store: Store, words: str, seen: View = ALL, limit: int = 10) -> list[str]:
    """Search by words."""
    return contents_of(store, [key for key, _ in search_words(store, terms(words), seen, limit)])


def search_words(store: Store, words: Terms, seen: View, limit: int) -> list[tuple[int, Match]]:
    """The keys that fit these terms best, best first, with what fits of each."""
    return list(_lines(store.texts.ask(words, seen.access).search(seen, limit)).items()) if words else []


def word_matches(store: Store, words: Terms, keys: Sequence[int], access: Access) -> dict[int, Match]:
    """What fits of given keys."""
    return _lines(store.texts.ask(words, access).of(keys)) if len(keys) else {}


def rarity_of(store: Store, words: Terms, access: Access) -> dict[str, float]:
    """The inverse document frequency of each term, among what the caller may read."""
    return dict(store.texts.ask(words, access).rarity)


def _lines(found: Matched) -> dict[int, Match]:
    return {key: found.match(place) for place, key in enumerate(found.keys.tolist())}
