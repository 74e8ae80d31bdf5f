"""Moving of *layers*: everything out, everything in again, and memories out of a text."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from engram._version import __version__
from engram.model.plain import plain
from engram.server.compat.ask import Ask
from engram.server.compat.layers.memories import IMPORTANCE, SOURCE, everything
from engram.server.compat.layers.shapes import kind_from, layer_from, memory_of, moment_from
from engram.server.compat.old import Old

SESSION = "extract"
TIMES = ("created_at", "modified_at", "last_accessed")


def export(ask: Ask) -> dict[str, Any]:
    """Every memory that is in use; with `embed` each with its vector."""
    memories = [memory_of(one) for one in everything(ask.memory)]
    if ask.truth("embed"):
        vectors = {one["id"]: one.get("vector") for one in ask.memory.export(vectors=True)}
        memories = [{**one, "embedding": vectors.get(one["id"])} for one in memories]
    return {"version": __version__, "count": len(memories), "memories": memories}


def bring_in(ask: Ask) -> dict[str, Any]:
    """Memories of an export, with their ids; those that are there already are left as they are."""
    if ask.has("text"):
        extracted = _extracted(ask)
        return {"imported": len(extracted), "memories": extracted}
    given = ask.objects("memories")
    whole = ask.memory.access.all_namespaces
    adopted = ask.memory.adopt([_record(ask.of(one), keep_place=whole) for one in given])
    return {
        "imported": len(adopted.taken),
        "skipped": len(adopted.known) + len(adopted.refused),
        "errors": [{"index": one.index, "reason": one.error.message} for one in adopted.refused],
    }


def extract(ask: Ask) -> dict[str, Any]:
    """Memories that a text holds."""
    extracted = _extracted(ask)
    return {"extracted": extracted, "count": len(extracted)}


def flush(ask: Ask) -> dict[str, Any]:
    """Read now what the proxy heard and what still waits."""
    ask.memory.flush()
    return {"status": "ok"}


def _extracted(ask: Ask) -> list[dict[str, Any]]:
    text = ask.text("text")
    session = f"{SESSION}-{sha256(text.encode()).hexdigest()[:12]}"
    heard = ask.memory.observe(text, session=session)
    read = ask.memory.flush(session)
    receipts = (*heard.receipts, *read.receipts)
    return [memory_of(one.memory) for one in {each.memory.id: each for each in receipts}.values()]


def _record(ask: Ask, *, keep_place: bool) -> Mapping[str, Any]:
    """A line of an export, in the words of ours."""
    share, source, tags = ask.share("importance"), ask.text("source", SOURCE) or SOURCE, ask.words("tags")
    record: dict[str, Any] = {
        "id": ask.text("id", ""),
        "content": ask.text("content"),
        "importance": IMPORTANCE if share is None else share,
        "source": source,
        "tags": list(tags if source != SESSION else dict.fromkeys((*tags, SESSION))),
        "kind": kind_from(ask.given["kind"] if ask.has("kind") else "semantic"),
        "layer": layer_from(ask.given["layer"] if ask.has("layer") else 1),
        "usage": {
            "accessed": ask.whole("access_count", 0, 0, 2**31),
            "repeated": ask.whole("repetition_count", 0, 0, 2**31),
        },
    }
    for name in TIMES:
        record[name] = plain(moment_from(name, ask.number(name)))
    if keep_place and ask.has("namespace"):
        record["scope"] = {"namespace": ask.text("namespace")}
    return record


ROUTES: tuple[Old, ...] = (
    Old("GET", "/export", export, waits=True),
    Old("POST", "/import", bring_in),
    Old("POST", "/extract", extract),
    Old("POST", "/proxy/flush", flush),
)
