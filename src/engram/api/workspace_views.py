"""Pages of a workspace that are made of memories taken together: pack, indexes, profiles, boxes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from engram.api.briefing import packed
from engram.api.caller import CallerContext
from engram.api.commitments import Triggers
from engram.api.gaps import Gaps
from engram.api.knowledge import Knowledge
from engram.errors import EngramError, WorkspaceError
from engram.lazily import dataclass
from engram.model.maintenance import Report
from engram.model.memory import Filters, Memory, Tier, in_force
from engram.model.scope import Access
from engram.model.session import Trigger
from engram.ports import View
from engram.text import re
from engram.workspace import folder, ledger
from engram.workspace import layouts as layout
from engram.workspace.layouts import FILES, LEDGER, FolderState, KnownFile, Setup, digest
from engram.workspace.text import FrontMatter, slug

CARDS = 200
"""Entities that have a page."""
ITEMS = 60
"""Statements on one page."""
BOXES = 200
_TIMES = re.compile(
    r'"(?:ts|last_run_ts|updated_at)": "[^"]*"|^\*Last updated:.*$|^updated: .*$|^## \d{4}-\d\d-\d\dT.*$',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page of list items: each is a memory, in a section."""

    path: str
    head: str
    """The page when it is made."""
    items: list[tuple[Memory, str]]


def ledger_pages(
    caller: CallerContext, setup: Setup, text: str, archived: str, events: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Indexes, checks and the pack, each with its path; `events` names the event of each memory."""
    now = caller.tools.here()
    active = ledger.events_in(text)
    loops = ledger.open_loops(active)
    at = ledger.checkpoint(active, now)
    yield layout.LOOPS_FILE, _json(loops)
    yield layout.CHECKPOINT_FILE, _json(at)
    checked = ledger.integrity(text, archived, loops, at)
    yield layout.INTEGRITY_FILE, _json(checked.as_json(now))
    told = [f"## {now.isoformat(timespec='seconds')}", f"- passed: {len(checked.passed)}"]
    told += [f"- FAILED {failure}" for failure in checked.failures]
    yield layout.INTEGRITY_LOG, "\n".join(told) + "\n"
    pack = _as_in_ledger(packed(caller, "", (), None, "").text, events)
    if checked.failures:
        pack += f"\n⚠️ The ledger's integrity check failed: {'; '.join(checked.failures[:3])}\n"
    if str(Tier.SENSITIVE) not in setup.tiers:
        pack = _without_sensitive(caller, pack)
    yield layout.PACK_FILE, pack if pack.endswith("\n") else f"{pack}\n"


HEADINGS = {
    "P0 constraints": "🔴 P0 CONSTRAINTS — Rules that must never be violated",
    "Mantra": "🎯 THE MANTRA — Core mission",
    "Open commitments": "📋 OPEN COMMITMENTS — Oldest first, with status and age",
    "Waiting on": "⏳ WAITING ON — External dependencies",
    "Today's focus": "🎯 TODAY'S FOCUS — Priority work for the day",
    "Context": "🧠 CONTEXT — Current projects, recent decisions",
    "Procedures": "📚 PROCEDURES — Key operational procedures",
    "Accounts": "🔑 ACCOUNTS — Quick reference account IDs",
}
"""The sections of the pack as people of this layout know them."""


def _as_in_ledger(pack: str, events: Mapping[str, str]) -> str:
    """The pack under the headings of this layout, with events for ids."""
    short = {one[:8]: event for one, event in events.items()}
    text = re.sub(r"^# Recall pack (\S+)", r"# Recall Pack — \1", pack)
    text = re.sub(
        r"^## (.*)$", lambda found: f"## {HEADINGS.get(found[1], found[1])}", text, flags=re.MULTILINE
    )
    return re.sub(r"\[([0-9a-z-]{8})\]", lambda found: f"[{short.get(found[1], found[1])}]", text)


def _without_sensitive(caller: CallerContext, pack: str) -> str:
    """A prompt may tell what is sensitive; a file that lies about may not."""
    view = View(caller.access, Filters(tiers=frozenset({Tier.SENSITIVE, Tier.CONFIDENTIAL})))
    secret = {
        " ".join(memory.content.split())[:40] for memory in caller.tools.store.memories.page(view, 1_000)
    }
    lines = [line for line in pack.split("\n") if not any(one in line for one in secret if one)]
    return "\n".join(lines)


def file_pages(caller: CallerContext, setup: Setup, access: Access) -> Iterator[tuple[str, str]]:
    """Boxes, topics, guidelines, questions and what was kept word for word, each with its path."""
    knowledge = Knowledge(caller)
    for box in knowledge.boxes(limit=BOXES):
        front = FrontMatter().with_values(
            {
                "id": f"box-{box.key}",
                "title": box.title,
                "openedAt": box.started.isoformat(),
                "sealedAt": box.ended.isoformat(),
                "traceId": box.trace or None,
                "topics": list(box.topics),
                "memoryIds": list(box.memories),
            }
        )
        told = [
            f"- {memory.content}"
            for memory in _memories(caller, box.memories, access)
            if str(memory.tier) in setup.tiers
        ]
        day = f"{box.started:%Y-%m-%d}"
        yield f"boxes/{day}/box-{slug(box.key)}.md", "\n".join([*front.lines, "", *told, ""])
    topics = {
        topic.topic: {"memories": topic.memories, "importance": topic.importance}
        for topic in knowledge.topics()
    }
    yield "state/topics.json", _json(topics)
    lines = knowledge.guidelines().lines
    if lines:
        yield (
            "state/compression-guidelines.md",
            "\n".join(["# Compression guidelines", "", *(f"- {line}" for line in lines), ""]),
        )
    gaps = Gaps(caller).list(limit=50)
    if gaps:
        asked = [f"- {gap.question}" for gap in gaps]
        yield "questions/open.md", "\n".join(["# Open questions", "", *asked, ""])
    yield from _artifacts(caller, setup, access)


def _artifacts(caller: CallerContext, setup: Setup, access: Access) -> Iterator[tuple[str, str]]:
    """Words that somebody wanted kept as they were said."""
    view = View(access, in_force(Filters(), caller.tools.clock.now()))
    for memory in caller.tools.store.memories.page(view, 1_000):
        words = memory.details.get("verbatim")
        if not isinstance(words, str) or not words.strip() or str(memory.tier) not in setup.tiers:
            continue
        front = FrontMatter().with_values(
            {
                "artifactType": memory.category,
                "created": memory.created_at.isoformat(),
                "sourceMemoryId": memory.id,
            }
        )
        name = f"quote-{memory.id.replace('-', '')[:12]}.md"
        yield f"state/artifacts/{memory.created_at:%Y-%m-%d}/{name}", "\n".join([*front.lines, "", words, ""])


def _memories(caller: CallerContext, ids: Iterable[str], access: Access) -> list[Memory]:
    memories = (caller.tools.store.memories.get(memory_id, access) for memory_id in ids)
    return [memory for memory in memories if memory is not None]


# ---------------------------------------------------------------- pages of items


def item_pages(caller: CallerContext, setup: Setup, access: Access) -> Iterator[ItemPage]:
    """Pages of people and things, and of the user, whose items are memories."""
    day = caller.tools.here().date().isoformat()
    knowledge = Knowledge(caller)
    for card in knowledge.cards(limit=CARDS):
        entity = caller.tools.store.entities.get(card.name, access)
        if entity is None:
            continue
        view = View(access, in_force(Filters(), caller.tools.clock.now()))
        memories = [one for _, one in caller.tools.store.entities.memories(entity, view, ITEMS)]
        told = sorted(memories, key=lambda one: (-one.importance, one.created_at, one.id))
        safe = card.text if all(str(memory.tier) in setup.tiers for memory in memories) else ""
        for kept in setup.layouts:
            path = layout.entity_page(kept, card.name, card.type)
            head = layout.entity_head(kept, card.name, card.type, safe, day, card.aliases)
            yield ItemPage(path, head, [(one, _section(one, kept)) for one in told])
    if FILES in setup.layouts:
        yield from _own_pages(caller, knowledge, access)


def _section(memory: Memory, kept: str) -> str:
    if memory.category == "relationship":
        return "Relationships" if kept == LEDGER else "Connected to"
    return "Key Facts" if kept == LEDGER else "Facts"


def _own_pages(caller: CallerContext, knowledge: Knowledge, access: Access) -> Iterator[ItemPage]:
    by_id = {trait.memory: trait.section for trait in knowledge.profile().traits}
    traits = [(memory, by_id[memory.id].capitalize()) for memory in _memories(caller, by_id, access)]
    day = caller.tools.here().date().isoformat()
    yield ItemPage("profile.md", f"# Behavioral Profile\n\n*Last updated: {day}*\n", traits)
    about = [(memory, "Reflections") for memory, section in traits if section in ("Identity", "Principles")]
    yield ItemPage("IDENTITY.md", "# Identity\n", about)


# ---------------------------------------------------------------- triggers


def read_triggers(caller: CallerContext, root: Path, setup: Setup, state: FolderState) -> None:
    """`recall/triggers.json`: what a person changed there holds; otherwise it tells what the memory has."""
    if LEDGER not in setup.layouts:
        return
    triggers = Triggers(caller)
    path = layout.TRIGGERS_FILE
    file = state.files.get(path)
    data: Any = {}
    stamp = folder.stamp(root, path)
    if stamp is not None:
        try:
            data = json.loads(folder.read(root, path)[0])
        except (ValueError, WorkspaceError):
            return  # it is damaged: whoever wrote it will want to look at it
        if not isinstance(data, dict):
            return
        told = data.get("triggers")
        if file is None or file.stamp != stamp:
            take_triggers(triggers, told if isinstance(told, list) else [], may_remove=file is not None)
    fresh = {**data, "triggers": _written(triggers.list(), data.get("triggers"))}
    if not fresh["triggers"] and stamp is None:
        return
    text = _json(fresh)
    if stamp is None or fresh != data:
        stamp = folder.write(root, path, text, stamp) or stamp
    state.files[path] = KnownFile("", stamp, {}, digest(text))


def take_triggers(triggers: Triggers, told: list[Any], *, may_remove: bool) -> None:
    """Keep the triggers that a file tells; with `may_remove` those it no longer tells go."""
    there = {frozenset(word.lower() for word in trigger.words): trigger for trigger in triggers.list()}
    wanted = {words: one for words, one in _by_words(told).items() if isinstance(one.get("load"), list)}
    for words, one in wanted.items():
        pages = [_page(str(page)) for page in one["load"]]
        with suppress(EngramError):
            if words not in there:
                triggers.add([str(word) for word in one["patterns"]], pages)
            elif tuple(pages) != there[words].pages:
                triggers.update(there[words].id, pages=pages)
    for words, trigger in there.items():
        if may_remove and words not in wanted:
            with suppress(EngramError):
                triggers.remove(trigger.id)


def _by_words(told: Any) -> dict[frozenset[str], Mapping[str, Any]]:
    """The triggers that a file tells, by their words; what is none is passed over."""
    rows = (one for one in (told if isinstance(told, list) else ()) if isinstance(one, Mapping))
    listed = (one for one in rows if isinstance(one.get("patterns"), list))
    return {frozenset(str(word).lower() for word in one["patterns"]): one for one in listed}


def _page(path: str) -> str:
    """What a file of the folder is here: the page about somebody is the entity.

    >>> _page("knowledge/entities/dress-like-mommy.md"), _page("tag:billing")
    ('entity:dress like mommy', 'tag:billing')
    """
    if not path.endswith(".md"):
        return path
    stem = Path(path).stem.replace("-", " ")
    if "/entities/" in path:
        return f"entity:{stem}"
    return f"origin:file:{path}" if "/" not in path else f"tag:{Path(path).stem[:32]}"


def _written(triggers: list[Trigger], told: Any) -> list[dict[str, Any]]:
    before = _by_words(told)
    lines = []
    for trigger in triggers:
        own = {"patterns": list(trigger.words), "load": [_path(page) for page in trigger.pages]}
        kept = before.get(frozenset(word.lower() for word in trigger.words))
        lines.append(dict(kept) if kept else own)
    return lines


def _path(page: str) -> str:
    kind, _, name = page.partition(":")
    return f"knowledge/entities/{slug(name)}.md" if kind == "entity" else page


# ---------------------------------------------------------------- reports and small files


def report_page(report: Report) -> str:
    """A consolidation as a section of the day's report."""
    lines = [f"## {report.run.id} ({report.run.kind.value})", ""]
    if report.run.finished_at is not None:
        lines.append(f"*Finished: {report.run.finished_at.isoformat(timespec='seconds')}*")
    lines += [f"- {tally.rule}: {tally.count}" for tally in report.tallies] or ["- nothing to do"]
    decisions = [decision for decision in report.decided if decision.why][:50]
    if decisions:
        lines += ["", "### Decisions", *(f"- {decision.rule}: {decision.why}" for decision in decisions)]
    return "\n".join([*lines, ""])


def append_report(root: Path, path: str, section: str, day: str) -> None:
    """Add a run to the report of its day; a run that is told already is not told twice."""
    stamp = folder.stamp(root, path)
    there = folder.read(root, path)[0] if stamp is not None else f"# Consolidation report {day}\n\n"
    if section.split("\n", 1)[0] not in there:
        folder.write(root, path, f"{there.rstrip()}\n\n{section}", stamp)


def log_with(here: str, entry: str) -> str:
    """The log with an entry more, unless it says the same as the last."""
    last = here.rstrip().rpartition("\n## ")[2].partition("\n")[2]
    if last.strip() == entry.partition("\n")[2].strip():
        return here
    return f"{here.rstrip()}\n\n{entry}".lstrip() if here.strip() else f"# Integrity log\n\n{entry}"


def json_with(here: str, text: str) -> str:
    """The fresh values, and keys that somebody added to the former."""
    fresh = json.loads(text)
    try:
        before = json.loads(here)
    except ValueError:
        return text
    if isinstance(fresh, dict) and isinstance(before, dict):
        return _json({**{k: v for k, v in before.items() if k not in fresh}, **fresh})
    if isinstance(before, dict) and isinstance(fresh, list) and "open_commitments" in before:
        return _json({**before, "open_commitments": fresh})
    return text


def same_but_time(one: str, two: str) -> bool:
    """Whether two texts differ in nothing but when they were written."""
    return _TIMES.sub("", one) == _TIMES.sub("", two)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
