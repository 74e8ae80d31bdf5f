"""Tokens: who may come in from outside. `memory.tokens` makes, lists and revokes them; only an owner may."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from engram.api.caller import CallerContext
from engram.capture import screen
from engram.errors import AccessDenied, EmptyContent, InvalidInput
from engram.model.event import Audited, AuditEntry, KeptAnswer
from engram.model.plain import member, moment
from engram.model.scope import Role, Scope, Token
from engram.rules.secrets import NONCE_BYTES, SECRET_BYTES, digest_of, match, seal, secret_from, unseal

ID_BYTES = 4
NOTED_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token and its secret, which is shown this once."""

    token: Token
    secret: str = field(repr=False)


Found = list[Token]


class Tokens:
    """Who may come in from outside. Hangs on the facade; safe to use from many threads."""

    def __init__(self, caller: CallerContext, chance: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._caller = caller
        self._chance = chance

    def create(
        self,
        name: str,
        role: Role | str = Role.READER,
        *,
        scope: Scope | None = None,
        expires_at: datetime | str | None = None,
        timezone: str = "",
    ) -> Issued:
        """Make a token. `name` is the actor in what its bearer does; the secret is given out only here.

        `timezone` says where its bearer is: an IANA name, or an offset such as +02:00.
        """
        place = self._check(scope)
        token = Token(
            id=self._chance(ID_BYTES).hex(),
            name=_name(name),
            role=member("role", Role, role),
            scope=place,
            created_at=self._caller.tools.clock.now(),
            expires_at=None
            if expires_at is None
            else moment("expires_at", expires_at, self._caller.tools.zone),
            timezone=screen.timezone("timezone", timezone),
        )
        secret = secret_from(self._chance(SECRET_BYTES))
        self._caller.tools.store.tokens.add(token, digest_of(secret))
        return Issued(token, secret)

    def list(self, *, revoked: bool = False) -> Found:
        """The tokens for places this caller owns, oldest first; with `revoked` also those taken back."""
        self._check(None)
        known = (token for _, token in self._caller.tools.store.tokens.known())
        return [
            token
            for token in known
            if self._caller.access.may_write(token.scope) and (revoked or token.revoked_at is None)
        ]

    def revoke(self, token_id: str) -> Token:
        """Take a token back, by its id or its name if only one has it. It lets nobody in any more."""
        found = [token for token in self.list() if token_id in (token.id, token.name)]
        if len(found) != 1:
            told = "several tokens have this name: give the id" if found else "there is no such token"
            message = f"{token_id[:60]!r}: {told}; `engram token list` shows them."
            raise InvalidInput(message)
        self._caller.tools.store.tokens.revoke(found[0].id, self._caller.tools.clock.now())
        return found[0]

    def bearer(self, secret: str) -> Token | None:
        """The valid token with this secret; None when there is none. Whoever asks needs no right to."""
        store, now = self._caller.tools.store.tokens, self._caller.tools.clock.now()
        token = match(secret, store.known())
        if token is None or not token.is_valid(now):
            return None
        if token.last_used is None or (now - token.last_used).total_seconds() > NOTED_EVERY_S:
            store.used(token.id, now)
            entry = AuditEntry(now, token.name, Audited.TOKEN_USED, token.id)
            self._caller.tools.store.audit.note(entry)
        return token

    def is_valid(self, token_id: str) -> bool:
        """Whether a token still lets somebody in."""
        known, now = self._caller.tools.store.tokens.known(), self._caller.tools.clock.now()
        return any(one.id == token_id and one.is_valid(now) for _, one in known)

    def any_valid(self) -> bool:
        """Whether anybody could come in by a token now."""
        now = self._caller.tools.clock.now()
        return any(token.is_valid(now) for _, token in self._caller.tools.store.tokens.known())

    def _check(self, scope: Scope | None) -> Scope:
        """The place a token is for: an owner gives out places of their own."""
        place = self._caller.access.scope if scope is None else scope
        if self._caller.access.role is not Role.OWNER:
            what = "give out or take back tokens"
            raise AccessDenied(what)
        self._caller.check_write(place)
        return place


def _name(name: str) -> str:
    clean = screen.readable("name", name).strip()
    if not clean:
        raise EmptyContent("name")
    screen.name("name", clean)
    return clean


# ---------------------------------------------------------------- answers
# Answers: what was answered to a write with a key. `memory.answers` keeps it for the doors, sealed.
#
# The seal is made of the request itself, so the file tells nothing of what was said: only whoever sends the
# very same request again can be answered from it.


ABOUT = "answer"


class Answers:
    """Answers to keyed writes, for a while. Hangs on the facade; safe to use from many threads."""

    def __init__(self, caller: CallerContext, chance: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._caller = caller
        self._chance = chance

    def find(self, caller: str, key: str, request: bytes, *, hours: float) -> tuple[int, bytes] | bool | None:
        """Status and body of the answer to this request; None when there is none.

        False when the key was used for another request.
        """
        kept = self._caller.tools.store.answers.find(caller, key)
        if kept is None or kept.at < self._caller.tools.clock.now() - timedelta(hours=hours):
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
        now = self._caller.tools.clock.now()
        sealed = seal(body, _key(caller, key, request), self._chance(NONCE_BYTES), ABOUT)
        kept = KeptAnswer(caller, key, sha256(request).hexdigest(), status, sealed, now)
        self._caller.tools.store.answers.keep(kept, now - timedelta(hours=hours), most)


def _key(caller: str, key: str, request: bytes) -> bytes:
    """What an answer is sealed with: nothing that stands in the file."""
    return sha256(b"\0".join([ABOUT.encode(), caller.encode(), key.encode(), request])).digest()
