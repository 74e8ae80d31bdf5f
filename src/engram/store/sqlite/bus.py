"""The bus: offers, wishes and copies come in; what is to be delivered comes out."""

from __future__ import annotations

from collections.abc import Callable

from engram.model.event import Delivery, Publication, Subscription
from engram.model.scope import Access, Scope
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, Line, ask, delete, delete_where, look_up, put
from engram.store.sqlite.records import columns, value_of
from engram.store.sqlite.views import PlacedNoun

PUBLICATIONS = """
SELECT p.id, m.id, p.agent, n.name, s.project, s.squad, s.agent, s.channel, s.user,
  p.region, p.published_at, p.agents, p.topics, p.importance, p.clock, p.number
FROM publications AS p
JOIN memories AS m ON m.row = p.row
JOIN scopes AS s ON s.id = m.scope
JOIN namespaces AS n ON n.id = s.namespace
WHERE p.number > :after
ORDER BY p.number
LIMIT :limit
"""

SUBSCRIPTIONS = """
SELECT b.id, b.agent, n.name, s.project, s.squad, s.agent, s.channel, s.user,
  b.made_at, b.topics, b.agents, b.min_importance, b.rate, b.place
FROM subscriptions AS b
JOIN scopes AS s ON s.id = b.scope
JOIN namespaces AS n ON n.id = s.namespace
ORDER BY b.made_at, b.id
"""

DELIVERED = """
SELECT m.id, d.origin, d.publication, d.subscription, d.clock, d.version
FROM json_each(:origins) AS j
CROSS JOIN deliveries AS d ON d.origin = j.value
CROSS JOIN memories AS m ON m.row = d.row
WHERE m.scope = :scope
ORDER BY d.row
"""

PUBLISH = """
INSERT INTO publications (id, row, agent, region, agents, topics, importance, clock, published_at)
VALUES (:id, (SELECT row FROM memories WHERE id = :memory), :agent, :region, :agents, :topics, :importance,
  :clock, :published_at)
"""

DELIVER = """
INSERT INTO deliveries (row, origin, publication, subscription, clock, version)
VALUES ((SELECT row FROM memories WHERE id = :memory), :origin, :publication, :subscription, :clock, :version)
ON CONFLICT (row) DO UPDATE SET
  publication = :publication,
  clock = :clock,
  version = :version
"""

COPIES = """
SELECT m.id
FROM memories AS o
JOIN deliveries AS d ON d.origin = o.id
JOIN memories AS m ON m.row = d.row
WHERE o.row = :row
"""


class SqliteBus(PlacedNoun):
    """Who offers what, who wants what, what was delivered. Used by any thread."""

    def publications(self, after: int, limit: int, access: Access | None = None) -> list[Publication]:
        """In the order of publishing, beginning after a number; of scopes a caller may see, if one asks."""
        seen: list[Publication] = []
        with self._readers.lend() as db:
            while len(seen) < limit:
                part = [_publication(one) for one in ask(db, PUBLICATIONS, {"after": after, "limit": limit})]
                seen += [one for one in part if access is None or access.may_read(one.scope)]
                if len(part) < limit:
                    break
                after = part[-1].number
        return seen[:limit]

    def publication(self, publication_id: str) -> Publication | None:
        """One offer by its id."""
        with self._readers.lend() as db:
            number = look_up(db, "publications", "number", id=publication_id)
            found = [] if number is None else ask(db, PUBLICATIONS, {"after": number - 1, "limit": 1})
            return next((_publication(one) for one in found), None)

    def subscriptions(self, access: Access | None = None) -> list[Subscription]:
        """All, oldest first; of scopes a caller may see, if one asks."""
        subscriptions = map(_subscription, self._ask(SUBSCRIPTIONS))
        return [one for one in subscriptions if access is None or access.may_read(one.scope)]

    def newest(self) -> int:
        """The number of the last publication."""
        return self._ask("SELECT max(number) FROM publications")[0][0] or 0

    def delivered(self, origins: list[str], scope: Scope) -> dict[str, Delivery]:
        """Of each of these memories that was delivered to a place: its copy there."""
        with self._readers.lend() as db:
            values = {"origins": rows.as_list(origins), "scope": self._scope(db, scope)}
            return {one[1]: value_of(Delivery, one) for one in ask(db, DELIVERED, values)}


class SqliteBusWork:
    """What is written, inside a unit of work. Lives inside the writer's thread, for one unit of work."""

    def __init__(self, db: Db, place: Callable[[Scope], tuple[int, int]]) -> None:
        self._db = db
        self._place = place

    def publish(self, publication: Publication) -> None:
        """Offer a memory; a former offer of the same memory is withdrawn."""
        line = columns(publication)
        del line["scope"], line["number"]
        of_memory = "row = (SELECT row FROM memories WHERE id = :memory)"
        delete_where(self._db, "publications", of_memory, memory=publication.memory)
        self._db.execute(PUBLISH, line)

    def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; copies stay. Whether there was one."""
        return delete(self._db, "publications", id=publication_id) > 0

    def subscribe(self, subscription: Subscription) -> None:
        """Keep a subscription, or what has changed of it."""
        line = columns(subscription, scope=self._place(subscription.scope)[0])
        put(self._db, "subscriptions", line, key="id")

    def unsubscribe(self, subscription_id: str) -> bool:
        """Drop a subscription; whether there was one."""
        return delete(self._db, "subscriptions", id=subscription_id) > 0

    def deliver(self, delivery: Delivery) -> None:
        """Say that a copy was delivered; erasing the original erases it too."""
        self._db.execute(DELIVER, columns(delivery))


def copies(db: Db, row: int) -> list[str]:
    """The ids of what was delivered of a memory."""
    return [line[0] for line in ask(db, COPIES, {"row": row})]


def _publication(line: Line) -> Publication:
    return value_of(Publication, (*line[:3], Scope(*line[3:9]), *line[9:]))


def _subscription(line: Line) -> Subscription:
    return value_of(Subscription, (*line[:2], Scope(*line[2:8]), *line[8:]))
