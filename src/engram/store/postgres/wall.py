"""The second wall: a connection says which namespaces it asks for, and the server shows it no others.

The access rule stands in the statements of the nouns. Behind it every table that holds something of a
namespace has a policy: a row is seen by a connection whose setting `engram.namespaces` names its namespace,
and one that says nothing sees nothing. Whoever reads for a caller does so in a role named after the user that
the engine logs in as (`engram_reader` for `engram`), which may do nothing but read and is bound by the
policies. The owner of the tables is not: so the engine writes, maintains, and follows what changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engram.model.event import Finding
from engram.model.scope import Access
from engram.ports import Reach
from engram.store.postgres.connection import EVERYTHING, as_server
from engram.store.sqlite.connection import Db, ask, whole
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.views import Places

NAMESPACE: Final = "namespace = ANY ((SELECT seen_namespaces())::bigint[])"
SCOPE: Final = "scope = ANY ((SELECT seen_scopes())::bigint[])"
# No EXISTS: the server would rather gather all memories once for that than look each one up.
MEMORY: Final = "(SELECT true FROM memories AS m WHERE m.row = {row})"

OF_NAMESPACES: Final = (
    *("scopes", "entities", "aliases", "alias_words", "mentions", "changes", "blocks", "marks"),
)
OF_SCOPES: Final = ("memories", "events", "turns", "sketches", "subscriptions")
OF_MEMORIES: Final = (
    *("memory_tags", "facets", "facts", "texts", "versions", "feedback", "access_log"),
    *("turn_memories", "origins", "sketch_sources", "publications", "deliveries"),
)
WALLED: Final[Mapping[str, str]] = {
    "namespaces": NAMESPACE.replace("namespace =", "id ="),
    **dict.fromkeys(OF_NAMESPACES, NAMESPACE),
    **dict.fromkeys(OF_SCOPES, SCOPE),
    **{table: MEMORY.format(row=f"{table}.row") for table in OF_MEMORIES},
    "embeddings": MEMORY.format(row="embeddings.id & 1099511627775"),
}
"""When a row of each table is seen."""
OPEN: Final = frozenset(
    {"answers", "audit", "decisions", "edges", "judgements", "llm_usage", "local_keys", "migrations"}
    | {"recalls", "runs", "snapshots", "spaces", "tokens", "triggers"}
)
"""Tables without words: numbers and digests, what is sealed, and what the engine keeps of itself."""

# They look at tables as their owner, whom no policy binds: a policy inside a policy makes plans slow.
FUNCTIONS: Final = """
CREATE OR REPLACE FUNCTION seen_namespaces() RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN string_to_array(current_setting('engram.namespaces', true), ',')::bigint[];
END $$;
CREATE OR REPLACE FUNCTION seen_scopes() RETURNS bigint[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN ARRAY(SELECT id FROM scopes WHERE namespace = ANY (seen_namespaces()));
END $$;
"""

# Numbers that readers follow are told whatever a connection may see: they say nothing of what was written.
NEWEST: Final = """
CREATE OR REPLACE FUNCTION newest_%(name)s RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN RETURN (SELECT coalesce(max(%(key)s), 0) FROM %(rows)s); END $$;
"""
FOLLOWED: Final = (
    ("scopes()", "id", "scopes"),
    ("changes(bigint)", "seq", "changes WHERE namespace = $1"),
    ("marks()", "seq", "marks"),
)

READER: Final = """
DO $$
DECLARE
  reader text := current_user || '_reader';
BEGIN
  IF (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
    AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = reader)
  THEN
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', reader);
      EXECUTE format('GRANT %I TO CURRENT_USER', reader);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;  -- another engine was quicker
    END;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = reader AND pg_has_role(oid, 'MEMBER')) THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), reader);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), reader);
    EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %I TO %I', current_schema(), reader);
  END IF;
END $$;
"""

STANDS: Final = """
SELECT to_regprocedure('newest_changes(bigint)') IS NOT NULL
  AND coalesce(bool_and(has_table_privilege(oid, to_regclass('memories'), 'SELECT')), true)
FROM pg_roles
WHERE rolname = current_user || '_reader'
  AND pg_has_role(oid, 'MEMBER')
"""

HAS_READER: Final = """
SELECT current_user || '_reader', EXISTS (
  SELECT 1 FROM pg_roles WHERE rolname = current_user || '_reader' AND pg_has_role(oid, 'MEMBER')
)
"""


def found_wall(db: Db) -> Finding:
    """Whether readers are bound by the policies, and what to do where they are not."""
    reader, is_there = ask(db, HAS_READER)[0]
    told = f"connections that read are bound by row-level security as {reader}"
    missing = (
        f"readers are not bound by row-level security: CREATE ROLE {reader}; GRANT {reader} TO CURRENT_USER"
    )
    return Finding("wall", ok=True, detail=told if is_there else missing)


def wall() -> str:
    """The statements that put up the wall; the same again where it stands."""
    newest = "".join(NEWEST % {"name": name, "key": key, "rows": rows} for name, key, rows in FOLLOWED)
    policies = "".join(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n"
        f"DROP POLICY IF EXISTS seen ON {table};\n"
        f"CREATE POLICY seen ON {table} USING ({sees});\n"
        for table, sees in WALLED.items()
    )
    return f"{FUNCTIONS}{newest}{policies}{READER}"


class WalledPlaces(Places):
    """Whoever asks what a caller may read is shown no more than the namespaces of it from then on."""

    def reach(self, db: Db, access: Access) -> Reach:
        """The access, resolved to numbers; the connection shows what lies in its namespaces alone."""
        found = super().reach(db, access)
        as_server(db).show(EVERYTHING if found.everything else self._shown(found))
        return found

    def _refresh(self, db: Db) -> None:
        with whole(db):
            super()._refresh(db)

    def _shown(self, reach: Reach) -> str:
        seen = {reach.namespace} - {None} or self.namespaces(reach) or {0}  # 0: no namespace has that number
        return ",".join(str(number) for number in sorted(seen, key=str))


class WalledReaders(Readers):
    """A connection that is lent shows everything, until it is asked what a caller may read."""

    def _take(self) -> Db:
        db = super()._take()
        as_server(db).show()
        return db
