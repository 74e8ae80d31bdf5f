"""Answers: what was answered to a write with a key. `memory.answers` keeps it for the doors, sealed.

The seal is made of the request itself, so the file tells nothing of what was said: only whoever sends the
very same request again can be answered from it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256

from engram.model.answer import KeptAnswer
from engram.nouns.desk import Desk
from engram.security.sealing import NONCE_BYTES, seal, unseal

ABOUT = "answer"


class Answers:
    """Answers to keyed writes, for a while. Hangs on the facade; safe to use from many threads."""

    def __init__(self, desk: Desk, chance: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._desk = desk
        self._chance = chance

    def find(self, caller: str, key: str, request: bytes, *, hours: float) -> tuple[int, bytes] | bool | None:
        """Status and body of the answer to this request; None when there is none.

        False when the key was used for another request.
        """
        kept = self._desk.tools.store.answers.find(caller, key)
        if kept is None or kept.at < self._desk.tools.clock.now() - timedelta(hours=hours):
            return None
        if kept.mark != sha256(request).hexdigest():
            return False
        body = unseal(kept.sealed, _key(caller, key, request), ABOUT)
        return None if body is None else (kept.status, bytes(body))

    def keep(
        self, caller: str, key: str, request: bytes, answer: tuple[int, bytes], *, hours: float, most: int
    ) -> None:
        """Keep an answer for so many hours, and so many in all."""
        status, body = answer
        now = self._desk.tools.clock.now()
        sealed = seal(body, _key(caller, key, request), self._chance(NONCE_BYTES), ABOUT)
        kept = KeptAnswer(caller, key, sha256(request).hexdigest(), status, sealed, now)
        self._desk.tools.store.answers.keep(kept, now - timedelta(hours=hours), most)


def _key(caller: str, key: str, request: bytes) -> bytes:
    """What an answer is sealed with: nothing that stands in the file."""
    return sha256(b"\0".join([ABOUT.encode(), caller.encode(), key.encode(), request])).digest()
