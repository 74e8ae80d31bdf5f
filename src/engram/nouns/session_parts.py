"""What a session joins: embedding, recall, listening and the context, each a call into another flow."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from engram.capture import screen
from engram.context import models
from engram.context.budget import memories_for
from engram.errors import AccessDenied, EmbedderError
from engram.model.axes import Status, Tier
from engram.model.clock import zone_of
from engram.model.draft import Draft
from engram.model.filters import Filters, in_force
from engram.model.memory import Memory
from engram.model.recall import Question, Recall
from engram.model.session import Gap, Origin, Slot
from engram.nouns.gaps import is_due, note_asked
from engram.nouns.recalling import QUERY_LIMIT
from engram.ports import Lean, View
from engram.recall.among import among
from engram.recall.pipeline import recall, touch
from engram.security.sealing import NONCE_BYTES, seal, unseal
from engram.session import topic
from engram.session.snapshot import Ages
from engram.session.state import Making, Meaning, Said, State, fresh
from engram.session.working import Rules
from engram.text.forms import summary

if TYPE_CHECKING:
    from datetime import datetime

    from engram.model.context import Context
    from engram.model.observation import Observation
    from engram.model.scope import Scope
    from engram.nouns.desk import Desk
    from engram.nouns.listening import Listening
    from engram.nouns.recalling import Recalling

READ = 4_000
"""So many characters of a message tell what it means."""
LOOKED_AT = 100
"""Of so many of the newest memories those that matter most come to mind in the morning."""
WAKEFUL = Filters(statuses=frozenset({Status.ACTIVE}), tiers=frozenset({Tier.CLEAR, Tier.SENSITIVE}))


class Talk(Protocol):
    """A session, as far as a prompt needs to know it."""

    @property
    def id(self) -> str:
        """What it goes by."""
        ...

    @property
    def model(self) -> str:
        """The language model whose budget it keeps."""
        ...

    @property
    def scope(self) -> Scope:
        """Where it belongs."""
        ...

    @property
    def timezone(self) -> str:
        """Where whoever talks is; empty: as the caller or the settings say."""
        ...

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on its mind."""
        ...

    @property
    def history(self) -> list[Said]:
        """What was said so far."""
        ...


class Builds(Protocol):
    """What makes a prompt for a message of a session."""

    def __call__(
        self, message: str, session: Talk, *, recalled: Recall, system: str, budget: int | None
    ) -> Context:
        """The prompt, within its budget."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """The other parts of the engine, as a session uses them. One for all sessions of a caller."""

    desk: Desk
    listening: Listening
    recalling: Recalling
    build: Builds
    gaps: Callable[[Scope], Sequence[Gap]] = lambda _: ()

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.desk.tools.clock.now()

    def state(self) -> State:
        """An empty mind, by the settings."""
        settings = self.desk.tools.config.session
        rules = Rules(settings.half_life_minutes, settings.evict_below, settings.offer_above, settings.slots)
        making = Making(self.desk.tools.new_id, self.desk.tools.count_tokens)
        return fresh(making, rules, settings.alike)

    @property
    def ages(self) -> Ages:
        """How long a sleeping session stays what it was."""
        settings = self.desk.tools.config.session
        return Ages(settings.whole_hours, settings.decayed_hours)

    def meaning(self, text: str) -> Meaning | None:
        """A message as vectors; None while none can be made."""
        words = text[:READ]
        if not words.strip():
            return None
        try:
            space, rows = self.desk.tools.embedder.embed([words, *topic.sentences(words)])
        except EmbedderError:
            return None
        return Meaning(space, rows)

    def limit(self, model: str, budget: int | None) -> int:
        """How many memories may find room in a prompt of this model, and are worth a turn's time."""
        settings = self.desk.tools.config.context
        room = budget or models.find(model or settings.model, settings.models_file).window
        return min(
            self.desk.tools.config.session.recalled,
            memories_for(int(room * settings.recalled_share), settings),
        )

    def question(self, message: str, session: Talk, limit: int) -> Question:
        """A message as a question to long-term memory."""
        settings, access = self.desk.tools.config.recall, self.desk.at(session.scope)
        return Question(
            text=screen.readable("message", message)[:QUERY_LIMIT],
            access=replace(access, timezone=session.timezone or access.timezone),
            limit=limit,
            profile=settings.profile,
            rerank=settings.rerank,
            session=session.id,
        )

    def recall(self, question: Question, lean: Lean | None, prepared: Sequence[str] | None) -> Recall:
        """What helps with a message: from what was prepared for it, or found now.

        What is understood from the talk fits nothing as well as what stands alone: less of it will do.
        """
        if lean is not None and lean.share:
            floor = self.desk.tools.config.recall.relevance_floor
            question = replace(question, min_relevance=floor * (1.0 - lean.share))
        if prepared is None:
            return self.recalling.answer(question, lean=lean)
        found = among(question, prepared, self.desk.tools, lean)
        if not found.hits:
            return self.recalling.answer(question, lean=lean)
        self.desk.gate.heard(found)
        touch(found, self.desk.tools)
        return found

    def prepare(self, question: Question, lean: Lean | None) -> Recall:
        """What may help with the next message, in no certain order; counts as no use, against no limit."""
        asked = replace(question, dry=True, expand=False, rerank="none")
        return recall(asked, self.desk.tools, lean)

    def observe(self, message: str, reply: str, session: Talk) -> Observation | None:
        """Listen to an exchange; None when the caller may not write."""
        if not self.desk.access.may_write(session.scope):
            return None
        now = self.now.astimezone(zone_of(session.timezone)) if session.timezone else None
        setting = self.listening.setting(session.id, now, session.scope, "", "")
        turns = self.listening.words(message or None, reply or None, setting)
        with suppress(AccessDenied):  # the file itself was opened for reading
            return self.listening.hear(turns) if turns else None
        return None

    def offer(self, gone: Sequence[Slot], session: str, scope: Scope) -> None:
        """Tell long-term memory of what left the mind while it stood strong."""
        if not gone or not self.desk.access.may_write(scope):
            return
        known = [slot.memory for slot in gone if slot.memory]
        own = [slot for slot in gone if not slot.memory and slot.origin in {Origin.AGENT, Origin.USER}]
        if known:
            at = self.now
            self.desk.tools.store.write_later(lambda unit: unit.touch(known, at, session), self.desk.actor)
        if own:
            self.desk.write([self._draft(slot, session, scope) for slot in own])
        if any(slot.origin is Origin.SPOKEN for slot in gone):
            self.listening.flush(session, scope)

    def present(self, slots: Sequence[Slot], scope: Scope) -> list[str]:
        """The ids of slots whose memory is no more, or no longer true."""
        access, memories = self.desk.at(scope), self.desk.tools.store.memories
        gone = []
        for slot in slots:
            found = memories.get(slot.memory, access) if slot.memory else None
            if slot.memory and (found is None or found.status is not Status.ACTIVE):
                gone.append(slot.id)
        return gone

    def morning(self, scope: Scope) -> list[Slot]:
        """What comes to mind at a fresh start: of the newest memories those that matter most."""
        most = self.desk.tools.config.session.morning
        view = View(self.desk.at(scope), in_force(WAKEFUL, self.now))
        newest = list(self.desk.tools.store.memories.page(view, LOOKED_AT).memories) if most else []
        best = sorted(newest, key=lambda one: (-one.pinned, -one.importance))[:most]
        return [self._slot(memory) for memory in best]

    def due(self, key: str) -> bool:
        """Whether a clarifying question has been left alone for long enough."""
        return is_due(self.desk, key)

    def asked(self, gaps: Sequence[Gap], session: str) -> None:
        """Note which questions are asked now."""
        note_asked(self.desk, gaps, session)

    def sealed(self, body: bytearray, about: str) -> bytes:
        """The bytes sealed; the ones given are overwritten."""
        hidden = seal(body, self.desk.tools.store.snapshots.key(), secrets.token_bytes(NONCE_BYTES), about)
        body[:] = bytes(len(body))
        return hidden

    def unsealed(self, body: bytes, about: str) -> bytearray | None:
        """What was sealed; None when it cannot be opened."""
        return unseal(body, self.desk.tools.store.snapshots.key(), about)

    def _draft(self, slot: Slot, session: str, scope: Scope) -> Draft:
        return Draft(slot.content, scope=scope, session=session, source=f"session:{slot.origin}")

    def _slot(self, memory: Memory) -> Slot:
        content = summary(memory.content)
        return Slot(
            id=self.desk.tools.new_id(),
            content=content,
            origin=Origin.MORNING,
            activation=0.3 + 0.4 * memory.importance,
            used_at=self.now,
            tokens=self.desk.tools.count_tokens(content),
            memory=memory.id,
        )
