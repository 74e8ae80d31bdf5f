"""A story that calls every tool once, in an order in which each has something to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

Ask = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Calls a tool and gives its structured answer; an error fails the test."""


async def tell(ask: Ask) -> list[str]:
    """Call every tool of the full set; the names that were called."""
    called: list[str] = []

    async def call(name: str, /, **given: Any) -> dict[str, Any]:
        called.append(name)
        return await ask(name, given)

    editor = (await call("memory_store", content="My editor is Helix", tags=["tools"], pinned=True))["id"]
    berlin = (await call("memory_store", text="Ada lives in Berlin"))["id"]
    assert (await call("memory_search", q="which editor?", k="3"))["memories"][0]["id"] == editor
    assert "Helix" in (await call("memory_context", query="which editor do I use?", budget=300))["text"]
    assert (await call("memory_get", memory_id=editor))["memory"]["content"] == "My editor is Helix"
    assert len((await call("memory_list", limit="10"))["memories"]) == 2
    await call("memory_update", id=editor, importance="0.9", because="said twice")
    await call("memory_feedback", id=editor, helpful="yes", query="which editor?")
    await call("memory_relate", source=editor, target=berlin)
    await call("memory_unrelate", source=editor, target=berlin)
    await call(
        "memory_capture", user="I prefer tea to coffee.", assistant="Noted.", session="s1", request_id="r1"
    )
    await call("memory_flush")
    assert [turn["who"] for turn in (await call("memory_turns", session="s1"))["turns"]] == [
        "user",
        "assistant",
    ]
    await call("memory_said", id=editor)
    assert (await call("search", query="which editor?"))["results"][0]["id"] == editor
    assert (await call("fetch", id=editor))["text"] == "My editor is Helix"
    await call("memory_pin", id=editor, pinned=False)
    await call("memory_confirm", id=editor)
    await call("memory_status", id=berlin, status="challenged", because="heard otherwise")
    await call("memory_delete", id=berlin)
    assert (await call("memory_trash"))["total"] == 1
    await call("memory_restore", id=berlin)
    assert (await call("memory_touch", ids=[berlin]))["touched"] == 1
    assert (await call("memory_promote", id=berlin))["layer"] in {"working", "core"}
    assert (await call("memory_history", id=berlin))["events"]
    await knowing(call)
    await beginning(call)
    await talking(call)
    await sharing(call, editor)
    await upkeep(call)
    await by_nouns(call, editor)
    assert (await call("memory_delete", id=berlin, erase=True))["status"] == "erased"
    return called


async def by_nouns(call: Callable[..., Awaitable[dict[str, Any]]], memory_id: str) -> None:
    """The tools that have several actions, the action named or understood from what is said."""
    assert (await call("memory_change", action="pin", id=memory_id))["pinned"] is True
    assert (await call("memory_change", memory_id=memory_id, status="challenged"))["status"] == "challenged"
    await call("memory_change", action="restore", id=memory_id)
    assert (await call("memory_facts", action="add", subject="Bo", predicate="lives in", object="Oslo"))["id"]
    assert (await call("memory_facts", start="Bo"))["paths"]
    assert "turns" in await call("memory_history", action="said", memory_id=memory_id)
    assert (await call("memory_sessions", action="list"))["sessions"] is not None
    await call("memory_sources", text="The bridge opens in May.", title="bridge")
    assert "publications" in await call("memory_bus", action="publications")
    assert (await call("memory_maintenance", action="doctor"))["findings"]
    assert (await call("memory_trash", empty=True))["purged"] >= 0


OWNERS = frozenset(
    {
        "memory_consolidate", "memory_dream", "memory_runs", "memory_run_report", "memory_undo",
        "memory_gaps", "memory_gap_answer", "memory_gap_dismiss", "memory_drift", "memory_deliver",
    }
)  # fmt: skip
"""Tools that only an owner can use, or that have something to tell only after what an owner did."""


ASKS_A_MODEL = frozenset({"memory_audit"})
"""Tools that do nothing without a model."""


async def tell_owner(ask: Ask) -> list[str]:
    """Call every tool of an owner; the names that were called."""
    called: list[str] = []

    async def call(name: str, /, **given: Any) -> dict[str, Any]:
        if name in OWNERS:
            called.append(name)
        return await ask(name, given)

    for what in ("call the plumber", "water the plants"):
        await call("memory_commitment_open", text=f"I'll {what}")
    run = (await call("memory_consolidate", stages=["doubt"]))["run"]["id"]
    first, second = ((one["key"]) for one in (await call("memory_gaps"))["gaps"])
    assert len((await call("memory_gaps", ask=True, session="s1"))["gaps"]) == 2
    assert (await call("memory_gap_answer", id=first, text="by Friday"))["content"].startswith("I'll")
    assert (await call("memory_gap_dismiss", id=second))["gap"]["kind"] == "due"
    assert (await call("memory_drift", directory=str(Path(__file__).parent)))["files"] > 0
    assert (await call("memory_deliver"))["run"]["state"] == "done"
    assert (await call("memory_dream"))["run"]["state"] == "done"
    assert run in [one["id"] for one in (await call("memory_runs"))["runs"]]
    assert (await call("memory_run_report", run_id=run))["decided"]
    assert (await call("memory_undo", run_id=run))["run"]["state"] == "undone"
    return called


async def sharing(call: Callable[..., Awaitable[dict[str, Any]]], memory_id: str) -> None:
    """The tools of the bus."""
    wish = (await call("memory_subscribe", topics=["tools"]))["subscription"]["id"]
    offer = (await call("memory_publish", id=memory_id, to="everyone"))["publication"]["id"]
    assert [one["id"] for one in (await call("memory_publications"))["publications"]] == [offer]
    assert [one["id"] for one in (await call("memory_subscriptions"))["subscriptions"]] == [wish]
    assert (await call("memory_withdraw", publication_id=offer))["withdrawn"] is True
    assert (await call("memory_unsubscribe", subscription_id=wish))["ended"] is True


async def knowing(call: Callable[..., Awaitable[dict[str, Any]]]) -> None:
    """The tools about entities, facts and conflicts."""
    assert (await call("memory_entities"))["entities"]
    assert (await call("memory_entities", name="Ada"))["profile"]["name"] == "Ada"
    await call("memory_entity_merge", name="Ada", other="Countess")
    await call("memory_entity_split", name="Countess")
    assert (await call("memory_timeline", about="Ada"))["steps"]
    assert "gaps" in await call("memory_reason", question="Where does Ada live?")
    stated = await call("memory_fact_add", subject="Ada", predicate="works at", object="Initech")
    assert (await call("memory_facts", subject="Ada"))["facts"]
    assert "paths" in await call("memory_chain", start="Ada")
    other = await call("memory_store", content="Ada works at Globex and at no other place")
    assert "conflicts" in await call("memory_conflicts")
    await call("memory_conflict_resolve", a=stated["id"], b=other["id"], keep="both")
    await call("memory_fact_end", id=stated["id"])


async def beginning(call: Callable[..., Awaitable[dict[str, Any]]]) -> None:
    """The tools for the start of a session and its open loops."""
    made = await call("memory_commitment_open", text="I'll send the report to Ada", due="by Friday")
    loop = made["commitment"]["id"]
    assert [one["id"] for one in (await call("memory_commitments"))["commitments"]] == [loop]
    waiting = await call("memory_commitment_change", id=loop, state="waiting", on="Ada")
    assert waiting["commitment"]["waiting_on"] == "Ada"
    await call("memory_commitment_change", id=loop, state="open")
    trigger = (await call("memory_trigger_put", words=["order"], pages=["entity:Ada"]))["trigger"]["id"]
    assert (await call("memory_triggers", message="my orders"))["triggers"][0]["id"] == trigger
    assert (await call("memory_pack", message="my orders"))["triggered"] == [trigger]
    assert "Helix" in (await call("memory_resume", budget=2_000))["text"]
    await call("memory_trigger_remove", id=trigger)
    await call("memory_commitment_change", id=loop, state="done", because="sent")


async def talking(call: Callable[..., Awaitable[dict[str, Any]]]) -> None:
    """The tools of a session and of what comes of work."""
    assert (await call("memory_session_start", id="monday", model="gpt-4o"))["session"]["state"] == "live"
    begun = await call("memory_session_turn", session_id="monday", message="which editor do I use?")
    assert "Helix" in begun["messages"][0]["content"]
    await call("memory_session_reply", session_id="monday", reply="Helix.")
    await call("memory_session_hold", session_id="monday", content="Ada comes on Friday")
    assert [one["id"] for one in (await call("memory_session_list"))["sessions"]] == ["monday"]
    assert (await call("memory_session_get", session_id="monday"))["session"]["turns"] == 1
    assert (await call("memory_session_abort", session_id="monday"))["aborted"] == 0
    await call("memory_session_suspend", session_id="monday")
    assert (await call("memory_session_resume", session_id="monday"))["session"]["restored"] == "whole"
    await call("memory_session_end", session_id="monday")
    assert (await call("memory_flow_learn", name="release", steps=["test", {"name": "tag"}]))["runs"] == 1
    assert (await call("memory_project_complete", project="apollo", lessons=["Ask first"]))["kept"]


async def upkeep(call: Callable[..., Awaitable[dict[str, Any]]]) -> None:
    """The tools that take in documents and look after the memory."""
    await call("memory_ingest_text", text="# Notes\n\nThe server listens on port 8080.", title="notes")
    await call("memory_ingest_task", name="nightly build", result="The disk was full.", outcome="failure")
    await call("memory_ingest_task", name="release", steps=[{"name": "tag", "outcome": "success"}])
    await call("memory_ingest_research", query="boiler", findings=["A boiler is serviced once a year."])
    await call("memory_ingest_summary", text="We decided to move to Bremen in May.", session="monday")
    assert (await call("memory_stats"))["memories"] > 0
    assert (await call("memory_count", tags_any=["tools"]))["count"] == 1
    assert (await call("memory_doctor"))["findings"]
    assert (await call("memory_reembed"))["embedded"] == 0
    assert (await call("memory_knowledge", what="topics"))["known"] == {"topics": []}
    await call("memory_spending")
    await call("memory_recall_health")
    await call("memory_news")
