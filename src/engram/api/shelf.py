"""The nouns that hang on the facade: each is made when it is first asked for, at the caller's own desk."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from engram.api.browsing import Trash
from engram.api.bus import Bus
from engram.api.caller import CallerContext
from engram.api.commitments import Commitments, Triggers
from engram.api.conflicts import Conflicts
from engram.api.entities import Entities
from engram.api.facts import Facts
from engram.api.gaps import Gaps
from engram.api.knowledge import Knowledge
from engram.api.maintenance import Upkeep
from engram.api.remembering import Listening
from engram.api.tokens import Answers, Tokens
from engram.model.maintenance import DriftReport
from engram.model.scope import Scope

if TYPE_CHECKING:
    from engram.api.sources import Sources


class Nouns:
    """What the facade has beside its verbs. The facade owns it; safe to use from many threads."""

    def __init__(self, desk: CallerContext) -> None:
        self._desk = desk
        self._listening = Listening(desk)

    @cached_property
    def facts(self) -> Facts:
        """What is known about whom: add, ask, follow and end facts."""
        return Facts(self._desk)

    @cached_property
    def entities(self) -> Entities:
        """Who and what is spoken of: profiles, names, timelines."""
        return Entities(self._desk)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What was learned from memories taken together: profile, map, tree, cards, topics, boxes."""
        return Knowledge(self._desk)

    @cached_property
    def bus(self) -> Bus:
        """What agents tell each other: offer, ask for and deliver memories."""
        return Bus(self._desk)

    @cached_property
    def upkeep(self) -> Upkeep:
        """Maintenance: its runs, their reports, taking them back."""
        return Upkeep(self._desk)

    @cached_property
    def trash(self) -> Trash:
        """What was forgotten and can still be brought back: look, restore, empty."""
        return Trash(self._desk)

    @cached_property
    def answers(self) -> Answers:
        """What was answered to writes that carried a key; for the doors."""
        return Answers(self._desk)

    @cached_property
    def tokens(self) -> Tokens:
        """Who may come in from outside: make, list and revoke tokens."""
        return Tokens(self._desk)

    @cached_property
    def conflicts(self) -> Conflicts:
        """What contradicts what, and settling it."""
        return Conflicts(self._desk)

    @cached_property
    def commitments(self) -> Commitments:
        """Open loops: what was promised, what is waited for, what is done."""
        return Commitments(self._desk)

    @cached_property
    def gaps(self) -> Gaps:
        """What is not known and would be good to know: ask, answer, let be."""
        return Gaps(self._desk)

    @cached_property
    def triggers(self) -> Triggers:
        """Words in a message that load pages into the recall pack."""
        return Triggers(self._desk)

    def drift(
        self,
        directory: str = "",
        *,
        apply: bool = False,
        limit: int = 1_000,
        scope: Scope | None = None,
    ) -> DriftReport:
        """Check what memories claim about files, symbols, versions and addresses against a directory.

        Without one the setting `doubt.directory`. With `apply` memories whose references are dead are
        challenged, and invalidated if they stay so; `undo` takes that back.
        """
        from engram.api.gaps import drifted  # it reads a directory, which few ask for

        return drifted(self._desk, directory, scope, limit, apply=apply)

    @cached_property
    def sources(self) -> Sources:
        """What comes from elsewhere: documents, chats of other services, code, results."""
        from engram.api.sources import Sources  # its readers are many, and most who open a memory read none

        return Sources(self._desk, self._listening)
