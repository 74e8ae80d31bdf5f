"""Tools that read: a question, an id or a page goes in; memories come out, each as short as it may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from engram.errors import NotFound
from engram.model.memory import Filters, Status
from engram.model.plain import member, moment, plain
from engram.server.mcp import tool
from engram.server.mcp.tool import Tool, ToolCall, objects, text, truth, whole, words

if TYPE_CHECKING:
    from engram.model.context import BriefSection
    from engram.model.memory import Memory
    from engram.model.session import Commitment


URI = "memory://"
CONTEXT_BUDGET = 1_000
SEARCH_LIMIT = 10
_ID = text("Its id, or the first characters of it")
_FOUND = objects("", id=text(), content=text())


def search(call: ToolCall) -> dict[str, Any]:
    """What answers a question, best first."""
    found = call.memory.recall(
        call.given["query"],
        limit=call.given.get("limit", SEARCH_LIMIT),
        filters=filters(call),
        **call.only("include_archived", "as_of", "session"),
    )
    return {"memories": [tool.hit(hit, call.memory.access) for hit in found]}


def context(call: ToolCall) -> dict[str, Any]:
    """What is known about a question as one block for a prompt."""
    budget = call.given.get("budget", CONTEXT_BUDGET)
    made = call.memory.context(about=call.given["query"], budget=budget, **call.only("session"))
    return {"text": made.recalled, "tokens": made.tokens, "ids": [*made.ids]}


def get(call: ToolCall) -> dict[str, Any]:
    """Everything about one memory, and what it is related to."""
    memory = seen(call)
    edges = call.memory.relations(memory.id)
    related = [{"source": edge.source, "target": edge.target, "type": str(edge.type)} for edge in edges]
    return {"memory": tool.full_memory(memory), "relations": related}


def page(call: ToolCall) -> dict[str, Any]:
    """Memories page by page."""
    listed = call.memory.list(
        filters=filters(call), limit=call.given.get("limit", 20), cursor=call.given.get("cursor")
    )
    return {"memories": [tool.brief_memory(one) for one in listed]} | tool.without_empty(
        {"cursor": listed.cursor}
    )


def results(call: ToolCall) -> dict[str, Any]:
    """What a connector's search wants: an id, a title and an address each."""
    found = call.memory.recall(call.given["query"], limit=call.given.get("limit", SEARCH_LIMIT))
    return {
        "results": [
            {"id": hit.memory.id, "title": tool.label(hit.memory), "url": f"{URI}{hit.memory.id}"}
            for hit in found
        ]
    }


def fetch(call: ToolCall) -> dict[str, Any]:
    """What a connector's fetch wants: the whole text of one result."""
    memory = seen(call)
    about = {"category": memory.category, "when": memory.happened_at.isoformat(timespec="seconds")}
    return {
        "id": memory.id,
        "title": tool.label(memory),
        "text": memory.content,
        "url": f"{URI}{memory.id}",
        "metadata": about,
    }


def history(call: ToolCall) -> dict[str, Any]:
    """What happened to a memory, or to all."""
    found = call.memory.events(call.given.get("id"), limit=call.given.get("limit", 50))
    return {"events": [tool.event(one) for one in found]}


def said(call: ToolCall) -> dict[str, Any]:
    """The turns a memory came from."""
    return {"turns": [tool.turn(one) for one in call.memory.said(call.given["id"])]}


def turns(call: ToolCall) -> dict[str, Any]:
    """A conversation word for word."""
    found = call.memory.turns(call.given["session"], limit=call.given.get("limit", 100))
    return {"turns": [tool.turn(one) for one in found]}


def seen(call: ToolCall) -> Memory:
    """The memory with the given id. Raises NotFound."""
    given = call.given["id"].removeprefix(URI)
    memory = call.memory.get(given)
    if memory is None:
        raise NotFound(given)
    return memory


def filters(call: ToolCall) -> Filters:
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


# ---------------------------------------------------------------- briefing
# Tools for the start of a session and its open loops: resume, recall pack, commitments, triggers.


STATES = ("open", "waiting", "done", "dropped")


def resume(call: ToolCall) -> dict[str, Any]:
    """Where things stand, for a session that starts cold."""
    found = call.memory.resume(call.given.get("budget"), **call.only("form", "workspace"))
    return {"text": found.text, "characters": found.characters, "sections": _sections(found.sections)}


def pack(call: ToolCall) -> dict[str, Any]:
    """The document to start a session with."""
    found = call.memory.recall_pack(call.given.get("message", ""), **call.only("tasks", "workspace"))
    return {
        "text": found.text,
        "words": found.words,
        "sections": _sections(found.sections),
        "triggered": [*found.triggered],
    }


def _sections(sections: Iterable[BriefSection]) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "ids": [*one.ids], "size": one.size, "left_out": one.left_out, "how": one.how}
        for one in sections
    ]


def loops(call: ToolCall) -> dict[str, Any]:
    """Open loops, oldest first."""
    found = call.memory.commitments.list(call.given.get("state"), **call.only("limit"))
    return {"commitments": [_loop(one) for one in found]}


def open_loop(call: ToolCall) -> dict[str, Any]:
    """Something promised or owed."""
    made = call.memory.commitments.open(call.given["text"], **call.only("due", "waiting_on", "session"))
    return {"commitment": _loop(made)}


def change_loop(call: ToolCall) -> dict[str, Any]:
    """Close a loop, wait for somebody, or open it again."""
    given, noun = call.given, call.memory.commitments
    if given["state"] == "waiting":
        return {"commitment": _loop(noun.wait(given["id"], given.get("on", "")))}
    if given["state"] == "open":
        return {"commitment": _loop(noun.reopen(given["id"], **call.only("due", "because")))}
    return {"commitment": _loop(noun.close(given["id"], given["state"], **call.only("because")))}


def review(call: ToolCall) -> dict[str, Any]:
    """What later statements say was done."""
    found = call.memory.commitments.review(**call.only("dry", "limit"))
    return {"closings": [{"commitment": _loop(one.commitment), "memory": one.memory} for one in found]}


def _loop(one: Commitment) -> dict[str, Any]:
    return {"id": one.id} | tool.without_empty(plain(one))


def triggers(call: ToolCall) -> dict[str, Any]:
    """Words that load pages; those a message sets off, if one is given."""
    noun = call.memory.triggers
    found = noun.match(call.given["message"]) if "message" in call.given else noun.list()
    return {"triggers": [tool.without_empty(plain(one)) for one in found]}


def put_trigger(call: ToolCall) -> dict[str, Any]:
    """Make or change a trigger."""
    noun, given = call.memory.triggers, call.only("words", "pages")
    if "id" in call.given:
        return {"trigger": plain(noun.update(call.given["id"], **given))}
    return {"trigger": plain(noun.add(given.get("words", ()), given.get("pages", ())))}


def remove_trigger(call: ToolCall) -> dict[str, Any]:
    """Take a trigger away."""
    return {"trigger": plain(call.memory.triggers.remove(call.given["id"]))}


_LOOP = {"commitment": {"type": "object"}}
_PAGES = words("entity:NAME, tag:TAG, category:NAME, memory:ID or origin:BEGINNING")

BRIEFING_MORE = (
    Tool(
        "memory_resume",
        "Go on where we stopped",
        "What a session that starts cold should know: what always matters, what goes on, what is new.",
        resume,
        {
            "budget": whole("Characters at most"),
            "form": text("", enum=["full", "compact"]),
            "workspace": text("Leave out what belongs to another one"),
        },
        (),
        {"text": text(), "characters": whole(), "sections": objects()},
        ("text", "characters", "sections"),
        reads=True,
    ),
    Tool(
        "memory_pack",
        "Get the recall pack",
        "The document to start a session with: rules, open loops, today's focus, context, procedures.",
        pack,
        {
            "message": text("The user's message; its words may load more pages"),
            "tasks": words("What is to be done today"),
            "workspace": text("Leave out what belongs to another one"),
        },
        (),
        {"text": text(), "words": whole(), "sections": objects(), "triggered": words()},
        ("text", "words", "sections"),
        reads=True,
    ),
    Tool(
        "memory_commitments",
        "Look at open loops",
        "What was promised or is waited for, oldest first.",
        loops,
        {"state": text("Default: all that are not closed", enum=[*STATES]), "limit": whole("Default 100")},
        (),
        {"commitments": objects()},
        ("commitments",),
        reads=True,
    ),
    Tool(
        "memory_commitment_open",
        "Open a loop",
        "Keep something that was promised or is owed.",
        open_loop,
        {
            "text": text("What is to be done"),
            "due": text("A time, or words: by Friday"),
            "waiting_on": text("Whom or what it waits for"),
            "session": text(),
        },
        ("text",),
        _LOOP,
        ("commitment",),
    ),
    Tool(
        "memory_commitment_change",
        "Close a loop, wait or reopen",
        "Say that a commitment is done, dropped, waiting on somebody, or open again.",
        change_loop,
        {
            "id": text("Its id, or the first characters of it"),
            "state": text("", enum=[*STATES]),
            "on": text("Whom it waits for"),
            "due": text("The new day of one that is opened again"),
            "because": text(),
        },
        ("id", "state"),
        _LOOP,
        ("commitment",),
    ),
    Tool(
        "memory_commitment_review",
        "Close what was done",
        "Close commitments that later statements say, beyond doubt, were kept.",
        review,
        {"dry": truth("Only tell"), "limit": whole("Look at so many")},
        (),
        {"closings": objects()},
        ("closings",),
    ),
    Tool(
        "memory_triggers",
        "Look at triggers",
        "Words in a message that load pages into the pack; with a message, those it sets off.",
        triggers,
        {"message": text()},
        (),
        {"triggers": objects()},
        ("triggers",),
        reads=True,
    ),
    Tool(
        "memory_trigger_put",
        "Make or change a trigger",
        "When a message holds one of the words, the pack also tells the pages.",
        put_trigger,
        {"id": text("Of the one to change"), "words": words("Words or phrases"), "pages": _PAGES},
        (),
        {"trigger": {"type": "object"}},
        ("trigger",),
        repeats=False,
    ),
    Tool(
        "memory_trigger_remove",
        "Remove a trigger",
        "Take a trigger away.",
        remove_trigger,
        {"id": text()},
        ("id",),
        {"trigger": {"type": "object"}},
        ("trigger",),
        destroys=True,
    ),
)
