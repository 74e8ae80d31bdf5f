"""A lease: one process at a time does a certain work on a file. It ends with the process, however that dies.

It is an exclusive transaction on a small database beside the file: the system gives it back by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from engram.errors import UpkeepBusy
from engram.store.sqlite.connection import Opener


@contextmanager
def lease(opener: Opener, name: str) -> Iterator[None]:
    """Hold the work called `name` on a file. Raises UpkeepBusy when somebody else does it."""
    db = opener.beside(name)
    try:
        try:
            db.execute("BEGIN EXCLUSIVE")
        except apsw.BusyError as error:
            raise UpkeepBusy(name) from error
        try:
            yield
        finally:
            db.execute("ROLLBACK")
    finally:
        db.close()
