"""The recall pack: a deterministic document for the start of a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from math import ceil
from typing import Any

from engram.context.budget import doubt_mark, forms_telling, one_line, short_id
from engram.context.build import NOTE, DocumentItem, DocumentSection, Layout
from engram.context.resume import in_workspace, narrowed
from engram.lazily import dataclass
from engram.model.clock import written_moment
from engram.model.context import BriefSection, RecallPack
from engram.model.memory import Layer, Memory, Priority, Status
from engram.model.session import Commitment, LoopState, Trigger
from engram.ports import Tools, View
from engram.rules.commitments import CATEGORY as COMMITMENT
from engram.rules.commitments import last_day, loop, state_of
from engram.rules.injection import may_enter_prompts
from engram.text import re
from engram.text.words import PAIRED, content_words, terms

BUFFER_WORDS = 330  # words for whatever needs more (ledger)

# ---------------------------------------------------------------- build
# The recall pack: what may stand in it comes in; one document of bounded length goes out.
#
# The same memories on the same day give the same bytes, in whatever order they were stored. What always
# holds (P0) is told whole, however much it is; everything else keeps to the words of its section.


@dataclass(frozen=True, slots=True)
class PackRequest:
    """What a caller wants of a pack, and what others have found for it."""

    view: View
    tasks: tuple[str, ...] = ()
    """What is to be done today, in words."""
    message: str = ""
    workspace: str = ""
    loops: tuple[Memory, ...] = ()
    """Open commitments, oldest first."""
    conflicts: tuple[tuple[Memory, Memory], ...] = ()
    triggers: tuple[tuple[Trigger, str], ...] = ()
    """Those that the message sets off, each with the word that did."""


def build_pack(request: PackRequest, tools: Tools) -> RecallPack:
    """The document."""
    now, most = tools.here(), tools.config.context.pack_words
    head = f"# Recall pack {now:%Y-%m-%d}\n{NOTE}"
    wanted = pack_sections(gather(request.view, request.workspace, now, tools), request, now)
    laid_out, free = _laid_out(wanted, words_in(head), most)
    pages = _pages(request, laid_out, free, now, tools)
    filled = [section for section in (*laid_out, *pages) if section.text]
    text = "\n\n".join((head, *(section.text for section in filled))) + "\n"
    triggered = tuple(trigger.id for trigger, _ in request.triggers)
    return RecallPack(text, (*laid_out, *pages), words_in(text), most, f"{now:%Y-%m-%d}", triggered)


def _laid_out(wanted: Sequence[DocumentSection], head: int, most: int) -> tuple[list[BriefSection], int]:
    """The sections within their words, and the words that are left.

    When all of them together may have more than the whole, they shrink alike.
    """
    total = sum(section.room for section in wanted) + BUFFER_WORDS
    if total > most:
        share = most / total
        wanted = [replace(section, room=int(section.room * share)) for section in wanted]
    free = max(0, most - head - sum(section.room for section in wanted))
    buffer = min(free, BUFFER_WORDS)
    laid_out, rest = lay_out(wanted, buffer)
    return laid_out, rest + free - buffer


def _pages(
    request: PackRequest, laid_out: Sequence[BriefSection], room: int, now: datetime, tools: Tools
) -> list[BriefSection]:
    """What triggers load, in the words that are left."""
    told_ids = {id_ for section in laid_out for id_ in section.ids}
    pages = list(dict.fromkeys(page for trigger, _ in request.triggers for page in trigger.pages))
    memories = [memory for memory in load_pages(pages, request.view, now, tools) if memory.id not in told_ids]
    if not memories:
        return []
    today = now.date()
    items = tuple(memory_item(memory, stale_mark(memory, today)) for memory in memories)
    words = ", ".join(dict.fromkeys(one_line(word) for _, word in request.triggers))
    return [LAYOUT.lay_out(DocumentSection("pages", f"## Loaded for: {words}", items), room)]


# ---------------------------------------------------------------- triggers
# Triggers: a message comes in; the triggers whose words it holds come out. Pure rules.
#
# A word is found in any of its forms ("orders" by "order"), a phrase as its words in a row.


def matching_triggers(message: str, triggers: Iterable[Trigger]) -> list[tuple[Trigger, str]]:
    """Each trigger that the message sets off, with the first of its words that did; by its words.

    >>> from datetime import datetime
    >>> from engram.model.scope import Scope
    >>> shop = Trigger("t1", ("order", "supply chain"), ("entity:Acme",), Scope(), datetime(2026, 3, 2))
    >>> (
    ...     [word for _, word in matching_triggers("Where are my orders?", [shop])],
    ...     matching_triggers("in good order", [shop]) == [],
    ... )
    (['order'], False)
    """
    if not message.strip():
        return []
    stems, lower = terms(message), message.casefold()
    first_words = [
        (trigger, next((word for word in trigger.words if _is_said(word, stems, lower)), ""))
        for trigger in sorted(triggers, key=lambda trigger: (trigger.words, trigger.id))
    ]
    return [(trigger, word) for trigger, word in first_words if word]


def _is_said(word: str, stems: Sequence[str], lower: str) -> bool:
    """Whether a word or phrase is said: as it is written, or in other forms of its words."""
    written = word.casefold()
    bounds = (r"(?<!\w)", r"(?!\w)") if written.isascii() else ("", "")
    if re.search(re.escape(written).join(bounds), lower):
        return True
    wanted = terms(word) if written.isascii() else []
    length = len(wanted)
    return bool(wanted) and any(
        list(stems[start : start + length]) == wanted for start in range(len(stems) - length + 1)
    )


# ---------------------------------------------------------------- pack sections
# The sections of the pack: what was gathered comes in; every section with all that it would tell comes out.
#
# A memory stands in one section only: in the first that asks for it. Open loops that are due stand in today's
# focus as well, and those of priority P0 among the rules.

SECTIONS = (
    DocumentSection("rules", "## P0 constraints", room=200, whole=True),
    DocumentSection("mantra", "## Mantra", room=20),
    DocumentSection("commitments", "## Open commitments", room=500),
    DocumentSection("waiting", "## Waiting on", room=150),
    DocumentSection("focus", "## Today's focus", room=300),
    DocumentSection("context", "## Context", room=800),
    DocumentSection("procedures", "## Procedures", room=500),
    DocumentSection("accounts", "## Accounts", room=200),
)
"""In their order, with their words (ledger)."""
FOCUS_MOST = 5  # things in today's focus (ledger)
P2_DAYS = 90  # days after which P2 is left out (ledger)
P3_DAYS = 30  # days after which P3 is left out (ledger)
STALE_DAYS = 30  # days unchecked after which a fact is marked stale (ledger)
DROPPED_DAYS = 60  # days after which it is left out unless today's tasks need it (ledger)

# ---------------------------------------------------------------- rules
# The rules of the pack: a memory and the day come in; whether it is told, and with which mark, goes out.
#
# Ages are counted in whole days by the calendar, so that a pack is the same all day.

LASTING = frozenset(
    {"preference", "principle", "identity", "relationship", "procedure", "constraint", "instruction"}
)
"""Categories that do not go stale: preferences, principles, identities, relationships, procedures; and the
standing rules that constraints and instructions are."""
SHARED = 2
"""So many words in common with today's tasks make a memory one that they need."""
LINE_WORDS = 12
"""The words of a memory that is told on one line."""
BANDS = (2, 7, 30)
"""Days that part the last two days, the last week, the last month and what is older."""

_PAIRED = re.compile(f"[{PAIRED}]")


def words_in(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one.

    >>> words_in("- [7f3a91c2] I moved to Oslo"), words_in("我住在上海")
    (6, 3)
    """
    dense = len(_PAIRED.findall(text))
    return len(_PAIRED.sub(" ", text).split()) + ceil(dense / 2)


def age(memory: Memory, today: date) -> int:
    """Whole days since somebody last said or confirmed it.

    What came out of a conversation was said then; anything else when it was stored.
    """
    said_at = written_moment(memory.details.get("said_at"))
    said_on = (said_at or (memory.happened_at if memory.session else memory.local(memory.created_at))).date()
    again = [memory.local(memory.modified_at).date()] if memory.usage.repeated else []
    sure = [memory.local(memory.verified_at).date()] if memory.verified_at else []
    return max(0, (today - max([said_on, *again, *sure])).days)


def is_in_force(memory: Memory, now: datetime) -> bool:
    """Whether it is in force: not superseded, not ended, not expired."""
    return memory.status in {Status.ACTIVE, Status.CHALLENGED} and not memory.is_over(now)


def is_too_old(memory: Memory, today: date) -> bool:
    """Whether its priority keeps it out by now: P2 after 90 days, P3 after 30; P0 and P1 never."""
    limits = {Priority.P2: P2_DAYS, Priority.P3: P3_DAYS}
    return memory.priority in limits and age(memory, today) > limits[memory.priority]


def goes_stale(memory: Memory) -> bool:
    """Whether nobody may rely on it without a check from time to time."""
    return memory.category not in LASTING and memory.priority is not Priority.P0


def is_dropped(memory: Memory, today: date, tasks: Tasks) -> bool:
    """Whether it is left out: not checked for more than 60 days, and today's tasks do not need it."""
    old = goes_stale(memory) and age(memory, today) > DROPPED_DAYS
    return old and not tasks.need(memory)


class Tasks:
    """What is to be done today, in words. Made once for a pack; it never changes."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = content_words(" ".join(texts)) if any(text.strip() for text in texts) else frozenset()
        self._text = " ".join(texts).casefold()

    def need(self, memory: Memory) -> bool:
        """Whether a memory speaks of them: by a name that they name, or by two words in common.

        >>> at = datetime(2026, 3, 2)
        >>> one = Memory("1", "The staging server listens on port 8443", "h", at, at)
        >>> Tasks(["restart the staging server"]).need(one), Tasks(["buy a server"]).need(one)
        (True, False)
        """
        if not self._words:
            return False
        names = "|".join(re.escape(name.casefold()) for name in memory.entities if name)
        named = bool(names) and re.search(rf"(?<!\w)(?:{names})(?!\w)", self._text) is not None
        return named or len(self._words & content_words(memory.content)) >= SHARED


def band(days: int) -> int:
    """How recent: 0 the last two days, 1 the last week, 2 the last month, 3 older.

    >>> [band(days) for days in (0, 2, 3, 7, 8, 30, 31)]
    [0, 0, 1, 1, 2, 2, 3]
    """
    return next((index for index, limit in enumerate(BANDS) if days <= limit), len(BANDS))


def by_recency(memory: Memory, today: date) -> tuple[object, ...]:
    """The order of the context: the recent first, then by priority and importance."""
    days = age(memory, today)
    return (band(days), memory.priority, -memory.importance, days, memory.content, memory.id)


# ---------------------------------------------------------------- layout
# What each section may tell comes in; its text within its words comes out.
#
# Sections are filled in order. One that needs more takes from the buffer. What must be whole takes, beyond
# the buffer, from the last sections first.

LAYOUT = Layout(words_in, sure=3, more="- and {count} more")


def lay_out(sections: Sequence[DocumentSection], buffer: int) -> tuple[list[BriefSection], int]:
    """The sections that have something to tell, and what is left of the words of all of them."""
    budgets, left = _with_debts(sections, buffer)
    filled: list[BriefSection] = []
    spare = 0
    for section, budget in zip(sections, budgets, strict=True):
        size = LAYOUT.size(section)
        laid_out = LAYOUT.lay_out(section, size if section.whole or size <= budget else budget + left)
        laid_out = replace(laid_out, limit=budget)
        if not section.whole:
            left -= max(0, laid_out.size - budget)
        spare += max(0, budget - laid_out.size)
        if laid_out.text or laid_out.left_out:
            filled.append(laid_out)
    return filled, left + spare


def _with_debts(sections: Sequence[DocumentSection], buffer: int) -> tuple[list[int], int]:
    """The budgets, less what the sections that must be whole take beyond theirs: first of the buffer."""
    budgets = [section.room for section in sections]
    debt = sum(max(0, LAYOUT.size(section) - section.room) for section in sections if section.whole)
    paid = min(debt, buffer)
    debt -= paid
    for index in range(len(sections) - 1, -1, -1):
        if not sections[index].whole:
            cut = min(debt, budgets[index])
            budgets[index] -= cut
            debt -= cut
    return budgets, buffer - paid


# ---------------------------------------------------------------- lines
# Lines of the pack: a memory or an open loop comes in; its line at falling length comes out.


def memory_item(memory: Memory, mark: str = "") -> DocumentItem:
    """A memory by its id and words, with what a reader must be warned of."""
    return _item(memory, f"{doubt_mark(memory)}{mark}")


def _item(memory: Memory, mark: str, lead: str = "") -> DocumentItem:
    lines = (f"- [{short_id(memory)}] {lead}{words}{mark}" for words in forms_telling(memory))
    return DocumentItem((memory.id,), tuple(lines))


def bare_item(memory: Memory) -> DocumentItem:
    """Its words alone; at the shortest the first of them."""
    forms = [*forms_telling(memory)]
    words = forms[-1].split()
    forms += [" ".join(words[:LINE_WORDS]) + " …"] if len(words) > LINE_WORDS else []
    return DocumentItem((memory.id,), tuple(f"- {form}" for form in forms))


def stale_mark(memory: Memory, today: date) -> str:
    """Says that nobody has checked a memory for long."""
    days = age(memory, today)
    return f" (stale: {days} days unchecked)" if goes_stale(memory) and days > STALE_DAYS else ""


def conflict_item(*pair: Memory) -> DocumentItem:
    """Two memories that cannot both be true, on one line."""
    first, second = sorted(pair, key=lambda memory: (memory.happened_at, memory.content, memory.id))
    pairs = zip(_padded(first), _padded(second), strict=True)
    lines = (f"- CONFLICT, unsettled: [{short_id(first)}] {a} / [{short_id(second)}] {b}" for a, b in pairs)
    return DocumentItem((first.id, second.id), tuple(dict.fromkeys(lines)))


def _padded(memory: Memory) -> tuple[str, ...]:
    """Three forms: the shortest again where there are fewer."""
    forms = forms_telling(memory)
    return (*forms, *(forms[-1:] * (3 - len(forms))))


def _loop_item(loop: Commitment, memory: Memory, today: date) -> DocumentItem:
    """An open commitment: for whom it waits, how old it is and when it is due."""
    days = "1 day" if loop.age_days == 1 else f"{loop.age_days} days"
    whom = f"{one_line(loop.waiting_on) or 'somebody'}: " if loop.state is LoopState.WAITING else ""
    return _item(memory, f" ({days}{_due(loop, today)})", whom)


def _due_item(loop: Commitment, memory: Memory, today: date) -> DocumentItem:
    return _item(memory, f" ({_due(loop, today).lstrip(', ')})")


def _due(loop: Commitment, today: date) -> str:
    if loop.due is None:
        return ""
    day = last_day(loop.due)
    if day < today and loop.state is not LoopState.DONE:
        return f", overdue since {day}"
    return ", due today" if day == today else f", due {day}"


# ---------------------------------------------------------------- gather
# Gathering for the pack: who asks comes in; the memories that may stand in it come out.
#
# Every question to the store has a limit and is answered by an index: how large the file is hardly matters.
# What comes out is sorted by what memories say, never by how they were stored.

FIRST = 1_000
"""What always holds is read up to so many."""
LATEST = 400
CORE = 200
OF_A_KIND = 60
MANTRA_TAGS = frozenset({"mantra", "mission"})
FOCUS_TAGS = frozenset({"today", "focus"})
ACCOUNT_TAGS = frozenset({"account", "accounts"})
ACCOUNTS = frozenset({"account"})
PROCEDURES = frozenset({"procedure"})
STANDING = frozenset({"project", "principle", "instruction", "relationship"})
"""Categories that belong into the context however long ago they were told."""


def gather(view: View, workspace: str, now: datetime, tools: Tools) -> dict[str, list[Memory]]:
    """Everything that holds now and belongs to the workspace, part by part; it may be in several."""

    def page(limit: int, **filters: Any) -> list[Memory]:
        return _fitting(tools.store.memories.page(narrowed(view, **filters), limit), workspace, now)

    return {
        "rules": [
            memory
            for memory in page(FIRST, priorities=frozenset({Priority.P0}))
            if memory.category != COMMITMENT or state_of(memory).is_open
        ],
        "mantra": page(OF_A_KIND, tags_any=MANTRA_TAGS),
        "focus": page(OF_A_KIND, tags_any=FOCUS_TAGS),
        "context": _each_once(
            [memory for memory in page(LATEST) if memory.category not in {COMMITMENT, "question"}],
            page(CORE, layers=frozenset({Layer.CORE})),
            page(OF_A_KIND, categories=STANDING),
        ),
        "procedures": page(OF_A_KIND, categories=PROCEDURES),
        "accounts": _each_once(page(OF_A_KIND, categories=ACCOUNTS), page(OF_A_KIND, tags_any=ACCOUNT_TAGS)),
    }


def load_pages(pages: Sequence[str], view: View, now: datetime, tools: Tools) -> list[Memory]:
    """The memories of knowledge pages, page by page, the newest of each first."""
    memories: list[Memory] = []
    for page in pages:
        kind, _, name = page.partition(":")
        filters: dict[str, Any] = {_FILTERS[kind]: name if kind == "origin" else frozenset({name})}
        memories += sorted(
            _fitting(tools.store.memories.page(narrowed(view, **filters), OF_A_KIND), "", now),
            key=lambda memory: (-memory.happened_at.timestamp(), memory.content, memory.id),
        )
    return list({memory.id: memory for memory in memories}.values())


_FILTERS: Mapping[str, str] = {
    "entity": "entities", "tag": "tags_any", "category": "categories", "memory": "ids",
    "origin": "origin_prefix",
}  # fmt: skip


def _fitting(memories: Iterable[Memory], workspace: str, now: datetime) -> list[Memory]:
    current = (memory for memory in memories if is_in_force(memory, now))
    return [memory for memory in current if in_workspace(memory, workspace) and may_enter_prompts(memory)]


def _each_once(*lists: Sequence[Memory]) -> list[Memory]:
    return list({memory.id: memory for memories in lists for memory in memories}.values())


CONTEXT = 300
"""More memories than that find no room in the context, however short."""
SOON = 7
"""Days ahead in which a commitment is due soon."""
LATE = 30
"""Days after which one that is overdue is nothing for today: it stays among the commitments."""

Pair = tuple[Memory, Memory]
Loop = tuple[Commitment, Memory]


def pack_sections(
    parts: Mapping[str, list[Memory]], request: PackRequest, now: datetime
) -> list[DocumentSection]:
    """Every section in its order. What two of them ask for stands in the one that is filled first here."""
    day = now.date()
    loops = [(loop(memory, now), memory) for memory in request.loops if may_enter_prompts(memory)]
    coming = _due_soon(loops, day)
    choice = _Choice(request, day, [entry[1].content for entry in coming if _is_due(entry, day)])

    def by_weight(memory: Memory) -> tuple[object, ...]:
        return (not memory.pinned, -memory.importance, memory.content, memory.id)

    weighed = {name: sorted(memories, key=by_weight) for name, memories in parts.items()}
    items = {
        "rules": choice.lines(weighed["rules"]),  # all of them, whatever their age
        "mantra": tuple(map(bare_item, choice.fit(weighed["mantra"])[:1])),
        "focus": _focus(parts["focus"], coming, request.tasks, day, choice)[:FOCUS_MOST],
        "accounts": choice.items(weighed["accounts"]),
        "procedures": choice.items(weighed["procedures"]),
        "context": choice.disputes(request.conflicts),
        "commitments": tuple(_loop_item(*each, day) for each in loops if each[0].state is LoopState.OPEN),
        "waiting": tuple(_loop_item(*each, day) for each in loops if each[0].state is LoopState.WAITING),
    }
    recent = choice.fit(sorted(parts["context"], key=lambda memory: by_recency(memory, day)))
    items["context"] += choice.lines(recent[:CONTEXT])
    return [replace(section, items=items[section.name]) for section in SECTIONS]


class _Choice:
    """Which memories are in the pack already and which may still come. Lives for one pack, in one thread."""

    def __init__(self, request: PackRequest, day: date, due: Sequence[str]) -> None:
        self._day = day
        self._tasks = Tasks([*request.tasks, request.message, *due])
        opponents: dict[str, set[str]] = {}
        for memory, other in request.conflicts:
            opponents.setdefault(memory.id, set()).add(other.id)
            opponents.setdefault(other.id, set()).add(memory.id)
        self._marks = {id_: f" (conflict with [{min(others)[:8]}])" for id_, others in opponents.items()}
        self._told_ids = {memory.id for memory in request.loops}

    def items(self, memories: Iterable[Memory]) -> tuple[DocumentItem, ...]:
        """Lines of those that fit."""
        return self.lines(self.fit(memories))

    def fit(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that are not in the pack yet and not too old; they count as in it from now on."""
        fitting = [
            memory
            for memory in memories
            if memory.id not in self._told_ids
            and not is_too_old(memory, self._day)
            and not is_dropped(memory, self._day, self._tasks)
        ]
        self._told_ids.update(memory.id for memory in fitting)
        return fitting

    def disputes(self, pairs: Iterable[Pair]) -> tuple[DocumentItem, ...]:
        """Both sides of each conflict that is not too old to matter."""
        fresh = [
            pair
            for pair in pairs
            if not any(is_too_old(memory, self._day) or not may_enter_prompts(memory) for memory in pair)
        ]
        items = tuple(sorted({conflict_item(*pair) for pair in fresh}, key=lambda item: item.lines))
        self._told_ids.update(id_ for item in items for id_ in item.ids)
        return items

    def lines(self, memories: Iterable[Memory]) -> tuple[DocumentItem, ...]:
        """Each with its marks; they count as in the pack from now on."""
        items = []
        for memory in memories:
            self._told_ids.add(memory.id)
            mark = self._marks.get(memory.id, "") + stale_mark(memory, self._day)
            items.append(memory_item(memory, mark))
        return tuple(items)


def _focus(
    tagged: Iterable[Memory], coming: Sequence[Loop], tasks: Sequence[str], day: date, choice: _Choice
) -> tuple[DocumentItem, ...]:
    """Today's tasks, what is due, what was marked for today, and then what is due soon."""
    marked = [memory for memory in tagged if "focus" in memory.tags or age(memory, day) == 0]
    return (
        *(DocumentItem((), (f"- {one_line(task)}",)) for task in tasks if task.strip()),
        *(_due_item(*entry, day) for entry in coming if _is_due(entry, day)),
        *choice.items(sorted(marked, key=lambda entry: by_recency(entry, day))),
        *(_due_item(*entry, day) for entry in coming if not _is_due(entry, day)),
    )


def _due_soon(loops: Sequence[Loop], day: date) -> list[Loop]:
    """Open commitments that are due within a week, or have been not long ago; the most urgent first."""
    since, until = day - timedelta(days=LATE), day + timedelta(days=SOON)
    dated = [(loop_.due, memory.content, memory.id, (loop_, memory)) for loop_, memory in loops if loop_.due]
    dated.sort(key=lambda row: row[:3])
    return [entry for due, _, _, entry in dated if since <= last_day(due) <= until]


def _is_due(entry: Loop, day: date) -> bool:
    return entry[0].due is not None and last_day(entry[0].due) <= day
