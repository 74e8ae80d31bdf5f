"""Who asks, with which tools, what they may see and change, and how often they may recall.

`memory.tokens` lets others in from outside, and keeps them out again; only an owner may.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field, fields
from datetime import datetime, timedelta, tzinfo
from hashlib import sha256
from random import SystemRandom
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from engram.config import LimitsConfig
from engram.errors import (
    AccessDenied,
    EmbedderError,
    InvalidInput,
    NotFound,
    OutOfRange,
    ShortId,
    TooManyRecalls,
    TooMuchWritten,
    WrongType,
)
from engram.lazily import dataclass, lazily, replace
from engram.model.capture import Draft, Receipt
from engram.model.clock import Clock
from engram.model.event import Audited, AuditEntry, KeptAnswer
from engram.model.maintenance import Sketch
from engram.model.memory import USUAL, Filters, Memory, Space, Status
from engram.model.plain import member, moment
from engram.model.recall import Recall
from engram.model.scope import HERE, Access, Role, Scope, Token
from engram.ports import Store, Tools
from engram.rules import screen
from engram.rules.screen import Gate
from engram.rules.sealing import (
    HASH,
    NONCE_BYTES,
    SECRET_BYTES,
    digest_of,
    match,
    opened,
    seal,
    secret_from,
    shown_to_others,
    unseal,
)

if TYPE_CHECKING:
    from engram.capture import pipeline
else:
    pipeline = lazily("engram.capture.pipeline")

# ---------------------------------------------------------------- limits
# Limits: how often a caller that is not the owner may recall. Asking again and again feels out a secret.


K = TypeVar("K")
MINUTE_S = 60.0
HOUR_S = 3_600.0
DAY_S = 86_400.0
MEGABYTE = 1_000_000
WRITTEN = "written"
"""The kind of sketch that says what a caller wrote in the last day."""
COUNTED_S = 600
"""Seconds that are counted together."""
KEPT_WITHIN_S = 1.0
KEPT = 1_000
"""So many places and sessions are counted at a time; the one that has been quiet longest is forgotten."""


class RecallLimits:
    """Counts recalls. Lives as long as the engine; any thread may use it.

    The minute holds for the caller (a token's name and place), whatever session it names; the hour for each
    session it names. Both pass: nobody is locked out for good.
    """

    def __init__(self, settings: LimitsConfig, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = Lock()
        self._minutes: OrderedDict[tuple[Scope, str], deque[float]] = OrderedDict()
        self._sessions: OrderedDict[tuple[Scope, str, str], deque[float]] = OrderedDict()

    def take(self, access: Access, session: str = "", actor: str = "") -> None:
        """Count one recall. Raises TooManyRecalls, and counts nothing, when it is one too many."""
        if access.role is Role.OWNER:
            return
        with self._lock:
            now, who = self._clock.monotonic(), (access.scope, actor)
            asked = _counting(self._minutes, who, now - MINUTE_S)
            a_minute, a_session = self._settings.recalls_a_minute, self._settings.recalls_a_session
            here = (*who, session)
            before = _counting(self._sessions, here, now - HOUR_S) if session and a_session else None
            if before is not None and len(before) >= a_session:
                raise TooManyRecalls(a_session, "session", HOUR_S - (now - before[0]))
            if a_minute and len(asked) >= a_minute:
                raise TooManyRecalls(a_minute, "minute", MINUTE_S - (now - asked[0]))
            asked.append(now)
            if before is not None:
                before.append(now)


class WriteAllowance:
    """What a caller that is not the owner may write in a day, by token and place. Any thread may use it.

    It is kept in the file, so that it outlasts a restart and holds for all workers of a server; what was
    counted in the last second may be missing there.
    """

    def __init__(self, tools: Tools, access: Access, actor: str) -> None:
        self.tools = tools
        """Those of the file as it is open now: one of a folder is closed and opened again."""
        self._place, self._actor = access.scope, actor
        self._lock = Lock()
        self._kept: dict[int, Counter[str]] | None = None
        self._new: dict[int, Counter[str]] = {}
        self._kept_at = float("-inf")

    def take(self, texts: Sequence[str], more: int = 0) -> None:
        """Count what is to be written. Raises TooMuchWritten, and counts nothing, when it is too much."""
        size = more + sum(len(text.encode("utf-8", "replace")) for text in texts)
        wanted = Counter({"memories": len(texts), "bytes": size})
        now = self.tools.clock.now()
        with self._lock:
            kept = self._read(now) if self._kept is None else self._kept
            since = int((now.timestamp() - DAY_S) // COUNTED_S)
            counted = [(at, one) for part in (kept, self._new) for at, one in part.items() if at > since]
            limits = self.tools.config.limits
            allowed = {"memories": limits.memories_a_day, "bytes": limits.megabytes_a_day * MEGABYTE}
            for what, most in allowed.items():
                if most and sum(one[what] for _, one in counted) + wanted[what] > most:
                    first = min((at for at, _ in counted), default=since + 1)
                    raise TooMuchWritten(most, what, (first - since) * COUNTED_S)
            self._new.setdefault(int(now.timestamp() // COUNTED_S), Counter()).update(wanted)
            if self.tools.clock.monotonic() - self._kept_at >= KEPT_WITHIN_S:
                self._keep(now)

    def _read(self, now: datetime) -> dict[int, Counter[str]]:
        sketch = self.tools.store.upkeep.sketch(self._place, WRITTEN, self._actor)
        since = int((now.timestamp() - DAY_S) // COUNTED_S)
        self._kept = {
            int(at): Counter(one) for at, one in (sketch.body if sketch else {}).items() if int(at) > since
        }
        return self._kept

    def _keep(self, now: datetime) -> None:
        """Add what is new to what the file says by now: other workers count there too."""
        kept = self._read(now)
        for at, one in self._new.items():
            kept.setdefault(at, Counter()).update(one)
        self._new = {}
        body = {str(at): dict(one) for at, one in kept.items()}
        sketch = Sketch(self._place, WRITTEN, self._actor, body, now)
        self.tools.store.write(lambda unit: unit.upkeep.sketch(sketch), self._actor, self._place.namespace)
        self._kept_at = self.tools.clock.monotonic()


def _counting(counts: OrderedDict[K, deque[float]], key: K, first: float) -> deque[float]:
    """The times that still count."""
    found = counts.setdefault(key, deque())
    counts.move_to_end(key)
    if len(counts) > KEPT:
        counts.popitem(last=False)
    while found and found[0] <= first:
        found.popleft()
    return found


# ---------------------------------------------------------------- context
# The context of a call: who asks, with which tools, what they may see and change. Facade and nouns share it.


PREFIX_LENGTH = 4
"""The least of an id that may stand for it."""
PAGE_LIMIT = 1_000
DIGEST_LENGTH = 16
OWED_SLICE = 256


@dataclass(slots=True)
class CallerContext:
    """Checks every caller's rights in one place. Safe to use from many threads."""

    tools: Tools
    access: Access
    actor: str
    opened: Access | None = None
    """The access the file was opened with, where this is another caller of the same file."""
    owing: bool = field(init=False)
    """Whether some memory may still wait for its vector."""
    gate: Gate = field(init=False)
    """What keeps recalled words from being learned again."""
    allowance: WriteAllowance = field(init=False)

    def __post_init__(self) -> None:
        if self.access.timezone:
            settings = replace(self.tools.config, timezone=self.access.timezone)
            self.tools = replace(self.tools, config=settings)
        self.gate = Gate(self.tools)
        self.allowance = WriteAllowance(self.tools, self.access, self.actor)
        space = self.space()
        self.owing = space is None or bool(self.tools.store.memories.unembedded(space, 0, 1))

    def space(self) -> Space | None:
        """The present embedding space; None while a server that would name it is down."""
        try:
            return self.tools.embedder.space
        except EmbedderError:
            return None

    @property
    def owns_file(self) -> bool:
        """Whether the caller may at least what whoever opened the file may: then it is theirs as a whole."""
        return self.access.covers(self.opened or self.access)

    @property
    def is_guest(self) -> bool:
        """Whether somebody else opened the file, and it is not the caller's as a whole."""
        return self.opened is not None and not self.owns_file

    def check_owns_file(self, what: str) -> None:
        """Raises AccessDenied unless the file is the caller's as a whole."""
        if not self.owns_file:
            raise AccessDenied(f"{what}: only the owner of the file may")

    def note(self, what: Audited, subject: str = "", counts: Mapping[str, int] | None = None) -> None:
        """Write down who did it, soon; ids and digests, never words."""
        entry = AuditEntry(self.tools.clock.now(), self.actor, what, subject, counts or {})
        self.tools.store.audit.note(entry)

    def shown(self, memories: Sequence[Memory]) -> list[Memory | None]:
        """Memories as this caller may see them; None for one that it may not.

        Whoever may open what is sealed gets its words, and it is written down. Others get what the setting
        `limits.sealed_shown` says, of what is confidential never more than the label; so does a model that
        asks in the owner's name.
        """
        keys = self.tools.keys
        if keys is None or not any(memory.sealed for memory in memories):
            return list(memories)
        mode, seen = self.tools.config.limits.sealed_shown, list[Memory | None]()
        may_open = self.access.may_open and not _to_a_model.get()
        for memory in memories:
            one: Memory | None = memory
            if memory.sealed and may_open and self.access.may_read(memory.scope):
                one = opened(memory, keys)
            elif memory.sealed:
                one = shown_to_others(memory, mode, keys)
            if one is not None and one.content != memory.content:
                self.note(Audited.OPENED, memory.id, {memory.tier.value: 1})
            seen.append(one)
        return seen

    def answered(self, answer: Recall) -> Recall:
        """A recall as this caller may see it."""
        if self.tools.keys is None:
            return answer
        seen = self.shown([hit.memory for hit in answer.hits])
        asked = hmac.digest(self.tools.keys.key(HASH), answer.question.text.encode(), "sha256")
        tiers = Counter(hit.memory.tier.value for hit in answer.hits)
        self.note(Audited.READ, asked.hex()[:DIGEST_LENGTH], tiers)
        hits = [
            hit if memory is hit.memory else replace(hit, memory=memory, text=memory.content)
            for hit, memory in zip(answer.hits, seen, strict=True)
            if memory is not None
        ]
        return replace(answer, hits=tuple(hits))

    def write(self, drafts: list[Draft]) -> list[Receipt]:
        """Remember the drafts, all or none."""
        self.check_drafts(drafts)
        receipts = pipeline.remember(drafts, self.tools, self.actor)
        self.pay(receipts)
        return receipts

    def check_drafts(self, drafts: Sequence[Draft]) -> None:
        """Raises AccessDenied and TooMuchWritten unless the caller may keep these."""
        for one in drafts:
            self.check_write(one.scope)
        self.take_room([draft.content for draft in drafts])

    def take_room(self, texts: Sequence[str], more: int = 0) -> None:
        """Count what the caller is to write. Raises TooMuchWritten; an owner may write what it likes.

        `more` is how many bytes beside these texts there are.
        """
        if self.access.role is not Role.OWNER:
            self.allowance.take(texts, more)

    def pay(self, receipts: Iterable[Receipt]) -> None:
        """Vectors work again: give some memories that went without one theirs."""
        if not all(receipt.embedded for receipt in receipts):
            self.owing = True
        elif self.owing:
            from engram.maintain.dreaming import embed_missing

            with suppress(EmbedderError):
                self.owing = embed_missing(self.tools, most=OWED_SLICE) >= OWED_SLICE

    def mine(self, draft: Draft) -> Draft:
        """A draft without a place of its own belongs where the caller stands."""
        return replace(draft, scope=self.access.scope) if draft.scope == HERE else draft

    def check_write(self, scope: Scope) -> None:
        """Raises AccessDenied unless the caller may write there."""
        if not self.access.may_write(scope):
            raise AccessDenied(f"write to {scope}")

    def at(self, scope: Scope | None, role: Role | None = None) -> Access:
        """What the caller may read from a place: the intersection of its own access and the place's view.

        Raises AccessDenied when the place itself is none that the caller may read.
        """
        if scope is None and role is None:
            return self.access
        place = self.access.scope if scope is None else scope
        if not self.access.may_read(place):
            raise AccessDenied(f"look from {place}")
        own = place == self.access.scope and role in (None, self.access.role)
        return self.access if own and not self.access.all_namespaces else self.access.at(place, role)

    def resolve(self, memory_id: str) -> str:
        """The full id that this text begins."""
        given = screen.readable("id", memory_id).strip().lower()
        if len(given) < PREFIX_LENGTH:
            raise ShortId(given, PREFIX_LENGTH)
        return self.tools.store.memories.resolve(given, self.access)

    def seen(self, memory_id: str) -> Memory:
        """The memory whose id this text begins. Raises NotFound, AmbiguousId, ShortId."""
        memory = self.tools.store.memories.get(self.resolve(memory_id), self.access)
        if memory is None:
            raise NotFound(memory_id)
        return memory

    def owned(self, memory_id: str) -> Memory:
        """The same, if this caller may change it. Raises AccessDenied."""
        memory = self.seen(memory_id)
        if not self.access.may_write(memory.scope):
            raise AccessDenied(f"change memories of {memory.scope}")
        return memory

    def own(self, memory_id: str) -> str:
        """The full id of a memory that this caller may change."""
        return self.owned(memory_id).id

    def own_for_status(self, memory_id: str, status: Status) -> str:
        """As `own`; what was put aside as a command to a model is released by an owner alone."""
        memory = self.owned(memory_id)
        held_back = memory.status is Status.QUARANTINED
        if held_back and status is Status.ACTIVE and self.access.role is not Role.OWNER:
            raise AccessDenied("release what was put aside as a command to a model: only an owner may")
        return memory.id


class Noun:
    """What hangs on the facade, for one caller. Safe to use from many threads."""

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller

    @property
    def _tools(self) -> Tools:
        return self._caller.tools

    @property
    def _store(self) -> Store:
        return self._caller.tools.store


_to_a_model: ContextVar[bool] = ContextVar("to_a_model", default=False)


@contextmanager
def told_to_a_model() -> Iterator[None]:
    """Inside, what is sealed is shown as to callers that are not the owner: a model reads it."""
    before = _to_a_model.set(True)
    try:
        yield
    finally:
        _to_a_model.reset(before)


def chance(scale: float, count: int) -> list[float]:
    """Numbers by chance around nothing, as Laplace spread them."""
    system = SystemRandom()
    return [system.expovariate(1 / scale) - system.expovariate(1 / scale) for _ in range(count)]


LAST_NUMBER = 2**53  # no line, turn or offer has a higher number: every JSON reader still tells them apart


def whole(field_name: str, value: Any, low: int, high: int) -> int:
    """A whole number within a range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType(field_name, value, "a whole number")
    if not low <= value <= high:
        raise OutOfRange(field_name, value, low, high)
    return value


ID_BYTES = 4
NOTED_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token and its secret, which is shown this once."""

    token: Token
    secret: str = field(repr=False)


Found = list[Token]


class Tokens(Noun):
    """Who may come in from outside. Hangs on the facade; safe to use from many threads."""

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
            id=secrets.token_hex(ID_BYTES),
            name=screen.some_name("name", name),
            role=member("role", Role, role),
            scope=place,
            created_at=self._tools.clock.now(),
            expires_at=None if expires_at is None else moment("expires_at", expires_at, self._tools.zone),
            timezone=screen.timezone("timezone", timezone),
        )
        secret = secret_from(secrets.token_bytes(SECRET_BYTES))
        self._store.tokens.add(token, digest_of(secret))
        return Issued(token, secret)

    def list(self, *, revoked: bool = False) -> Found:
        """The tokens for places this caller owns, oldest first; with `revoked` also those taken back."""
        self._check(None)
        may_write = self._caller.access.may_write
        tokens = [token for _, token in self._store.tokens.known() if may_write(token.scope)]
        return [token for token in tokens if revoked or token.revoked_at is None]

    def revoke(self, token_id: str) -> Token:
        """Take a token back, by its id or its name if only one has it. It lets nobody in any more.

        Raises AccessDenied, and InvalidInput when there is none or several have the name.
        """
        tokens = [token for token in self.list() if token_id in (token.id, token.name)]
        if len(tokens) != 1:
            message = "several tokens have this name: give the id" if tokens else "there is no such token"
            raise InvalidInput(f"{token_id[:60]!r}: {message}; `engram token list` shows them.")
        self._store.tokens.revoke(tokens[0].id, self._tools.clock.now())
        return tokens[0]

    def bearer(self, secret: str) -> Token | None:
        """The valid token with this secret; None when there is none. Whoever asks needs no right to."""
        store, now = self._store.tokens, self._tools.clock.now()
        token = match(secret, store.known())
        if token is None or not token.is_valid(now):
            return None
        if token.last_used is None or (now - token.last_used).total_seconds() > NOTED_EVERY_S:
            store.used(token.id, now)
            self._store.audit.note(AuditEntry(now, token.name, Audited.TOKEN_USED, token.id))
        return token

    def is_valid(self, token_id: str) -> bool:
        """Whether a token still lets somebody in."""
        known, now = self._store.tokens.known(), self._tools.clock.now()
        return any(token.id == token_id and token.is_valid(now) for _, token in known)

    def any_valid(self) -> bool:
        """Whether anybody could come in by a token now."""
        now = self._tools.clock.now()
        return any(token.is_valid(now) for _, token in self._store.tokens.known())

    def _check(self, scope: Scope | None) -> Scope:
        """The place a token is for: an owner gives out places of their own."""
        place = self._caller.access.scope if scope is None else scope
        if self._caller.access.role is not Role.OWNER:
            raise AccessDenied("give out or take back tokens")
        self._caller.check_write(place)
        return place


# ---------------------------------------------------------------- answers
# Answers: what was answered to a write with a key. `memory.answers` keeps it for the doors, sealed.
#
# The seal is made of the request itself, so the file tells nothing of what was said: only whoever sends the
# very same request again can be answered from it.


ABOUT = "answer"


class Answers(Noun):
    """Answers to keyed writes, for a while. Hangs on the facade; safe to use from many threads."""

    def find(self, caller: str, key: str, request: bytes, *, hours: float) -> tuple[int, bytes] | bool | None:
        """Status and body of the answer to this request; None when there is none.

        False when the key was used for another request.
        """
        kept = self._store.answers.find(caller, _hidden(key))
        if kept is None or kept.at < self._tools.clock.now() - timedelta(hours=hours):
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
        now = self._tools.clock.now()
        sealed = seal(body, _key(caller, key, request), secrets.token_bytes(NONCE_BYTES), ABOUT)
        kept = KeptAnswer(caller, _hidden(key), sha256(request).hexdigest(), status, sealed, now)
        self._store.answers.keep(kept, now - timedelta(hours=hours), most)


def _hidden(key: str) -> str:
    """What is kept of a key: callers make keys of what they send."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _key(caller: str, key: str, request: bytes) -> bytes:
    """What an answer is sealed with: nothing that stands in the file."""
    return sha256(b"\0".join([ABOUT.encode(), caller.encode(), key.encode(), request])).digest()


TIMES = tuple(f.name for f in fields(Filters) if f.type == "datetime | None")
SHARES = ("min_importance", "max_importance", "min_confidence", "min_trust", "min_arousal")


def checked(caller: CallerContext, filters: Filters | None, as_of: datetime | str | None = None) -> Filters:
    """The filters with their times in UTC, days as they were named. Raises WrongType and OutOfRange."""
    if filters is None and as_of is None:
        return USUAL
    wanted = filters or USUAL
    times = {name: getattr(wanted, name) for name in TIMES} | ({} if as_of is None else {"as_of": as_of})
    given: dict[str, Any] = {
        name: _time(name, value, caller.tools.zone) for name, value in times.items() if value is not None
    }
    for name in SHARES:
        share = getattr(wanted, name)
        if not 0.0 <= share <= 1.0:
            raise OutOfRange(name, share, 0, 1)
    for name, value in wanted.details.items():
        if not (value is None or isinstance(value, str | int | float)):
            raise WrongType(f"details {name!r}", value, "a text, a number, true, false or null")
    return replace(wanted, **given) if given else wanted


def _time(name: str, value: Any, zone: tzinfo) -> datetime:
    """A moment; the days that are spoken of are those of the caller's calendar."""
    exact = moment(name, value, zone)
    return value if name.startswith("about_") and isinstance(value, datetime) else exact
