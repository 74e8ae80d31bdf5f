"""Calls of the tools of *files* over `/mcp`: one JSON request comes in, one JSON answer goes out.

Its clients name themselves in a header and read plain JSON. What they ask is answered here; a call of a tool
of ours, and everything from others, goes on to the MCP server as it came.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from engram._version import __version__
from engram.errors import EngramError, UnknownValue
from engram.model.maintenance import Report
from engram.model.memory import Filters, Kind
from engram.operations.calls import get
from engram.operations.values import encoded, pick
from engram.server.compat import files
from engram.server.compat.files import memory_of
from engram.server.compat.requests import LenientRequest, OldAnswer, named, standing
from engram.server.route import JSON, read
from engram.text.forms import key_fact

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from engram.engine import Engram
    from engram.server.caller import Caller
    from engram.server.host import MemoryHost


# ---------------------------------------------------------------- tools
# Tools of *files*: what its clients call over MCP by names of their own, answered as over REST.
#
# Each is known as `engram.x` and as `remnic.x`. A tool that is not here is refused by name.


PREFIXES = ("engram.", "remnic.")
JUDGED = {"vote": {"up": True, "down": False}, "outcome": {"success": True, "failure": False}}
"""The words for what helped and what did not, by what they answer."""
MODES = ("shadow", "apply")
IDENTITY = Filters(categories=frozenset({"identity"}))
SHOWN = 50

Answers = Callable[[LenientRequest], Any]


def _judge(field: str, why: str) -> Answers:
    def judge(ask: LenientRequest) -> dict[str, Any]:
        """Say whether a memory helped."""
        known = JUDGED[field]
        word = files.one_of(ask, field, "", tuple(known))
        memory = ask.memory.feedback(ask.text("memoryId"), helpful=known[word], because=ask.text(why, ""))
        return {"memoryId": memory.id, field: word, "recorded": True}

    return judge


def promote(ask: LenientRequest) -> dict[str, Any]:
    """Move a memory one layer up."""
    memory = ask.memory.promote(ask.text("memoryId"), "promoted by a client")
    return {**pick(memory, "memoryId:id layer"), "promoted": True}


def briefing(ask: LenientRequest) -> dict[str, Any]:
    """What a session that starts cold should know."""
    resume = ask.memory.resume()
    sections = [pick(section, "name text memoryIds:ids") for section in resume.sections]
    return {"format": "markdown", "markdown": resume.text, "sections": sections}


def checkpoint(ask: LenientRequest) -> dict[str, Any]:
    """Keep where a session stands."""
    report = ask.memory.sources.summary(ask.text("context"), session=files.session_of(ask))
    ids = [memory for item in report.items for memory in item.memories]
    return {"ok": True, "sessionKey": files.session_of(ask), "memoryIds": ids}


def identity(ask: LenientRequest) -> dict[str, Any]:
    """What is remembered about who somebody is."""
    memories = [*map(memory_of, ask.memory.list(filters=IDENTITY, limit=SHOWN))]
    return {"memories": memories, "count": len(memories)}


def governance(ask: LenientRequest) -> dict[str, Any]:
    """Let memories mature; `shadow` only tells what would happen."""
    mode = files.one_of(ask, "mode", "shadow", MODES)
    return {**_ran(ask.memory.consolidate(dry=mode == "shadow")), "mode": mode}


def learn(ask: LenientRequest) -> dict[str, Any]:
    """Look for what episodes have in common, and for what is done again and again."""
    return _ran(ask.memory.consolidate(stages=["knowledge"]))


def _ran(report: Report) -> dict[str, Any]:
    rules = [pick(tally, "rule count") for tally in report.tallies]
    return {"runId": report.run.id, "changes": report.changes, "rules": rules}


def profile(ask: LenientRequest) -> dict[str, Any]:
    """How somebody is and wants things."""
    behaviour = ask.memory.knowledge.profile()
    return {"profile": [trait.text for trait in behaviour.traits], "topics": list(behaviour.topics)}


def anchor(ask: LenientRequest) -> dict[str, Any]:
    """What somebody says about themselves."""
    return pick(ask.memory.knowledge.identity(), "identityTraits:text memories compacted")


def questions(ask: LenientRequest) -> dict[str, Any]:
    """What is not known and would be good to know."""
    gaps = [pick(gap, "question about priority:weight") for gap in ask.memory.gaps.list()]
    return {"questions": gaps, "count": len(gaps)}


def day_summary(ask: LenientRequest) -> dict[str, Any]:
    """What was kept today; or the texts that were given, in few words."""
    now = ask.memory.maintenance.clock.now()
    today = Filters(created_since=now.replace(hour=0, minute=0, second=0, microsecond=0))
    given = [line for line in ask.text("memories", "").splitlines() if line.strip()]
    texts = given or [memory.content for memory in ask.memory.list(filters=today, limit=SHOWN)]
    return {"date": f"{now:%Y-%m-%d}", "summary": "\n".join(f"- {key_fact(text)}" for text in texts)}


def guidelines(ask: LenientRequest) -> dict[str, Any]:
    """Learn from what was taken back and recalled, and tell what was learned."""
    if not ask.truth("dryRun"):
        ask.memory.consolidate(stages=["knowledge"])
    lines = list(ask.memory.knowledge.guidelines().lines)
    return {"guidelines": lines, "count": len(lines), "dryRun": ask.truth("dryRun")}


def graph_explain(ask: LenientRequest) -> dict[str, Any]:
    """How the graph was used in the last recalls."""
    return {**files.health_of_recalls(ask), "edges": ask.memory.stats().edges}


# ---------------------------------------------------------------- actions
# What an agent may decide about a memory, in the seven words of that system; any other word discards.


def act(ask: LenientRequest) -> dict[str, Any]:
    """Carry out one action of the taxonomy; with `dryRun`, or `execute: false`, only say what it would be."""
    action = ask.text("action") if ask.text("action") in ACTIONS else DISCARD
    answer = {"action": action, "reason": ask.text("reason", ""), "eligibility": _eligibility(ask)}
    if ask.truth("dryRun") or not ask.truth("execute", default=True):
        return {**answer, "outcome": "skipped", "executed": False}
    memory_id = ACTIONS[action](ask)
    return {
        **answer,
        "outcome": "applied" if memory_id else "skipped",
        "executed": True,
        "memoryId": memory_id,
    }


def _eligibility(ask: LenientRequest) -> dict[str, Any]:
    """The context of a decision; what cannot be read counts for nothing."""
    given = ask.given.get("eligibility")
    fields = given if isinstance(given, Mapping) else {}
    shares = [fields.get(name) for name in ("confidence", "importance")]
    state, source = fields.get("lifecycleState"), fields.get("source")
    good = all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
    if not good or state not in STATES or source not in ORIGINS:
        shares, state, source = [0, 0], "candidate", "unknown"
    return {"confidence": shares[0], "lifecycleState": state, "importance": shares[1], "source": source}


def _stored(kind: Kind, **details: Any) -> Callable[[LenientRequest], str]:
    def store(ask: LenientRequest) -> str:
        named = {"artifact": ask.text("artifactType")} if ask.text("artifactType", "") else {}
        fields = {"kind": kind, "category": ask.text("category", "") or None, "source": "agent"}
        return ask.memory.remember(ask.text("content"), details={**details, **named}, **fields).memory.id

    return store


def _discarded(ask: LenientRequest) -> str:
    if not ask.text("memoryId", ""):
        return ""
    return ask.memory.forget(ask.text("memoryId"), ask.text("reason", "") or "discarded by a client").id


def _linked(ask: LenientRequest) -> str:
    kind, strength = ask.text("linkType", "related_to") or "related_to", ask.share("linkStrength")
    ends = ask.text("memoryId"), ask.text("linkTargetId")
    return ask.memory.relate(*ends, kind, weight=1.0 if strength is None else strength).source


def _summarized(ask: LenientRequest) -> str:
    """A memory of what another says in few words, drawn from it."""
    whole = get(ask.memory, ask.text("memoryId"))
    words = ask.text("content", "") or key_fact(whole.content)
    summary = ask.memory.remember(words, source="agent", apart=True).memory
    ask.memory.relate(summary.id, whole.id, "derived_from")
    return summary.id


DISCARD = "discard"
STATES = ("active", "validated", "candidate", "stale", "archived")
ORIGINS = ("extraction", "consolidation", "replay", "manual", "unknown")
ACTIONS: Mapping[str, Callable[[LenientRequest], str]] = MappingProxyType(
    {
        "store_episode": _stored(Kind.EPISODIC),
        "store_note": _stored(Kind.SEMANTIC),
        "update_note": lambda ask: ask.memory.update(ask.text("memoryId"), content=ask.text("content")).id,
        "create_artifact": _stored(Kind.EPISODIC, verbatim=True),
        "summarize_node": _summarized,
        DISCARD: _discarded,
        "link_graph": _linked,
    }
)


ASKING = (
    "query* sessionKey namespace topK:number mode includeDebug:boolean disclosure codingContext:object "
    "projectTag asOf tags:array tagMatch"
)
ACTING = (
    "action* category content reason memoryId linkTargetId linkType linkStrength:number artifactType "
    "execute:boolean namespace dryRun:boolean"
)
STORING = (
    "schemaVersion:number idempotencyKey dryRun:boolean sessionKey content* category confidence:number "
    "namespace tags:array entityRef ttl sourceReason"
)
TOOLS: Mapping[str, tuple[Answers, str]] = MappingProxyType(
    {
        "recall": (files.recall, ASKING),
        "set_coding_context": (files.coding, "sessionKey codingContext:object projectTag"),
        "recall_explain": (files.health_of_recalls, "sessionKey namespace"),
        "recall_xray": (files.xray, "query* sessionKey namespace budget:integer disclosure"),
        "memory_last_recall": (files.health_of_recalls, ""),
        "memory_search": (files.search, "query* namespace maxResults:number collection"),
        "lcm_search": (files.said, "query* sessionKey namespace limit:number"),
        "memory_store": (files.store, STORING),
        "suggestion_submit": (files.suggest, STORING),
        "memory_get": (files.get, "memoryId* namespace"),
        "memory_timeline": (files.timeline, "memoryId* namespace limit:number"),
        "memory_feedback": (_judge("vote", "note"), "memoryId* vote* note"),
        "memory_outcome": (_judge("outcome", "outcome"), "memoryId* outcome* namespace sessionKey timestamp"),
        "memory_promote": (promote, "memoryId* namespace sessionKey"),
        "memory_identity": (identity, "namespace"),
        "memory_governance_run": (governance, "namespace mode"),
        "observe": (files.observe, "sessionKey* messages*:array namespace projectTag"),
        "entity_get": (files.entity, "name* namespace"),
        "memory_entities_list": (files.entities, ""),
        "review_list": (files.contradictions, "filter namespace limit:number"),
        "review_resolve": (files.resolve, "pairId* verb*"),
        "contradiction_scan_run": (files.scan, "namespace"),
        "briefing": (briefing, "since focus namespace format maxFollowups:number"),
        "context_checkpoint": (checkpoint, "sessionKey* context* namespace"),
        "dreams_run": (files.dream, "phase* dryRun:boolean namespace"),
        "dreams_status": (files.upkeep, "windowHours:number namespace"),
        "procedural_stats": (files.procedures, "namespace"),
        "recall_tier_explain": (files.health_of_recalls, "sessionKey namespace"),
        "memory_profile": (profile, ""),
        "memory_questions": (questions, ""),
        "identity_anchor_get": (anchor, "namespace"),
        "day_summary": (day_summary, "memories sessionKey namespace"),
        "review_queue_list": (files.queue, "runId namespace"),
        "graph_snapshot": (files.graph, "namespace limit:number since focusNodeId categories:array"),
        "memory_graph_explain": (graph_explain, "namespace"),
        "memory_action_apply": (act, ACTING),
        "procedure_mining_run": (learn, "namespace"),
        "pattern_reinforcement_run": (learn, "namespace"),
        "compression_guidelines_optimize": (guidelines, "dryRun:boolean eventLimit:number"),
        "peer_list": (files.peers, ""),
        "peer_get": (files.peer, "id*"),
        "peer_profile_get": (files.peer, "id*"),
        "console_state": (files.console, "namespace"),
    }
)  # fmt: skip
"""Each with what it takes: `*` stands behind what must be there, a type where it is no text."""


def own_name(name: Any) -> str | None:
    """The name of a tool without the system's own; None when it is no tool of that system.

    >>> own_name("remnic.recall"), own_name("memory_search")
    ('recall', None)
    """
    if not isinstance(name, str):
        return None
    return next((name.removeprefix(prefix) for prefix in PREFIXES if name.startswith(prefix)), None)


def run(name: str, ask: LenientRequest) -> Any:
    """What a tool comes to. Raises UnknownValue for one that is not here."""
    if name not in TOOLS:
        raise UnknownValue("tool", name, tuple(TOOLS))
    answer = TOOLS[name][0](ask)
    return answer.value if isinstance(answer, OldAnswer) else answer


NO_SUCH_METHOD, NO_SUCH_TOOL = -32_601, -32_602
PROTOCOL = "2024-11-05"


def beside(memory_host: MemoryHost, inner: ASGIApp) -> ASGIApp:
    """The MCP server, and before it what answers those clients."""

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "POST":
            await inner(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await read(request)
        message = _message(body)
        if message is None:
            await inner(scope, _again(body, receive), send)
        elif "id" not in message:
            await Response(status_code=HTTPStatus.ACCEPTED)(scope, receive, send)
        else:
            answer = await _answer(memory_host, request, message)
            await Response(answer, media_type=JSON)(scope, receive, send)

    return enter


def _message(body: bytes) -> Mapping[str, Any] | None:
    """The request, unless it calls a tool that is none of that system's."""
    try:
        message = json.loads(body)
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return message if isinstance(message, dict) else None
    call = message.get("params")
    return message if isinstance(call, dict) and own_name(call.get("name")) is not None else None


def listed() -> list[dict[str, Any]]:
    """Every tool under both of its names, with what it takes."""
    return [
        {
            "name": prefix + name,
            "description": (calls.__doc__ or name).splitlines()[0],
            "inputSchema": _schema(takes),
        }
        for name, (calls, takes) in TOOLS.items()
        for prefix in PREFIXES
    ]


def _schema(takes: str) -> dict[str, Any]:
    parts = [parameter.partition(":") for parameter in takes.split()]
    types = {name.rstrip("*"): {"type": kind or "string"} for name, _, kind in parts}
    return {
        "type": "object",
        "properties": types,
        "required": [name[:-1] for name, _, _ in parts if name[-1] == "*"],
    }


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read, to be read once more."""
    unread = True

    async def once_more() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return once_more


async def _answer(memory_host: MemoryHost, request: Request, message: Mapping[str, Any]) -> bytes:
    reply = partial(_reply, message["id"])
    match message.get("method"):
        case "initialize":
            server = {"name": "remnic", "version": __version__}
            greeting = {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": server}
            return reply(result=greeting)
        case "ping":
            return reply(result={})
        case "tools/list":
            return reply(result={"tools": listed()})
        case "tools/call":
            return await _called(memory_host, request, message["params"], reply)
        case other:
            return reply(error={"code": NO_SUCH_METHOD, "message": f"Method not found: {other}"})


async def _called(
    memory_host: MemoryHost, request: Request, params: Mapping[str, Any], reply: Callable[..., bytes]
) -> bytes:
    arguments = params.get("arguments")
    given = arguments if isinstance(arguments, dict) else {}
    name = own_name(params["name"]) or ""
    caller: Caller = request.state.caller
    headers = dict(request.headers)

    def work(memory: Engram) -> bytes:
        ask = LenientRequest(memory, given, headers=headers, projects=memory_host.projects)
        return encoded(run(name, ask))

    try:
        there = standing(caller, memory_host.memory.access, named(headers, given), in_default=True)
        answer = json.loads(await memory_host.run(there, work))
    except EngramError as error:
        if isinstance(error, UnknownValue) and error.field == "tool":
            return reply(error={"code": NO_SUCH_TOOL, "message": error.message})
        text = {"type": "text", "text": f"{error.code}: {error.message}"}
        return reply(result={"content": [text], "isError": True})
    text = {"type": "text", "text": json.dumps(answer, ensure_ascii=False, indent=2)}
    return reply(result={"content": [text], "structuredContent": answer, "isError": False})


def _reply(request_id: Any, **outcome: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, **outcome}, ensure_ascii=False).encode()
