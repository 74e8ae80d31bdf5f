"""Sketching: a sketch comes in; the effect that keeps it goes out, unless it says what is kept already."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
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
