"""Following other engines: the server tells that something has changed, and what is held is renewed.

Every question asks for changes by number anyway, so nothing depends on being told: a question only finds less
to catch up with. A connection that broke is opened again, and all that may have been missed is looked for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

import psycopg

from engram.errors import EngramError
from engram.store.postgres.connection import PostgresOpener

# Told once a transaction, however many of its statements change something.
TELLING: Final = """
CREATE OR REPLACE FUNCTION changes_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('engram_' || current_schema(), '');
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER changes_told AFTER INSERT OR UPDATE ON changes
FOR EACH STATEMENT EXECUTE FUNCTION changes_told();
"""
LISTEN: Final = "SELECT format('LISTEN %I', 'engram_' || current_schema())"
BEGINS_AFTER_S: Final = 2.0
"""A program that is done sooner needs nobody to listen."""
AGAIN_S: Final = 1.0
LONGEST_S: Final = 30.0
"""How long it waits before it connects again: ever longer, up to this."""
LOOKS_UP_S: Final = 0.5
"""How often it looks whether it is to end."""

log = logging.getLogger(__name__)


class ChangeListener:
    """A thread with a connection of its own. It begins with the first `wake` and ends with `close`."""

    def __init__(self, opener: PostgresOpener, renew: Callable[[], None]) -> None:
        self._opener = opener
        self._renew = renew
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.connected = threading.Event()
        """Set while it listens."""

    def wake(self) -> None:
        """Begin to listen, unless it does: something is held that others may change."""
        if self._thread is None:
            with self._lock:
                if self._thread is None and not self._closed.is_set():
                    self._thread = threading.Thread(target=self._run, name="engram-listener", daemon=True)
                    self._thread.start()

    def close(self) -> None:
        """Listen no longer."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        pause = BEGINS_AFTER_S
        while not self._closed.wait(pause):
            try:
                self._listen()
            except (psycopg.Error, EngramError) as error:
                longer = AGAIN_S if self.connected.is_set() else min(LONGEST_S, 2 * pause)
                log.info("The server is not heard, again in %.0f s: %s", longer, error)
                pause = longer
            finally:
                self.connected.clear()

    def _listen(self) -> None:
        with self._opener.connect(read_only=True) as db:
            line = db.execute(LISTEN).fetchone()
            if line is not None:
                db.execute(line[0])
            self._renew()
            self.connected.set()
            while not self._closed.is_set():
                if list(db.notifies(timeout=LOOKS_UP_S, stop_after=1)):
                    self._renew()
