"""Memories of *layers*: keep, look at, change, take away, and the trash."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from engram.errors import AccessDenied, AmbiguousId, InvalidInput, NotFound
from engram.model.axes import Kind, Layer
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.receipt import Outcome, Receipt
from engram.model.scope import Scope
from engram.server.compat.ask import Ask
from engram.server.compat.layers.shapes import kind_from, layer_from, memory_of, millis
from engram.server.compat.old import Old, Told

if TYPE_CHECKING:
    from engram.engine import Engram

SOURCE = "api"
SESSION = "session"
IMPORTANCE = 0.5
PAGE = 200
KNOWN = frozenset({Outcome.REINFORCED, Outcome.MERGED})


def create(ask: Ask) -> Told:
    """Keep a memory: 201 when it is new, 200 with the known one when it says the same."""
    replaced = [known_id(ask.memory, old) for old in ask.words("supersedes")]
    receipt = ask.memory.remember(ask.text("content").strip(), **_fields(ask))
    for old in replaced:
        if old != receipt.memory.id:
            ask.memory.conflicts.resolve(receipt.memory.id, old, "a", "a client says so")
    known = receipt.outcome in KNOWN
    told = {**memory_of(receipt.memory), "merged": receipt.outcome is Outcome.MERGED}
    return Told(told, 200 if known else 201)


def known_id(memory: Engram, memory_id: str) -> str:
    """The whole id of a memory that is there. Raises NotFound."""
    found = memory.get(memory_id)
    if found is None:
        raise NotFound(memory_id)
    return found.id


def batch(ask: Ask) -> dict[str, Any]:
    """Keep many; what cannot be kept is left out and told."""
    given = ask.objects("memories")
    errors: list[dict[str, Any]] = []
    drafts = []
    for index, one in enumerate(given):
        try:
            part = ask.of(one)
            fields = {**_fields(part), **_place(part), "apart": True}
            drafts.append({"content": part.text("content").strip(), **fields})
        except InvalidInput as error:
            errors.append({"index": index, "reason": error.message})
    results = ask.memory.remember_many(drafts, partial=True) if drafts else []
    places = [index for index in range(len(given)) if index not in {one["index"] for one in errors}]
    for place, result in zip(places, results, strict=True):
        if not isinstance(result, Receipt):
            errors.append({"index": place, "reason": result.error.message})
    return {"inserted": len(given) - len(errors), "requested": len(given), "errors": errors}


def page(ask: Ask) -> dict[str, Any]:
    """Memories, newest first; `total` counts all that fit."""
    filters = Filters(
        layers=frozenset({layer_from(ask.given["layer"])}) if ask.has("layer") else frozenset(),
        tags_any=frozenset(ask.words("tag")),
        kinds=frozenset({kind_from(ask.given["kind"])}) if ask.has("kind") else frozenset(),
    )
    limit, offset = ask.whole("limit", 50, 1, PAGE), ask.whole("offset", 0, 0, 10_000_000)
    found = [memory_of(one) for one in some(ask.memory, filters, offset, limit)]
    total = ask.memory.count(filters=filters)
    return {"memories": found, "count": len(found), "total": total, "limit": limit, "offset": offset}


def get(ask: Ask) -> dict[str, Any]:
    """One memory by its id or the beginning of it."""
    return memory_of(_found(ask))


def change(ask: Ask) -> dict[str, Any]:
    """Change some fields of a memory; its layer moves one at a time."""
    memory = _found(ask)
    fields: dict[str, Any] = {}
    if ask.has("content"):
        fields["content"] = ask.text("content").strip()
    if ask.has("importance"):
        fields["importance"] = ask.share("importance")
    if ask.has("tags"):
        fields["tags"] = ask.words("tags")
    if ask.has("kind"):
        fields["kind"] = kind_from(ask.given["kind"])
    wanted = layer_from(ask.given["layer"]) if ask.has("layer") else memory.layer
    changed = ask.memory.update(memory.id, **fields) if fields else memory
    return memory_of(moved(ask.memory, changed, wanted))


def delete(ask: Ask) -> dict[str, Any]:
    """Put a memory into the trash."""
    ask.memory.forget(_found(ask).id, "deleted by a client")
    return {"ok": True}


def delete_many(ask: Ask) -> dict[str, Any]:
    """Put memories into the trash by id; or remove everything of a namespace for good."""
    if ask.has("ids"):
        return {"deleted": sum(_forgotten(ask.memory, one) for one in ask.words("ids"))}
    if not ask.has("namespace"):
        raise InvalidInput("give ids, or a namespace")
    gone = ask.memory.count()
    ask.memory.trash.purge("its namespace was deleted", also_in_use=True)
    return {"deleted": gone}


def trash(ask: Ask) -> dict[str, Any]:
    """What lies in the trash, last deleted first."""
    limit, offset = ask.whole("limit", 100, 1, 1_000), ask.whole("offset", 0, 0, 1_000_000)
    lying = ask.memory.trash.list(limit=limit, offset=offset)
    items = [{**memory_of(one.memory), "deleted_at": millis(one.deleted_at)} for one in lying.items]
    return {"total": lying.total, "count": len(items), "items": items}


def restore(ask: Ask) -> dict[str, Any]:
    """Bring a memory back out of the trash."""
    ask.memory.trash.restore(ask.placed["id"])
    return {"restored": True}


def purge(ask: Ask) -> dict[str, Any]:
    """Remove what lies in the trash for good."""
    return {"purged": ask.memory.trash.purge("the trash was emptied")}


def moved(memory: Engram, one: Memory, wanted: Layer) -> Memory:
    """The memory in another layer, brought there step by step."""
    while one.layer < wanted:
        one = memory.promote(one.id, "asked for by a client")
    while one.layer > wanted:
        one = memory.demote(one.id, "asked for by a client")
    return one


def everything(memory: Engram, filters: Filters | None = None) -> Iterator[Memory]:
    """All memories that fit, newest first, a page at a time."""
    cursor: str | None = None
    while True:
        found = memory.list(filters=filters, limit=1_000, cursor=cursor)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return


def some(memory: Engram, filters: Filters, offset: int, limit: int) -> list[Memory]:
    """The memories from a place on."""
    if not offset:
        return list(memory.list(filters=filters, limit=limit))
    return list(islice(everything(memory, filters), offset, offset + limit))


def _fields(ask: Ask) -> dict[str, Any]:
    """The fields of a draft; what is not said is as those clients expect it."""
    share, source, tags = ask.share("importance"), ask.text("source", SOURCE) or SOURCE, ask.words("tags")
    return {
        "importance": IMPORTANCE if share is None else share,
        "source": source,
        # There a source says that something is a note of a session; here a tag does.
        "tags": tags if source != SESSION else tuple(dict.fromkeys((*tags, SESSION))),
        "kind": kind_from(ask.given["kind"]) if ask.has("kind") else Kind.SEMANTIC,
        "apart": ask.truth("skip_dedup"),
        "layer": layer_from(ask.given["layer"]) if ask.has("layer") else Layer.BUFFER,
    }


def _place(ask: Ask) -> dict[str, Any]:
    """The scope of an item of a list that names a namespace of its own."""
    access, name = ask.memory.access, ask.text("namespace", "")
    if not name or name == access.scope.namespace:
        return {}
    if not access.all_namespaces:
        raise AccessDenied(f"write to the namespace {name!r}")
    return {"scope": Scope(namespace=name)}


def _found(ask: Ask) -> Memory:
    found = ask.memory.get(ask.placed["id"])
    if found is None or found.status not in Filters().statuses:
        raise NotFound(ask.placed["id"])
    return found


def _forgotten(memory: Engram, memory_id: str) -> bool:
    """Whether there was such a memory to be put into the trash."""
    try:
        found = memory.get(memory_id)
    except (AmbiguousId, InvalidInput):
        return False
    if found is None or found.status not in Filters().statuses:
        return False
    memory.forget(found.id, "deleted by a client")
    return True


ROUTES: tuple[Old, ...] = (
    Old("POST", "/memories", create),
    Old("GET", "/memories", page),
    Old("DELETE", "/memories", delete_many),
    Old("POST", "/memories/batch", batch),
    Old("GET", "/memories/{id}", get),
    Old("PATCH", "/memories/{id}", change),
    Old("DELETE", "/memories/{id}", delete),
    Old("GET", "/trash", trash, in_default=True),
    Old("DELETE", "/trash", purge, in_default=True),
    Old("POST", "/trash/{id}/restore", restore, in_default=True),
)
