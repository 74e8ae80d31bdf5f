"""Values of the model come in; what an agent needs of them goes out, as little as it may be: words cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from engram.model.axes import Status
from engram.model.plain import plain
from engram.model.recall import public_score

if TYPE_CHECKING:
    from engram.model.event import Event
    from engram.model.facts import Claim
    from engram.model.memory import Memory
    from engram.model.observation import Observation
    from engram.model.recall import Hit
    from engram.model.receipt import Receipt
    from engram.model.scope import Access
    from engram.model.turn import Turn

LABEL_LENGTH = 80


def brief_memory(memory: Memory) -> dict[str, Any]:
    """A memory in a list: what it says, when, and what a reader must be warned of."""
    shown: dict[str, Any] = {
        "id": memory.id,
        "content": memory.shown,
        "category": memory.category,
        "when": memory.happened_at.isoformat(timespec="seconds"),
    }
    if memory.tags:
        shown["tags"] = [*memory.tags]
    if memory.pinned:
        shown["pinned"] = True
    if memory.status is not Status.ACTIVE:
        shown["status"] = str(memory.status)
    return shown


def full_memory(memory: Memory) -> dict[str, Any]:
    """Everything about a memory that says something: empty fields and inner workings are left out."""
    hidden = {"content_hash", "forms", "scope", "affect", "strength", "heat", "surprise", "metadata"}
    fields = {name: value for name, value in plain(memory).items() if name not in hidden}
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def hit(found: Hit, access: Access) -> dict[str, Any]:
    """A memory that answers, and how well: to an agent in a word, for figures can be misused."""
    score = public_score(found, access)
    told = score if isinstance(score, str) else round(score, 4)
    return brief_memory(found.memory) | {"content": found.text, "score": told}


def receipt(done: Receipt) -> dict[str, Any]:
    """What became of a statement."""
    shown = {
        "id": done.memory.id,
        "outcome": str(done.outcome),
        "because": done.because,
        "content": done.memory.content,
    }
    return shown | ({"other": done.other} if done.other else {})


def observation(heard: Observation) -> dict[str, Any]:
    """What was made of something said."""
    return {
        "logged": heard.logged,
        "memories": [receipt(one) for one in heard.receipts],
        "waiting": heard.waiting,
        "because": heard.because,
        **({"trouble": heard.trouble} if heard.trouble else {}),
    }


def changed(memory: Memory, because: str) -> dict[str, Any]:
    """A memory after a change."""
    return {"id": memory.id, "status": str(memory.status), "content": memory.content, "because": because}


def turn(said: Turn) -> dict[str, Any]:
    """Something said, word for word."""
    who = said.speaker or str(said.part)
    return {"id": said.id, "who": who, "at": said.at.isoformat(timespec="seconds"), "content": said.content}


def event(happened: Event) -> dict[str, Any]:
    """A line of the ledger, without what it did not change."""
    return {name: value for name, value in plain(happened).items() if value not in (None, "", [], {})}


def claim(stated: Claim) -> dict[str, Any]:
    """A fact, and the memory that states it."""
    shown = {name: value for name, value in plain(stated.fact).items() if value is not None}
    return shown | {"memory": stated.memory.id}


def label(memory: Memory) -> str:
    """A title for a memory: its own label, or the beginning of its words."""
    words = memory.forms.label or memory.forms.key_fact or " ".join(memory.content.split())
    return words if len(words) <= LABEL_LENGTH else words[: LABEL_LENGTH - 1].rstrip() + "…"


def without_empty(fields: Iterable[tuple[str, Any]] | Mapping[str, Any]) -> dict[str, Any]:
    """Only the fields that say something."""
    return {name: value for name, value in dict(fields).items() if value not in (None, "", [], {})}
