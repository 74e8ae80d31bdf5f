"""Resume: who asks and how much room there is come in; what a session that starts cold should know goes out.

    gather each section ─▶ share the room ─▶ whole, or shorter: made before, by a model, or in shorter forms

Nothing is counted as a use, and the text never exceeds its room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engram.config import ContextConfig
from engram.context.budget import doubt_mark, forms_telling, one_line, short_id
from engram.context.build import NOTE, DocumentItem, DocumentSection, Layout, Shorter
from engram.errors import EmbedderError
from engram.lazily import dataclass
from engram.model.context import Resume
from engram.model.memory import Layer, Memory, Space, Tier
from engram.ports import Tools, View
from engram.rules.injection import may_enter_prompts
from engram.rules.vectors import Thresholds, thresholds

if TYPE_CHECKING:
    from engram.ports import Floats

PER_MEMORY = 16.0  # characters that each memory adds on the way there
CORE_RELEVANCE = 0.35  # nearness to what goes on that the core needs (layers)
WORKING_RELEVANCE = 0.20  # the same for what is being worked on (layers)
HIGH_GAIN = 0.25  # nearness that identity and constraints gain (layers)
LOW_GAIN = 0.10  # nearness that lessons, preferences and procedures gain (layers)
RECENT_DAYS = 14  # days that lately means


@dataclass(frozen=True, slots=True)
class ResumeSection:
    """A section: its heading, how many memories it takes, and how much of the room."""

    title: str
    most: int
    share: float = 1.0
    """What it takes of the room at most."""
    kept_free: float = 0.0
    """What those before it leave free for it."""


SECTIONS: Mapping[str, ResumeSection] = MappingProxyType(
    {
        "core": ResumeSection("What always matters", 20, share=0.45),  # both numbers: layers
        "sessions": ResumeSection("Earlier sessions", 10),
        "working": ResumeSection("What is being worked on", 40, kept_free=0.30),  # both: layers
        "recent": ResumeSection("Changed lately", 30, kept_free=0.20),  # the share: layers
        "buffer": ResumeSection("New", 40),
    }
)
"""In the order in which they are filled and shown."""


# ---------------------------------------------------------------- resume rules
# The rules of a resume: numbers about memories come in; what is told, and in how much room, goes out.

HIGH = frozenset({"identity", "constraint"})
HIGH_TAGS = HIGH | {"bootstrap"}
LOW = frozenset({"preference", "insight", "procedure"})
LOW_TAGS = frozenset({"lesson", "preference", "procedural"})
WORKSPACE_TAG = "workspace:"


def room_for(memories: int, settings: ContextConfig) -> int:
    """Characters of a resume: more as memory grows, between two limits.

    >>> [room_for(count, ContextConfig()) for count in (0, 1_000, 2_500, 4_000, 1_000_000)]
    [16000, 16000, 40000, 64000, 64000]
    """
    grown = int(memories * PER_MEMORY)
    return max(settings.resume_characters, min(settings.resume_most, grown))


def allot(wanted: Mapping[str, int], budget: int) -> dict[str, int]:
    """How much of a budget each section gets, in their order.

    The core is capped; what comes before working and recent leaves them their shares, as far as they want
    them; what a section leaves goes to those after it.

    >>> full = {"core": 900, "sessions": 900, "working": 900, "recent": 900, "buffer": 900}
    >>> allot(full, 1_000)
    {'core': 450, 'sessions': 50, 'working': 300, 'recent': 200, 'buffer': 0}
    >>> allot({"core": 100, "sessions": 900, "working": 0, "recent": 50, "buffer": 900}, 1_000)
    {'core': 100, 'sessions': 850, 'working': 0, 'recent': 50, 'buffer': 0}
    """
    floors = {name: min(wanted[name], int(budget * section.kept_free)) for name, section in SECTIONS.items()}
    rooms: dict[str, int] = {}
    free = budget
    for name, section in SECTIONS.items():
        del floors[name]
        most = min(wanted[name], int(budget * section.share), free - sum(floors.values()))
        rooms[name] = max(0, most)
        free -= rooms[name]
    return rooms


def relevance(cosine: float, space: Thresholds) -> float:
    """How near a memory is to recent activity: 0 as any other of its space, 1 as what says nearly the same.

    In the space of a common model 0.35 is a cosine of about 0.35; in others it is what means as much there.

    >>> from engram.rules.vectors import DEFAULT
    >>> [round(relevance(cosine, DEFAULT), 2) for cosine in (0.0, 0.1, 0.345, 0.8, 1.0)]
    [0.0, 0.0, 0.35, 1.0, 1.0]
    """
    return min(1.0, max(0.0, (cosine - space.noise_mean) / (space.strong - space.noise_mean)))


def category_gain(memory: Memory) -> float:
    """What a memory of the core gains for what it is."""
    if memory.category in HIGH or not HIGH_TAGS.isdisjoint(memory.tags):
        return HIGH_GAIN
    if memory.category in LOW or not LOW_TAGS.isdisjoint(memory.tags):
        return LOW_GAIN
    return 0.0


def choose(scored: Iterable[tuple[float, Memory]], floor: float, most: int) -> list[Memory]:
    """Those that are near enough, the nearest first; the same whatever order they came in."""
    near = [(score, memory) for score, memory in scored if round(score, 6) >= floor]
    near.sort(key=lambda pair: (-round(pair[0], 6), -pair[1].importance, pair[1].happened_at, pair[1].id))
    return [memory for _, memory in near[:most]]


def in_workspace(memory: Memory, workspace: str) -> bool:
    """Whether a memory belongs to a workspace: by its project, by a tag `workspace:…`, or to none at all.

    >>> from datetime import datetime
    >>> at = datetime(2026, 3, 2)
    >>> plain, web = Memory("1", "a", "h", at, at), Memory("2", "b", "h", at, at, tags=("workspace:web",))
    >>> in_workspace(plain, "web"), in_workspace(web, "web"), in_workspace(web, "api"), in_workspace(web, "")
    (True, True, False, True)
    """
    if not workspace:
        return True
    named = [tag.removeprefix(WORKSPACE_TAG) for tag in memory.tags if tag.startswith(WORKSPACE_TAG)]
    if named:
        return workspace in named
    return memory.scope.project in ("", workspace)


# ---------------------------------------------------------------- resume gather
# Gathering for a resume: who asks comes in; the memories of each section come out, best first.
#
# Everything is read in bounded pieces: the latest memories, the last lines of the ledger, and those of a
# layer that lie nearest to the middle of what goes on. Nothing is counted as a use.

LATEST = 400
"""So many of the newest memories are looked at."""
EVENTS = 300
"""So many of the last events."""
AROUND = 20
"""So many of each make up recent activity."""
WIDER = 4
"""So many times more are looked at when some will be left out by their workspace."""
SESSION = "session"


def gather(view: View, workspace: str, tools: Tools) -> dict[str, list[Memory]]:
    """What each section may tell. A memory stands in one section only."""
    latest = _of_workspace(tools.store.memories.page(view, LATEST), workspace)
    taken: set[str] = set()
    sessions = _take_fresh(_sessions(view, workspace, tools), taken, "sessions")
    changed = _changed(view, workspace, tools)
    new = [memory for memory in latest if memory.layer is Layer.BUFFER]
    middle = _middle((new[:AROUND], sessions, changed[:AROUND]), tools)
    core = _scored_near(view, Layer.CORE, middle, workspace, tools)
    working = _scored_near(view, Layer.WORKING, middle, workspace, tools)
    altered = [memory for memory in changed if memory.layer is not Layer.BUFFER or memory.version > 1]
    core_best = choose(core, _floor(middle, CORE_RELEVANCE), SECTIONS["core"].most)
    working_best = choose(working, _floor(middle, WORKING_RELEVANCE), SECTIONS["working"].most)
    return {
        "core": _take_fresh(core_best, taken, "core"),
        "sessions": sessions,
        "working": _take_fresh(working_best, taken, "working"),
        "recent": _take_fresh(altered, taken, "recent"),
        "buffer": _take_fresh(new, taken, "buffer"),
    }


def _floor(middle: tuple[Space, Floats] | None, floor: float) -> float:
    """Without recent activity or vectors nearness decides nothing."""
    return 0.0 if middle is None else floor


def _of_workspace(memories: Iterable[Memory], workspace: str) -> list[Memory]:
    return [memory for memory in memories if in_workspace(memory, workspace)]


def _take_fresh(memories: Iterable[Memory], taken: set[str], section: str) -> list[Memory]:
    """Those that no section has taken and that may enter a prompt; they are added to `taken`."""
    fit = (memory for memory in memories if memory.id not in taken and may_enter_prompts(memory))
    fresh = list(islice(fit, SECTIONS[section].most))
    taken.update(memory.id for memory in fresh)
    return fresh


def _sessions(view: View, workspace: str, tools: Tools) -> list[Memory]:
    """Notes that sessions left behind: their summaries, or what is tagged so; the newest first.

    What was merely said in a session is no note of it.
    """
    pages = (
        tools.store.memories.page(narrowed(view, **filters), LATEST // 4)
        for filters in ({"origin_prefix": f"{SESSION}:"}, {"tags_any": frozenset({SESSION})})
    )
    notes = {note.id: note for page in pages for note in _of_workspace(page, workspace)}
    return sorted(notes.values(), key=lambda note: (note.happened_at, note.id), reverse=True)


def _changed(view: View, workspace: str, tools: Tools) -> list[Memory]:
    """What has changed lately, the last change first."""
    since = tools.clock.now() - timedelta(days=RECENT_DAYS)
    events = tools.store.ledger.events(None, view.access, EVENTS)
    ids = list(dict.fromkeys(event.memory for event in events if event.at >= since))
    keys = tools.store.memories.keys(ids)
    allowed = tools.store.memories.allow(view, list(keys.values()))
    read = tools.store.memories.read(sorted(allowed))
    by_id = {memory.id: memory for memory in read.values()}
    return _of_workspace((by_id[id_] for id_ in ids if id_ in by_id), workspace)


def _middle(around: Sequence[Sequence[Memory]], tools: Tools) -> tuple[Space, Floats] | None:
    """The mean vector of recent activity; None without activity or vectors."""
    ids = list(dict.fromkeys(memory.id for memories in around for memory in memories))
    try:
        space = tools.embedder.space
    except EmbedderError:
        return None
    keys = sorted(tools.store.memories.keys(ids).values())
    stored = tools.store.vectors.rows(space, keys) if keys else None
    if stored is None or not len(stored.keys):
        return None
    from engram.rules.vectors import unit

    rows = unit(stored.rows.astype("float32"))
    vector: Floats = unit(rows.mean(axis=0))
    return (space, vector) if vector.any() else None


def _scored_near(
    view: View, layer: Layer, middle: tuple[Space, Floats] | None, workspace: str, tools: Tools
) -> list[tuple[float, Memory]]:
    """Memories of a layer with their scores; what a memory is counts only in the core.

    Each class that gains something is searched by itself: within a class the nearest by cosine are the
    nearest by score, so that the best of all classes together are the best there are.
    """
    gained = category_gain if layer is Layer.CORE else lambda _: 0.0
    most = max(section.most for section in SECTIONS.values()) * (WIDER if workspace else 1)
    layered = narrowed(view, layers=frozenset({layer}))
    if middle is None:
        page = tools.store.memories.page(layered, most)
        return [(gained(memory), memory) for memory in _of_workspace(page, workspace)]
    space = thresholds(middle[0].key)
    cosines: dict[int, float] = {}
    for filters in _CLASSES if layer is Layer.CORE else _CLASSES[:1]:
        cosines |= dict(tools.index.search(*middle, most, narrowed(layered, **filters)))
    read = tools.store.memories.read(sorted(cosines))
    return [
        (relevance(cosines[key], space) + gained(memory), memory)
        for key, memory in read.items()
        if in_workspace(memory, workspace)
    ]


_CLASSES: tuple[dict[str, Any], ...] = (
    {},
    {"categories": HIGH},
    {"tags_any": HIGH_TAGS},
    {"categories": LOW},
    {"tags_any": LOW_TAGS},
)


def narrowed(view: View, **filters: Any) -> View:
    """The same asker, and more conditions that all hold."""
    return View(view.access, replace(view.filters, **filters))


FORMS = ("full", "compact")
COMPACT = 120
"""A memory of so many characters is told whole even in the compact form."""
LEAST_FOR_A_MODEL = 200
"""In fewer characters a model cannot say more than shorter forms do."""
LAYOUT = Layout(lambda line: len(line) + 1)
"""It is measured in characters; each line begins with a line break."""

Shorten = Callable[[str, Sequence[Memory], int], tuple[str, str] | None]
"""A key, memories and the room: a summary of them and whether it is `cached` or by a `model`; or none."""


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """What a caller wants of a resume."""

    view: View
    budget: int
    form: str = "full"
    workspace: str = ""


def resume(request: ResumeRequest, tools: Tools, shorten: Shorten) -> Resume:
    """The document, section by section."""
    now = tools.here()
    head = f"# Resume {now:%Y-%m-%d}\n{NOTE}"
    gathered = gather(request.view, request.workspace, tools)
    wanted = {}
    for name, memories in gathered.items():
        items = tuple(DocumentItem((memory.id,), _lines(memory, request.form)) for memory in memories)
        wanted[name] = DocumentSection(name, f"\n## {SECTIONS[name].title}", items)
    sizes = {name: LAYOUT.size(section) for name, section in wanted.items()}
    rooms = allot(sizes, max(0, request.budget - len(head)))
    sections = [
        LAYOUT.lay_out(wanted[name], rooms[name], _summary(name, memories, shorten))
        for name, memories in gathered.items()
        if memories
    ]
    text = "\n".join((head, *(section.text for section in sections if section.text)))
    kept = tuple(section for section in sections if section.text or section.left_out)
    return Resume(text if len(text) <= request.budget else "", kept, request.budget, request.form, now)


def _lines(memory: Memory, form: str) -> tuple[str, ...]:
    """The lines that may tell a memory, the fullest first; the compact form begins with its key fact."""
    forms = forms_telling(memory)
    if form == "compact":
        short = len(forms[0]) <= COMPACT
        key = forms[0] if short else one_line(memory.forms.key_fact) or forms[-1]
        return tuple(f"- {words}" for words in forms if len(words) <= len(key)) or (f"- {key}",)
    mark = f"- [{short_id(memory)}] ({memory.happened_at:%Y-%m-%d}) "
    return tuple(f"{mark}{words}{doubt_mark(memory)}" for words in forms)


def _summary(name: str, memories: Sequence[Memory], shorten: Shorten) -> Shorter:
    """What makes a summary of a section where that may say more than shorter forms, and nothing is secret."""

    def summarise(room: int) -> tuple[str, str] | None:
        if room < LEAST_FOR_A_MODEL or any(memory.tier is not Tier.CLEAR for memory in memories):
            return None
        return shorten(f"{name}:{_digest(memories, room)}", memories, room - 1)

    return summarise


def _digest(memories: Sequence[Memory], room: int) -> str:
    """What a summary is known by: which memories it was made of, in which version, for how much room."""
    source = "\n".join(
        (str(room), *(f"{memory.id} {memory.version} {memory.content_hash}" for memory in memories))
    )
    return sha256(source.encode()).hexdigest()[:32]
