"""Tools that read: a question, an id or a page goes in; memories come out, each as short as it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.errors import NotFound
from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.plain import member, moment
from engram.server.mcp import shapes
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words

if TYPE_CHECKING:
    from engram.model.memory import Memory

URI = "memory://"
CONTEXT_BUDGET = 1_000
SEARCH_LIMIT = 10
_ID = text("Its id, or the first characters of it")
_FOUND = objects("", id=text(), content=text())


def search(call: Call) -> dict[str, Any]:
    """What answers a question, best first."""
    found = call.memory.recall(
        call.given["query"],
        limit=call.given.get("limit", SEARCH_LIMIT),
        filters=filters(call),
        **call.only("include_archived", "as_of", "session"),
    )
    return {"memories": [shapes.hit(hit, call.memory.access) for hit in found]}


def context(call: Call) -> dict[str, Any]:
    """What is known about a question as one block for a prompt."""
    budget = call.given.get("budget", CONTEXT_BUDGET)
    made = call.memory.context(about=call.given["query"], budget=budget, **call.only("session"))
    return {"text": made.recalled, "tokens": made.tokens, "ids": [*made.ids]}


def get(call: Call) -> dict[str, Any]:
    """Everything about one memory, and what it is related to."""
    memory = seen(call)
    edges = call.memory.relations(memory.id)
    related = [{"source": edge.source, "target": edge.target, "type": str(edge.type)} for edge in edges]
    return {"memory": shapes.full_memory(memory), "relations": related}


def page(call: Call) -> dict[str, Any]:
    """Memories page by page."""
    listed = call.memory.list(
        filters=filters(call), limit=call.given.get("limit", 20), cursor=call.given.get("cursor")
    )
    return {"memories": [shapes.brief_memory(one) for one in listed]} | shapes.without_empty(
        {"cursor": listed.cursor}
    )


def results(call: Call) -> dict[str, Any]:
    """What a connector's search wants: an id, a title and an address each."""
    found = call.memory.recall(call.given["query"], limit=call.given.get("limit", SEARCH_LIMIT))
    return {
        "results": [
            {"id": hit.memory.id, "title": shapes.label(hit.memory), "url": f"{URI}{hit.memory.id}"}
            for hit in found
        ]
    }


def fetch(call: Call) -> dict[str, Any]:
    """What a connector's fetch wants: the whole text of one result."""
    memory = seen(call)
    about = {"category": memory.category, "when": memory.happened_at.isoformat(timespec="seconds")}
    return {
        "id": memory.id,
        "title": shapes.label(memory),
        "text": memory.content,
        "url": f"{URI}{memory.id}",
        "metadata": about,
    }


def history(call: Call) -> dict[str, Any]:
    """What happened to a memory, or to all."""
    found = call.memory.events(call.given.get("id"), limit=call.given.get("limit", 50))
    return {"events": [shapes.event(one) for one in found]}


def said(call: Call) -> dict[str, Any]:
    """The turns a memory came from."""
    return {"turns": [shapes.turn(one) for one in call.memory.said(call.given["id"])]}


def turns(call: Call) -> dict[str, Any]:
    """A conversation word for word."""
    found = call.memory.turns(call.given["session"], limit=call.given.get("limit", 100))
    return {"turns": [shapes.turn(one) for one in found]}


def seen(call: Call) -> Memory:
    """The memory with the given id. Raises NotFound."""
    given = call.given["id"].removeprefix(URI)
    memory = call.memory.get(given)
    if memory is None:
        raise NotFound(given)
    return memory


def filters(call: Call) -> Filters:
    """The conditions among the arguments."""
    given = call.given
    fields: dict[str, Any] = {}
    if "category" in given:
        fields["categories"] = frozenset(part.strip() for part in given["category"].split(","))
    if "tags" in given:
        fields["tags_any"] = frozenset(map(str, given["tags"]))
    if "status" in given:
        fields["statuses"] = frozenset({member("status", Status, given["status"])})
    if "pinned" in given:
        fields["pinned"] = given["pinned"]
    for name, field in (("since", "happened_since"), ("until", "happened_until")):
        if name in given:
            moment(name, given[name])  # refused by the name it was given
            fields[field] = given[name]
    return Filters(**fields)


PINNED = (
    Tool(
        "memory_search",
        "Search memories",
        "Find what is remembered about a question, best first. Use it before answering anything about the "
        "user, their projects or earlier talks.",
        search,
        {
            "query": text("A question in plain words"),
            "limit": whole("Default 10"),
            "category": text(),
            "tags": words("Any of these"),
            "since": text("Happened since, ISO 8601"),
            "until": text(),
            "as_of": text("What was known then"),
            "include_archived": truth(),
        },
        ("query",),
        {"memories": _FOUND},
        ("memories",),
        reads=True,
    ),
    Tool(
        "memory_context",
        "Get context for a prompt",
        "What is known about a topic, with what is pinned, as one text within a token budget.",
        context,
        {"query": text("Topic or question"), "budget": whole("Tokens, default 1000")},
        ("query",),
        {"text": text(), "tokens": whole(), "ids": words()},
        ("text", "tokens", "ids"),
        reads=True,
    ),
    Tool(
        "memory_get",
        "Show one memory",
        "Everything about one memory and what it is related to.",
        get,
        {"id": _ID},
        ("id",),
        {"memory": {"type": "object"}, "relations": objects()},
        ("memory", "relations"),
        reads=True,
    ),
    Tool(
        "memory_list",
        "List memories",
        "Memories page by page, newest first.",
        page,
        {
            "limit": whole("Default 20"),
            "cursor": text("From the page before"),
            "category": text(),
            "tags": words("Any of these"),
            "pinned": truth(),
            "status": text("E.g. archived"),
        },
        (),
        {"memories": _FOUND, "cursor": text()},
        ("memories",),
        reads=True,
    ),
    Tool(
        "search",
        "Search",
        "Search memories; fetch gives a result's text.",
        results,
        {"query": text()},
        ("query",),
        {"results": objects("", id=text(), title=text(), url=text())},
        ("results",),
        reads=True,
    ),
    Tool(
        "fetch",
        "Fetch",
        "The text of one search result.",
        fetch,
        {"id": text()},
        ("id",),
        {"id": text(), "title": text(), "text": text(), "url": text(), "metadata": {"type": "object"}},
        ("id", "title", "text", "url"),
        reads=True,
    ),
)

MORE = (
    Tool(
        "memory_history",
        "Tell what happened",
        "What happened to a memory, or to all, newest first.",
        history,
        {"id": _ID, "limit": whole("Default 50")},
        (),
        {"events": objects()},
        ("events",),
        reads=True,
    ),
    Tool(
        "memory_said",
        "Show where a memory comes from",
        "The words of the conversation a memory was made of.",
        said,
        {"id": _ID},
        ("id",),
        {"turns": objects()},
        ("turns",),
        reads=True,
    ),
    Tool(
        "memory_turns",
        "Show a conversation",
        "A conversation word for word.",
        turns,
        {"session": text("Its name"), "limit": whole("Default 100")},
        ("session",),
        {"turns": objects()},
        ("turns",),
        reads=True,
    ),
)
