"""The store, noun by noun: what may be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from engram.model.advice import Call, Spent
    from engram.model.answer import KeptAnswer
    from engram.model.entity import Entity
    from engram.model.event import Event
    from engram.model.facts import Claim, FactQuery, Told
    from engram.model.health import Recalled
    from engram.model.memory import Memory
    from engram.model.pages import Page, Stats
    from engram.model.relations import Edge, EdgeType
    from engram.model.scope import Access, Scope
    from engram.model.token import Token
    from engram.model.turn import Turn
    from engram.model.vectors import Space
    from engram.ports.values import (
        Floats,
        Keys,
        Link,
        Match,
        Reach,
        Suppression,
        VectorChanges,
        VectorRows,
        View,
    )


class Memories(Protocol):
    """The records."""

    def get(self, memory_id: str, access: Access) -> Memory | None:
        """The memory with this full id, in any status, if the caller may see it."""
        ...

    def resolve(self, prefix: str, access: Access) -> str:
        """The full id that begins with `prefix`. Raises NotFound or AmbiguousId."""
        ...

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """The records of keys that a search has already allowed. Missing keys are left out."""
        ...

    def endings(self, keys: Sequence[int], length: int) -> dict[int, str]:
        """The last characters of each content: what it takes to see whether a turn asks something."""
        ...

    def keys(self, ids: Sequence[str]) -> dict[str, int]:
        """The keys of full ids. Missing ids are left out."""
        ...

    def page(self, view: View, limit: int, cursor: str | None = None) -> Page:
        """Newest first. Raises BadCursor."""
        ...

    def count(self, view: View) -> int:
        """How many the view allows."""
        ...

    def select(self, view: View, limit: int) -> Keys | None:
        """All keys the view allows, in order; None when they are more than `limit`."""
        ...

    def allow(self, view: View, keys: Sequence[int]) -> set[int]:
        """Those of the keys that the view allows."""
        ...

    def used_since(self, at: datetime, limit: int) -> list[Memory]:
        """What the latest recalls since a time have used; at most so many uses are looked at."""
        ...

    def unembedded(self, space: Space, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories without a vector in this space, by key, beginning after a key."""
        ...

    def reach(self, access: Access) -> Reach:
        """The access, resolved."""
        ...

    def stats(self, access: Access, space: Space | None) -> Stats:
        """Counts of what the caller may see; pending counts active memories without a vector in `space`."""
        ...


class Texts(Protocol):
    """The text index."""

    def search(self, terms: Sequence[str], view: View, limit: int) -> list[tuple[int, float]]:
        """The best keys for these terms with their BM25 scores, best first."""
        ...

    def score(self, terms: Sequence[str], keys: Sequence[int], access: Access) -> dict[int, float]:
        """The BM25 score of given keys, 0.0 where no word fits. Only what the caller may read is counted."""
        ...

    def matches(self, terms: Sequence[str], keys: Sequence[int], access: Access) -> dict[int, Match]:
        """The same term by term; keys that are not indexed are left out."""
        ...

    def rarity(self, terms: Sequence[str], access: Access) -> dict[str, float]:
        """The inverse document frequency of each term, among what the caller may read."""
        ...


class Vectors(Protocol):
    """The vectors, space by space."""

    def changes(self, space: Space, after: int, limit: int) -> VectorChanges:
        """What changed after a point, for an index that keeps itself in step."""
        ...

    def rows(self, space: Space, keys: Sequence[int]) -> VectorRows:
        """Stored vectors of these keys; missing keys are left out."""
        ...

    def centre(self, space: Space) -> Floats | None:
        """What signatures of this space are centred on, once the space is large enough to need them."""
        ...

    def sign(self, space: Space, centre: Floats) -> None:
        """Fix the centre of a space and give every row its signature; later rows get theirs at once."""
        ...

    def spaces(self) -> dict[str, int]:
        """Each space's key with the number of its vectors."""
        ...


class Relations(Protocol):
    """The edges."""

    def of(self, memory_id: str, access: Access) -> list[Edge]:
        """Edges from and to a memory; the far ends are visible to the caller too."""
        ...

    def links(self, keys: Sequence[int], types: Iterable[EdgeType], view: View) -> list[Link]:
        """Edges of these types at these keys, in both directions, whose far ends the view allows."""
        ...


class Facts(Protocol):
    """What memories state, as subject, predicate and object."""

    def stated(self, subject: str, predicate: str, scope: Scope, limit: int) -> list[Claim]:
        """Such facts of active memories of this very scope, newest first."""
        ...

    def find(self, query: FactQuery, view: View, limit: int) -> list[Claim]:
        """Facts that fit the query, of memories that the view allows, newest first.

        With `as_of`, those that held then: said and begun before it, not ended by it, whatever the memory's
        status is today.
        """
        ...

    def told(self, query: FactQuery, view: View, limit: int) -> list[Told]:
        """As `find`, without the records."""
        ...

    def disputed(self, view: View, limit: int) -> list[tuple[Claim, Claim]]:
        """Pairs that cannot both be true, of active or challenged memories, newest first.

        Two functional facts of one scope with one subject and predicate but two objects, both held at
        present: the newest with the newest of each other object.
        """
        ...


class Entities(Protocol):
    """Who and what is spoken of. An entity is seen by those who see a memory that names it."""

    def get(self, name: str, access: Access) -> Entity | None:
        """The entity with this name or alias, without case."""
        ...

    def page(self, access: Access, limit: int, entity_type: str = "", prefix: str = "") -> list[Entity]:
        """Entities, last seen first; of one type; with a name or alias that begins so."""
        ...

    def like(self, name: str, access: Access, limit: int) -> list[Entity]:
        """Entities with a name that shares a word or the beginning with this one."""
        ...

    def among(self, words: Sequence[str], access: Access) -> list[Entity]:
        """Entities one of whose names is in `words`: how a question's entities are recognised."""
        ...

    def memories(self, entity: Entity, view: View, limit: int) -> list[tuple[int, Memory]]:
        """Memories that name it, by any of its names, the latest happening first, with their keys."""
        ...


class Turns(Protocol):
    """The raw log of conversations."""

    def waiting(self, scope: Scope, limit: int, session: str | None = None) -> list[Turn]:
        """Turns of this very scope that are not captured yet, oldest first; of one session if named."""
        ...

    def scopes_waiting(self) -> list[Scope]:
        """The scopes in which turns wait."""
        ...

    def before(self, turn: Turn, limit: int) -> list[Turn]:
        """The turns said just before this one in its session, oldest first."""
        ...

    def of_session(self, session: str, access: Access, limit: int, after: int = 0) -> list[Turn]:
        """A session's turns in order, beginning after a key, of scopes the caller may see."""
        ...

    def of_memory(self, memory_id: str, access: Access) -> list[Turn]:
        """The turns a memory came from."""
        ...


class Origins(Protocol):
    """Where imported memories came from: which file, which part of it, in which version."""

    def known(self, scope: Scope, beginning: str) -> dict[str, tuple[str, str]]:
        """Of each origin that begins so: the memory's id and the digest of what it was made from."""
        ...


class Spending(Protocol):
    """What calls to models have cost."""

    def record(self, call: Call) -> None:
        """Account for a call."""
        ...

    def tokens_since(self, at: datetime) -> int:
        """All tokens of calls since a time."""
        ...

    def summary(self, since: datetime) -> list[Spent]:
        """Calls since a time, added up by component and model, most tokens first."""
        ...

    def by_day(self, since: datetime) -> list[Spent]:
        """The same day by day, the latest first; days as UTC counts them."""
        ...

    def failing(self, models: Sequence[str]) -> tuple[int, str]:
        """How many of the last calls to these models brought nothing, and why the latest did not.

        0 when the latest brought something, or there was none.
        """
        ...

    def clear(self) -> int:
        """Forget all calls; how many there were."""
        ...


class Recalls(Protocol):
    """How the last recalls went."""

    def record(self, one: Recalled, most: int) -> None:
        """Keep one without making the caller wait, and no more than `most` in all. May be lost."""
        ...

    def last(self, limit: int) -> list[Recalled]:
        """The last recalls, oldest first."""
        ...


class Ledger(Protocol):
    """The events."""

    def events(
        self, memory_id: str | None, access: Access, limit: int, before: str | None = None
    ) -> list[Event]:
        """Newest first, of one memory or of all that the caller may see; `before` is an event to go on from.

        Events of an erased memory stay visible to those who could see the memory.
        """
        ...

    def as_of(self, memory_ids: Sequence[str], at: datetime) -> dict[str, dict[str, Any]]:
        """Of each of these memories that has changed since: those fields as they were at that time.

        Plain values, as events have them; None for words that were not kept because they are a secret.
        """
        ...

    def after(self, event_id: str, access: Access, limit: int) -> list[Event]:
        """Oldest first, those the caller may see that were written after an event, whoever may see that one.

        An empty id stands for the beginning.
        """
        ...

    def newest(self) -> str:
        """The id of the event written last; empty when nothing has happened yet."""
        ...


class Tokens(Protocol):
    """Who may come in from outside."""

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token with the digest of its secret."""
        ...

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, also those that are no longer valid, oldest first."""
        ...

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""
        ...

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use. It may be lost."""
        ...


class Answers(Protocol):
    """Answers to writes that carried a key."""

    def find(self, caller: str, key: str) -> KeptAnswer | None:
        """What was answered to this caller under this key."""
        ...

    def keep(self, answer: KeptAnswer, before: datetime, most: int) -> None:
        """Keep one, and drop those before a time and those beyond so many."""
        ...


class Opinions(Protocol):
    """Feedback that still counts."""

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions of these keys, made in this space, not older than `since`."""
        ...
