"""The prompt of a turn: the message, what is on the mind and what was said before become a context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.context.models import find
from engram.model.context import Context, Message
from engram.model.recall import Recall
from engram.model.turn import Part

if TYPE_CHECKING:
    from engram.nouns.session import Session


def plain_context(
    message: str, session: Session, *, recalled: Recall, system: str, budget: int | None
) -> Context:
    """Everything in a row, unmeasured."""
    lines = [f"- {hit.text}" for hit in recalled.hits]
    text = "\n".join([system, *(["What is remembered:"] if lines else []), *lines]).strip()
    before = tuple(Message(Part(part), words) for part, words in session.history[:-1])
    said = (*before, Message(Part.USER, message))
    return Context(text, said, find(session.model), budget or 0, 0)
