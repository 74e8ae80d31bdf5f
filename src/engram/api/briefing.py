"""Briefing: a caller comes in; what a session should start with goes out, as a resume or a recall pack."""

from __future__ import annotations

from collections.abc import Sequence

from engram.api.caller import CallerContext, whole
from engram.api.commitments import loops
from engram.api.conflicts import Conflicts
from engram.context import recall_pack as packing
from engram.context.budget import one_line
from engram.context.recall_pack import matching_triggers
from engram.context.resume import FORMS, ResumeRequest, in_workspace, resume, room_for
from engram.errors import UnknownValue, WrongType
from engram.model.context import BriefSection, RecallPack, Resume
from engram.model.maintenance import Sketch
from engram.model.memory import Filters, Memory, Tier, in_force
from engram.model.scope import Scope
from engram.ports import View
from engram.rules import screen
from engram.text import re
from engram.text.sentences import sentences

COMPACT_SHARE = 0.25  # share of them that the compact form takes

MESSAGE_LIMIT = 10_000
TASKS_LIMIT = 50
CONFLICTS_LIMIT = 20
SKETCH = "resume"
WORD = 7
"""Characters that a word takes, with the space behind it."""
TOLD = Filters(tiers=frozenset({Tier.CLEAR, Tier.SENSITIVE}))
"""What is confidential stands in no document that goes into every prompt."""


def resumed(
    caller: CallerContext, budget: int | None, form: str, scope: Scope | None, workspace: str
) -> Resume:
    """What a session that starts cold should know. Counts as no use of anything."""
    settings = caller.tools.config.context
    if form not in FORMS:
        raise UnknownValue("form", form, FORMS)
    screen.name("workspace", workspace)
    view = View(caller.at(scope), in_force(TOLD, caller.tools.clock.now()))
    if budget is None:
        room = room_for(caller.tools.store.memories.count(View(view.access, Filters())), settings)
        room = int(room * COMPACT_SHARE) if form == "compact" else room
    else:
        room = whole("budget", budget, 200, 10_000_000)

    def shorten(key: str, memories: Sequence[Memory], room: int) -> tuple[str, str] | None:
        section, _, digest = key.partition(":")
        return _shortened(caller, view.access.scope, f"{section}:{form}", digest, memories, room)

    found = resume(ResumeRequest(view, room, form, workspace), caller.tools, shorten)
    caller.gate.shown(_lines(found.sections))
    return found


def packed(
    caller: CallerContext, message: str, tasks: Sequence[str], scope: Scope | None, workspace: str
) -> RecallPack:
    """The document for the start of a session, and what the first message calls for."""
    screen.name("workspace", workspace)
    said = screen.readable("message", message)[:MESSAGE_LIMIT]
    view = View(caller.at(scope), in_force(TOLD, caller.tools.clock.now()))

    def told(memory: Memory) -> bool:
        """Whether a memory that comes from elsewhere may stand here."""
        seen = view.access.may_read(memory.scope) and memory.tier in TOLD.tiers
        return seen and in_workspace(memory, workspace)

    asked = packing.PackRequest(
        view=view,
        tasks=_tasks(tasks),
        message=said,
        workspace=workspace,
        loops=tuple(one for one in loops(caller.tools, view.access, closed=False) if told(one)),
        conflicts=tuple(
            (conflict.a, conflict.b)
            for conflict in Conflicts(caller).list(CONFLICTS_LIMIT)
            if told(conflict.a) and told(conflict.b)
        ),
        triggers=tuple(matching_triggers(said, caller.tools.store.triggers.known(view.access))),
    )
    pack = packing.build_pack(asked, caller.tools)
    caller.gate.shown(_lines(pack.sections))
    return pack


def _lines(sections: Sequence[BriefSection]) -> tuple[str, ...]:
    """The words of each line, without its id and its day: who repeats them has nothing new to say."""
    lines = (line for section in sections for line in section.text.splitlines() if line.startswith("- "))
    return tuple(_MARK.sub("", line) for line in lines)


_MARK = re.compile(r"^- (?:\[[\w-]+\] )?(?:\(\d{4}-\d\d-\d\d\) )?")


def _tasks(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType("tasks", given, "a list of texts")
    return tuple(screen.readable("tasks", one)[:MESSAGE_LIMIT] for one in given)[:TASKS_LIMIT]


def _shortened(
    caller: CallerContext, scope: Scope, place: str, digest: str, memories: Sequence[Memory], room: int
) -> tuple[str, str] | None:
    """Shorter words for a section, and whether they were `cached` or are by a `model`; None without either.

    The last summary of each section is kept until its memories change; erasing one of them erases it too.
    """
    tools = caller.tools
    known = tools.store.upkeep.sketch(scope, SKETCH, place)
    if known is not None and known.body.get("digest") == digest:
        return str(known.body["text"]), "cached"
    text = _within(tools.advisor.summarize([memory.content for memory in memories], room // WORD) or "", room)
    if not text:
        return None
    body, ids = {"digest": digest, "text": text}, tuple(memory.id for memory in memories)
    sketch = Sketch(scope, SKETCH, place, body, tools.clock.now(), sources=ids)
    tools.store.write_later(lambda unit: unit.upkeep.sketch(sketch), caller.actor)
    return text, "model"


def _within(text: str, room: int) -> str:
    """As many whole sentences as fit."""
    kept = ""
    for sentence in sentences(one_line(text)):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > room:
            break
        kept = longer
    return kept
