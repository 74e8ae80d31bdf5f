"""Sketching: what was worked out comes in; the effect that keeps it goes out, unless it is kept already.

Also the one way in which steps that put memories into words ask a model for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engram.maintain.decisions import Keep
from engram.maintain.room import Room
from engram.model.scope import Scope
from engram.model.upkeep import Sketch


def keep(  # noqa: PLR0913 - the parts of a sketch
    room: Room,
    scope: Scope,
    kind: str,
    key: str,
    body: Mapping[str, Any],
    *,
    title: str = "",
    sources: Iterable[str] = (),
) -> tuple[Keep, ...]:
    """One effect, or none when nothing would change."""
    plain = json.loads(json.dumps(body))
    made_of = tuple(dict.fromkeys(sources))
    old = room.tools.store.upkeep.sketch(scope, kind, key)
    if old is not None and (old.body, old.title, set(old.sources)) == (plain, title, set(made_of)):
        return ()
    return (Keep(Sketch(scope, kind, key, plain, room.now, title, made_of)),)


def in_words(room: Room, step: str, texts: Sequence[str], words: int, *, always: bool = False) -> str | None:
    """A model's words for several statements; None when none may be asked, or was asked enough in this run.

    Unless it may `always` be asked, only where the settings let a model help with everything.
    """
    settings = room.tools.config
    asked = f"asked {step}"
    if not texts or (settings.llm.level != "full" and not always):
        return None
    if room.notes.get(asked, 0) >= settings.knowledge.model_calls:
        return None
    room.notes[asked] = room.notes.get(asked, 0) + 1
    return room.tools.advisor.summarize(texts, words)
