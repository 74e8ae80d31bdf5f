"""Places and their numbers: an access comes in, what it may see comes out as numbers a query can compare.

Scopes are only ever added, so what was read once stays true, and one look at the largest number tells whether
there are new ones.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from engram.model.scope import Access, Scope
from engram.ports import Reach
from engram.store.sqlite.query import Db, ask, ask_line, ask_value
from engram.store.sqlite.records import as_list

ADD_NAMESPACE = """
INSERT INTO namespaces (name)
VALUES (:namespace)
ON CONFLICT DO NOTHING
"""

ADD_SCOPE = """
INSERT INTO scopes (namespace, project, squad, agent, channel, user)
SELECT id, :project, :squad, :agent, :channel, :user
FROM namespaces
WHERE name = :namespace
ON CONFLICT DO NOTHING
"""

FIND_SCOPE = """
SELECT s.id, s.namespace
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
WHERE n.name = :namespace
  AND s.project = :project
  AND s.squad = :squad
  AND s.agent = :agent
  AND s.channel = :channel
  AND s.user = :user
"""

NEWEST = """
SELECT coalesce(max(id), 0)
FROM scopes
"""

ALL = """
SELECT s.id, s.namespace, n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
"""

SIZE_OF_FILE = """
SELECT coalesce(sum(memories), 0)
FROM scopes
"""

SIZE_OF_NAMESPACE = """
SELECT coalesce(sum(memories), 0)
FROM scopes
WHERE namespace = :namespace
"""

SIZE_OF_SCOPES = """
SELECT coalesce(sum(memories), 0)
FROM scopes
WHERE id IN (SELECT value FROM json_each(:scopes))
"""

REACHES_KEPT = 1_000
"""How many callers' reaches are remembered before starting anew."""


class Places:
    """What this process knows of the scopes that are on disk. Shared by all reading threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = -1
        self._scopes: list[tuple[int, int, Scope]] = []
        self._numbers: dict[Scope, tuple[int, int]] = {}
        self._reaches: dict[Access, Reach] = {}

    def reach(self, db: Db, access: Access) -> Reach:
        """The access, resolved to numbers."""
        if access.all_namespaces:
            return Reach(everything=True)
        with self._lock:
            self._refresh(db)
            found = self._reaches.get(access)
            if found is None:
                if len(self._reaches) >= REACHES_KEPT:
                    self._reaches.clear()
                found = self._reaches[access] = _resolve(self._scopes, access)
            return found

    def numbers(self, scope: Scope) -> tuple[int, int] | None:
        """Numbers of the scope and its namespace, if some reader has seen them on disk."""
        return self._numbers.get(scope)

    def _refresh(self, db: Db) -> None:
        newest = ask_value(db, NEWEST)
        if newest != self._newest:
            self._scopes = [(id_, namespace, Scope(*parts)) for id_, namespace, *parts in ask(db, ALL)]
            self._numbers = {scope: (id_, namespace) for id_, namespace, scope in self._scopes}
            self._reaches.clear()
            self._newest = newest


def size(db: Db, reach: Reach) -> int:
    """How many memories a reach covers, in any status."""
    if reach.everything:
        return int(ask_value(db, SIZE_OF_FILE))
    if reach.namespace is not None:
        return int(ask_value(db, SIZE_OF_NAMESPACE, {"namespace": reach.namespace}))
    return int(ask_value(db, SIZE_OF_SCOPES, {"scopes": as_list(reach.scopes)}))


def find(db: Db, scope: Scope) -> tuple[int, int] | None:
    """Numbers of the scope and its namespace, if anything was ever stored there."""
    found = ask_line(db, FIND_SCOPE, _named(scope))
    return None if found is None else (found[0], found[1])


def find_or_add(db: Db, scope: Scope) -> tuple[int, int]:
    """Numbers of the scope and its namespace; they are given out when first asked for."""
    found = find(db, scope)
    if found is None:
        db.execute(ADD_NAMESPACE, {"namespace": scope.namespace})
        db.execute(ADD_SCOPE, _named(scope))
        return find_or_add(db, scope)
    return found


def _resolve(scopes: Iterable[tuple[int, int, Scope]], access: Access) -> Reach:
    if access.owns_namespace:
        home = access.scope.namespace
        numbers = {namespace for _, namespace, scope in scopes if scope.namespace == home}
        return Reach(namespace=min(numbers, default=None))
    return Reach(scopes=frozenset(id_ for id_, _, scope in scopes if access.may_read(scope)))


def _named(scope: Scope) -> dict[str, str]:
    return {
        "namespace": scope.namespace,
        "project": scope.project,
        "squad": scope.squad,
        "agent": scope.agent,
        "channel": scope.channel,
        "user": scope.user,
    }
