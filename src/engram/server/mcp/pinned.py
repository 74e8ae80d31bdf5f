"""The tools every agent is shown, made by hand: few words, few arguments, answers as short as they may be.

Each is a function whose signature says what it takes and gives. An option of recall that is meant for agents
too (`Says(for_agents=True)`) is an argument of the search by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict, Unpack, cast

from engram.engine import Engram
from engram.errors import InvalidInput
from engram.model.facts import EdgeType
from engram.model.memory import Filters, Memory, Status
from engram.model.plain import Says, member, moment
from engram.model.recall import RecallOptions
from engram.operations import Operation, calls
from engram.server.mcp import shapes
from engram.server.mcp.documents import URI

SOURCE = "agent"
"""What comes through this door was said by an agent, and is trusted as far."""
CONTEXT_BUDGET = 1_000
SEARCH_LIMIT = 10

Id = Annotated[str, Says("Its id, or the first characters of it")]
Because = Annotated[str, Says("Why")]
Tags = Annotated[Sequence[str], Says("Any of these")]
RequestId = Annotated[str, Says("Repeating it changes nothing")]


class BriefMemory(TypedDict):
    """A memory in a list."""

    id: str
    content: str


class Found(TypedDict):
    """Memories, and where the next page begins."""

    memories: list[BriefMemory]
    cursor: NotRequired[str]


class PlacedBlock(TypedDict):
    """A text for a prompt."""

    text: str
    tokens: int
    ids: list[str]


class Whole(TypedDict):
    """Everything about one memory."""

    memory: dict[str, Any]
    relations: list[dict[str, Any]]


class Result(TypedDict):
    """What a connector's search gives."""

    id: str
    title: str
    url: str


class Results(TypedDict):
    """What a connector's search gives, in all."""

    results: list[Result]


class Fetched(Result):
    """What a connector's fetch gives."""

    text: str
    metadata: NotRequired[dict[str, Any]]


class Kept(TypedDict):
    """What became of a statement."""

    id: str
    outcome: str
    because: NotRequired[str]


class Changed(TypedDict):
    """A memory after a change."""

    id: str
    status: str
    content: NotRequired[str]


class Opinion(TypedDict):
    """How often a memory helped."""

    id: str
    helpful: NotRequired[int]
    unhelpful: NotRequired[int]


class Related(TypedDict):
    """A connection."""

    source: str
    target: str
    type: str


class Captured(TypedDict):
    """What was made of something said."""

    logged: int
    memories: list[dict[str, Any]]
    waiting: NotRequired[int]
    because: NotRequired[str]


def search(
    memory: Engram,
    query: Annotated[str, Says("A question in plain words")],
    *,
    category: str = "",
    tags: Tags = (),
    since: Annotated[str, Says("Happened since, ISO 8601")] = "",
    until: Annotated[str, Says("Happened before, ISO 8601")] = "",
    **options: Unpack[RecallOptions],
) -> Found:
    """What answers a question, best first."""
    options["filters"] = _filters(category, tags, since=since, until=until)
    options.setdefault("limit", SEARCH_LIMIT)
    answer = memory.recall(query, **options)
    return {"memories": [cast("BriefMemory", shapes.hit(hit, memory.access)) for hit in answer]}


def context(
    memory: Engram,
    query: Annotated[str, Says("Topic or question")],
    *,
    budget: Annotated[int, Says("Tokens, default 1000")] = CONTEXT_BUDGET,
) -> PlacedBlock:
    """What is known about a question as one block for a prompt."""
    built = memory.context(about=query, budget=budget)
    return {"text": built.recalled, "tokens": built.tokens, "ids": [*built.ids]}


def get(memory: Engram, id: Id) -> Whole:
    """Everything about one memory, and what it is related to."""
    record = calls.get(memory, id.removeprefix(URI))
    edges = memory.relations(record.id)
    related = [{"source": edge.source, "target": edge.target, "type": str(edge.type)} for edge in edges]
    return {"memory": shapes.full_memory(record), "relations": related}


def page(  # noqa: PLR0913 - what a list may be narrowed by; all by name
    memory: Engram,
    *,
    limit: Annotated[int, Says("Default 20")] = 20,
    cursor: Annotated[str, Says("From the page before")] = "",
    category: str = "",
    tags: Tags = (),
    pinned: Annotated[bool | None, Says("Only pinned ones, or only others")] = None,
    status: Annotated[str, Says("E.g. archived")] = "",
) -> Found:
    """Memories page by page."""
    wanted = _filters(category, tags, pinned=pinned, status=status)
    listed = memory.list(filters=wanted, limit=limit, cursor=cursor or None)
    answer: Found = {"memories": [cast("BriefMemory", shapes.brief_memory(record)) for record in listed]}
    if listed.cursor:
        answer["cursor"] = listed.cursor
    return answer


def results(memory: Engram, query: str) -> Results:
    """What a connector's search wants: an id, a title and an address each."""
    answer = memory.recall(query, limit=SEARCH_LIMIT)
    return {"results": [_result(hit.memory) for hit in answer]}


def fetch(memory: Engram, id: Annotated[str, Says("The id of a result")]) -> Fetched:
    """What a connector's fetch wants: the whole text of one result."""
    record = calls.get(memory, id.removeprefix(URI))
    metadata = {"category": record.category, "when": record.happened_at.isoformat(timespec="seconds")}
    return {**_result(record), "text": record.content, "metadata": metadata}


def store(  # noqa: PLR0913 - what may be known of a statement; all but the words by name
    memory: Engram,
    content: Annotated[str, Says("One self-contained statement")],
    *,
    category: Annotated[str, Says("preference, decision, fact, procedure, …")] = "",
    tags: Sequence[str] = (),
    importance: Annotated[float | None, Says("0 to 1")] = None,
    event_time: Annotated[str, Says("When it happened, ISO 8601")] = "",
    pinned: Annotated[bool, Says("Never forget it")] = False,
    request_id: RequestId = "",  # noqa: ARG001 (the dispatcher heeds it)
) -> Kept:
    """Keep one statement."""
    fields = {"category": category, "tags": tags, "importance": importance, "event_time": event_time}
    done = memory.remember(content, source=SOURCE, pinned=pinned, **_without_empty(fields))
    return cast("Kept", shapes.receipt(done))


def update(  # noqa: PLR0913 - what may change; all but the id by name
    memory: Engram,
    id: Id,
    *,
    content: Annotated[str, Says("The new words")] = "",
    category: str = "",
    tags: Sequence[str] = (),
    importance: float | None = None,
    event_time: str = "",
    because: Because = "",
) -> Changed:
    """Change fields of a memory."""
    fields = {"content": content, "category": category, "tags": tags, "importance": importance}
    changes = _without_empty({**fields, "event_time": event_time})
    if not changes:
        raise InvalidInput("Nothing to change: give a new content, category, tags, importance or event_time.")
    changed = shapes.changed_memory(memory.update(id, because=because, **changes))
    return cast("Changed", {**changed, "because": because})


def delete(
    memory: Engram,
    id: Id,
    *,
    because: Because = "",
    erase: Annotated[bool, Says("Only when the user asks to erase it")] = False,
) -> Changed:
    """Archive a memory, or erase it."""
    if erase:
        record = memory.get(id)
        memory.erase(id, because)
        return cast("Changed", {"id": record.id if record else id, "status": "erased", "because": because})
    gone = memory.forget(id, because)
    return cast("Changed", {"id": gone.id, "status": str(gone.status), "because": because})


def feedback(
    memory: Engram,
    id: Id,
    helpful: bool,  # noqa: FBT001 (arguments come by name)
    *,
    query: Annotated[str, Says("The question")] = "",
    because: Because = "",
) -> Opinion:
    """Say whether a memory helped."""
    record = memory.feedback(id, helpful=helpful, query=query, because=because)
    return {"id": record.id, "helpful": record.usage.helpful, "unhelpful": record.usage.unhelpful}


def relate(
    memory: Engram,
    source: Annotated[str, Says("An id")],
    target: Annotated[str, Says("An id")],
    *,
    type: Annotated[EdgeType, Says("Default related_to")] = EdgeType.RELATED_TO,
) -> Related:
    """Connect two memories."""
    edge = memory.relate(source, target, type)
    return {"source": edge.source, "target": edge.target, "type": str(edge.type)}


def capture(
    memory: Engram,
    *,
    user: Annotated[str | None, Says("What the user said")] = None,
    assistant: Annotated[str | None, Says("What you answered")] = None,
    messages: Annotated[
        Sequence[Mapping[str, Any]] | None, Says("Or chat messages with role and content")
    ] = None,
    session: Annotated[str, Says("Name of the conversation")] = "",
    request_id: RequestId = "",
) -> Captured:
    """Listen to what was said."""
    heard = memory.observe(user, assistant, messages=messages, session=session, message_id=request_id)
    return cast("Captured", shapes.observation(heard))


def _result(memory: Memory) -> Result:
    return {"id": memory.id, "title": shapes.label(memory), "url": f"{URI}{memory.id}"}


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", (), None)}


def _filters(category: str, tags: Sequence[str], **more: Any) -> Filters:
    fields: dict[str, Any] = {}
    if category:
        fields["categories"] = frozenset(part.strip() for part in category.split(","))
    if tags:
        fields["tags_any"] = frozenset(tags)
    if more.get("status"):
        fields["statuses"] = frozenset({member("status", Status, more["status"])})
    if more.get("pinned") is not None:
        fields["pinned"] = more["pinned"]
    for name, field_name in (("since", "happened_since"), ("until", "happened_until")):
        if more.get(name):
            moment(name, more[name])  # refused by the name it was given
            fields[field_name] = more[name]
    return Filters(**fields)


_ROWS: tuple[tuple[str, str, str, Callable[..., Any], dict[str, Any]], ...] = (
    ("memory_search", "Search memories",
     ("Find what is remembered about a question, best first. Use it before answering anything about "
      "the user, their projects or earlier talks."), search, {"reads": True}),
    ("memory_store", "Store a memory",
     ("Remember one statement that will still matter later: a preference, decision, fact or lesson. "
      "Known statements are reinforced, outdated ones superseded."), store, {}),
    ("memory_context", "Get context for a prompt",
     "What is known about a topic, with what is pinned, as one text within a token budget.", context,
     {"reads": True}),
    ("memory_capture", "Listen to a conversation",
     "Hand over what was said; what is worth keeping becomes memories, the rest is left out.", capture, {}),
    ("memory_get", "Show one memory",
     "Everything about one memory and what it is related to.", get, {"reads": True}),
    ("memory_list", "List memories", "Memories page by page, newest first.", page, {"reads": True}),
    ("memory_update", "Change a memory",
     "Change a memory; its old words stay in its history.", update, {}),
    ("memory_delete", "Forget a memory",
     "Archive a memory: found no more, can be restored. With erase it is gone for good.", delete,
     {"destroys": True}),
    ("memory_feedback", "Say whether a memory helped",
     "Say whether a memory helped with a question; an unhelpful one stays out of questions like it.",
     feedback, {"repeats": False}),
    ("memory_relate", "Connect two memories", "Relate one memory to another.", relate, {}),
    ("search", "Search", "Search memories; fetch gives a result's text.", results, {"reads": True}),
    ("fetch", "Fetch", "The text of one search result.", fetch, {"reads": True}),
)  # fmt: skip
PINNED: Mapping[str, tuple[str, Operation]] = {
    name: (title, Operation(name, sentence, calls=verb, tool=name, **more))
    for name, title, sentence, verb, more in _ROWS
}
"""The dozen, in the order in which they are told, each with its title."""
