"""The prompt of a turn: the message, what is on the mind and what was said before become a context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.model.context import Context, Message, Sections
from engram.model.recall import Recall
from engram.model.turn import Part
from engram.nouns.contexts import Contexts, Wanted

if TYPE_CHECKING:
    from engram.nouns.session_parts import Builds, Talk


def measured(contexts: Contexts) -> Builds:
    """Makes the prompts of sessions, each within its model's budget."""

    def build(message: str, session: Talk, *, recalled: Recall, system: str, budget: int | None) -> Context:
        before = [Message(Part(part), words) for part, words in session.history[:-1]]
        wanted = Wanted(
            message,
            model=session.model,
            system=system,
            history=before,
            budget=budget,
            session=session.id,
            scope=session.scope,
            sections=Sections(working=session.slots),
            hits=recalled.hits,
        )
        return contexts.make(wanted)

    return build
