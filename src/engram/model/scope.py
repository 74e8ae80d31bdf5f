"""Where a memory belongs, and who may see it.

A scope is a place in a tree: namespace ⊃ project ⊃ squad ⊃ agent ⊃ channel and user. A caller sees its
own place and the places above it; never a sibling. The roles `orchestrator` (inside a project) and
`owner` (inside a namespace) also see what lies below.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from engram.lazily import dataclass

DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True)
class Scope:
    """A place in the tree; an empty part means "everywhere on that level"."""

    namespace: str = DEFAULT_NAMESPACE
    project: str = ""
    squad: str = ""
    agent: str = ""
    channel: str = ""
    user: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts, from the widest to the narrowest."""
        return (self.namespace, self.project, self.squad, self.agent, self.channel, self.user)

    def is_seen_from(self, place: Scope) -> bool:
        """Whether this is `place` itself or lies above it.

        >>> Scope(project="apollo").is_seen_from(Scope(project="apollo", agent="rex"))
        True
        >>> Scope(project="apollo", agent="rex").is_seen_from(Scope(project="apollo", agent="ada"))
        False
        """
        return self.namespace == place.namespace and all(
            mine in ("", theirs) for mine, theirs in zip(self.parts[1:], place.parts[1:], strict=True)
        )

    def lies_below(self, place: Scope) -> bool:
        """Whether `place` holds this scope: each part that `place` names is the same here."""
        return self.namespace == place.namespace and all(
            theirs in ("", mine) for mine, theirs in zip(self.parts[1:], place.parts[1:], strict=True)
        )

    def __str__(self) -> str:
        names = ("project", "squad", "agent", "channel", "user")
        rest = [f"{name}={part}" for name, part in zip(names, self.parts[1:], strict=True) if part]
        return " ".join([self.namespace, *rest])


HERE = Scope(namespace="")
"""Where the caller stands: what a draft means that names no place."""


class Role(StrEnum):
    """What a caller is allowed to be."""

    OWNER = "owner"
    ORCHESTRATOR = "orchestrator"
    AGENT = "agent"
    READER = "reader"


@dataclass(frozen=True, slots=True)
class Access:
    """Who is asking: a place and a role. Made from the caller's identity, never from a model's arguments."""

    scope: Scope = Scope()
    role: Role = Role.OWNER
    all_namespaces: bool = False
    caller: Access | None = None
    """Whose look this is, where a place was named: nothing is seen or changed that they may not."""
    timezone: str = ""
    """Where the caller is, which tells what "yesterday" means to them; empty: as the settings say."""

    @classmethod
    def everything(cls) -> Access:
        """The owner of the file, over all namespaces: for upkeep, export and the doctor."""
        return cls(role=Role.OWNER, all_namespaces=True)

    @property
    def sees_below(self) -> bool:
        """Whether this caller also sees the places below its own."""
        return self.role is Role.OWNER or (self.role is Role.ORCHESTRATOR and self.scope.project != "")

    @property
    def may_open(self) -> bool:
        """Whether this caller may have what is sealed opened, where it may read it."""
        return self.role is Role.OWNER and (self.caller is None or self.caller.may_open)

    @property
    def owns_namespace(self) -> bool:
        """Whether all that a namespace holds may be read, now and later."""
        if self.all_namespaces:
            return True
        if not self.sees_below or self.scope != Scope(self.scope.namespace):
            return False
        return self.caller is None or (self.caller.owns_namespace and self.caller.may_read(self.scope))

    def covers(self, other: Access) -> bool:
        """Whether this is an owner who may all that another may.

        >>> Access().covers(Access(Scope(project="apollo"))), Access(Scope("work")).covers(Access())
        (True, False)
        """
        if self.role is not Role.OWNER or self.all_namespaces or self == other:
            return self.role is Role.OWNER
        return self.caller is None and not other.all_namespaces and other.scope.lies_below(self.scope)

    def may_read(self, scope: Scope) -> bool:
        """The access rule, in one place.

        >>> Access(Scope(agent="rex"), Role.AGENT).may_read(Scope())
        True
        >>> Access(Scope(agent="rex"), Role.AGENT).may_read(Scope(agent="ada"))
        False
        >>> Access(Scope(), Role.OWNER).may_read(Scope(agent="ada"))
        True
        """
        if self.caller is not None and not self.caller.may_read(scope):
            return False
        if self.all_namespaces:
            return True
        return scope.is_seen_from(self.scope) or (self.sees_below and scope.lies_below(self.scope))

    def may_write(self, scope: Scope) -> bool:
        """A caller writes only to its own place or, where it sees below, to places below it."""
        if self.role is Role.READER or (self.caller is not None and not self.caller.may_write(scope)):
            return False
        if self.all_namespaces or scope == self.scope:
            return True
        return self.sees_below and scope.lies_below(self.scope)

    def at(self, place: Scope, role: Role | None = None) -> Access:
        """The same caller looking from a place: what may be read from there *and* by the caller.

        >>> Access.everything().at(Scope(user="bob")).may_read(Scope(user="anna"))
        False

        Who may read a project does not see the users above it by naming one of them.

        >>> project = Access(Scope(project="apollo"), Role.ORCHESTRATOR)
        >>> project.at(Scope(project="apollo", user="bob")).may_read(Scope(user="bob"))
        False
        """
        return Access(place, role or self.role, caller=self, timezone=self.timezone)


# ---------------------------------------------------------------- token
# A token: what lets a caller in from outside, and as whom.


@dataclass(frozen=True, slots=True)
class Token:
    """Who comes with it and what they may do. The secret itself is kept nowhere, only a digest of it."""

    id: str
    name: str
    """Who uses it: the actor in every event it causes."""
    role: Role
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    """From when it is no longer valid; None: it stays valid until it is revoked."""
    revoked_at: datetime | None = None
    last_used: datetime | None = None
    """Roughly: it is written down once a minute at most."""
    timezone: str = ""
    """Where its bearer is; empty: as the settings say."""

    @property
    def access(self) -> Access:
        """What its bearer may see and change."""
        return Access(self.scope, self.role, timezone=self.timezone)

    def is_valid(self, now: datetime) -> bool:
        """Whether it lets its bearer in at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
