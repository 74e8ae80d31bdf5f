"""The nouns that hang on the facade: each is made when it is first asked for, at the caller's own desk."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from engram.api.caller import CallerContext
from engram.api.remembering import Listening
from engram.api.verbs import History, Memories
from engram.lazily import lazily

if TYPE_CHECKING:
    from engram.api import (
        backups,
        browsing,
        bus,
        commitments,
        conflicts,
        entities,
        facts,
        gaps,
        knowledge,
        maintenance,
        tokens,
    )
    from engram.api.backups import Backups
    from engram.api.browsing import Trash
    from engram.api.bus import Bus
    from engram.api.commitments import Commitments, Triggers
    from engram.api.conflicts import Conflicts
    from engram.api.entities import Entities
    from engram.api.facts import Facts
    from engram.api.gaps import Gaps
    from engram.api.knowledge import Knowledge
    from engram.api.maintenance import Upkeep
    from engram.api.sources import Sources
    from engram.api.tokens import Answers, Tokens
    from engram.api.workspace import Workspaces
else:
    backups = lazily("engram.api.backups")
    browsing = lazily("engram.api.browsing")
    bus = lazily("engram.api.bus")
    commitments = lazily("engram.api.commitments")
    conflicts = lazily("engram.api.conflicts")
    entities = lazily("engram.api.entities")
    facts = lazily("engram.api.facts")
    gaps = lazily("engram.api.gaps")
    knowledge = lazily("engram.api.knowledge")
    maintenance = lazily("engram.api.maintenance")
    tokens = lazily("engram.api.tokens")


class Nouns:
    """What the facade has beside its verbs. The facade owns it; safe to use from many threads."""

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller
        self._listening = Listening(caller)

    @cached_property
    def memories(self) -> Memories:
        """How single memories stand and what they are to each other: pin, confirm, move, count."""
        return Memories(self._caller)

    @cached_property
    def history(self) -> History:
        """What happened and what was said: events, news, conversations word for word."""
        return History(self._caller, self._listening)

    @cached_property
    def facts(self) -> Facts:
        """What is known about whom: add, ask, follow and end facts."""
        return facts.Facts(self._caller)

    @cached_property
    def entities(self) -> Entities:
        """Who and what is spoken of: profiles, names, timelines."""
        return entities.Entities(self._caller)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What was learned from memories taken together: profile, map, tree, cards, topics, boxes."""
        return knowledge.Knowledge(self._caller)

    @cached_property
    def bus(self) -> Bus:
        """What agents tell each other: offer, ask for and deliver memories."""
        return bus.Bus(self._caller)

    @cached_property
    def upkeep(self) -> Upkeep:
        """Maintenance: its runs, their reports, taking them back."""
        return maintenance.Upkeep(self._caller, lambda: self.workspace)

    @cached_property
    def backups(self) -> Backups:
        """Copies of the whole file: make, list and check them."""
        return backups.Backups(self._caller)

    @cached_property
    def trash(self) -> Trash:
        """What was forgotten and can still be brought back: look, restore, empty."""
        return browsing.Trash(self._caller)

    @cached_property
    def answers(self) -> Answers:
        """What was answered to writes that carried a key; for the doors."""
        return tokens.Answers(self._caller)

    @cached_property
    def tokens(self) -> Tokens:
        """Who may come in from outside: make, list and revoke tokens."""
        return tokens.Tokens(self._caller)

    @cached_property
    def conflicts(self) -> Conflicts:
        """What contradicts what, and settling it."""
        return conflicts.Conflicts(self._caller)

    @cached_property
    def commitments(self) -> Commitments:
        """Open loops: what was promised, what is waited for, what is done."""
        return commitments.Commitments(self._caller)

    @cached_property
    def gaps(self) -> Gaps:
        """What is not known and would be good to know: ask, answer, let be."""
        return gaps.Gaps(self._caller)

    @cached_property
    def triggers(self) -> Triggers:
        """Words in a message that load pages into the recall pack."""
        return commitments.Triggers(self._caller)

    @cached_property
    def sources(self) -> Sources:
        """What comes from elsewhere: documents, chats of other services, code, results."""
        from engram.api.sources import Sources  # its readers are many, and most who open a memory read none

        return Sources(self._caller, self._listening)

    @cached_property
    def workspace(self) -> Workspaces:
        """Folders of plain files that people read and edit, in step with the memory."""
        from engram.api.workspace import Workspaces  # few keep one

        return Workspaces(self._caller)
