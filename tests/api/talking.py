"""Short ways to talk in a session."""

from __future__ import annotations

from engram.api.session import Session
from engram.model.recall import Recall


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]


def say(session: Session, message: str, reply: str = "") -> Recall:
    with session.turn(message) as turn:
        turn.reply = reply
        return turn.recalled
