"""Gaps: what is not known and would be good to know. `memory.gaps` lists, asks, takes answers and lets be.

Maintenance finds them. Asking is rare: at most two questions a session, each once a week; an answer is
remembered, and its gap closes for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from engram.api.caller import PAGE_LIMIT, CallerContext, Noun, whole
from engram.api.commitments import Commitments
from engram.capture import change
from engram.errors import InvalidInput
from engram.model.capture import Draft
from engram.model.maintenance import Judgement, Sketch
from engram.model.memory import Memory, Tier
from engram.model.plain import value_from
from engram.model.recall import Question
from engram.model.scope import Access, Role, Scope
from engram.model.session import Gap
from engram.ports import Unit
from engram.rules import screen
from engram.rules.commitments import due_in
from engram.rules.doubt import CONFLICT, DUE, GAP, IN_VAIN, STALE, asked_about
from engram.rules.sensitivity import tier_of
from engram.session import following
from engram.text import names
from engram.text import subquestions as wording

ASKED_AGAIN: Final = timedelta(days=7)
"""After so long the same question may be asked again (cortex)."""
ASKED = "clarify"
"""The kind of judgement that says when a gap was asked about."""
IN_SESSION = "clarify.session"
"""The kind that counts the questions of a session."""
SEEN = 1_000
NAMES = 3
"""Names of a question in vain that are counted."""
COUNTED = 200
"""Names of one place that are counted at most."""
NAMED = frozenset({"person", "project", "organization", "service", "unknown"})

Found = list[Gap]


class Gaps(Noun):
    """What is not known. Hangs on the facade; safe to use from many threads."""

    def list(self, *, limit: int = 50, scope: Scope | None = None) -> Found:
        """Open gaps, the weightiest first. Raises AccessDenied, InvalidInput."""
        gaps = opened(self._caller, self._caller.at(scope))
        return gaps[: whole("limit", limit, 1, PAGE_LIMIT)]

    def get(self, gap_id: str) -> Gap:
        """One open gap by its key or the beginning of it. Raises InvalidInput."""
        wanted = screen.readable("id", gap_id).strip().lower()
        fitting = [gap for gap in opened(self._caller, self._caller.access) if gap.key.startswith(wanted)]
        if len(fitting) != 1 or len(wanted) <= len("gap-"):
            raise InvalidInput(f"There is no open gap {gap_id[:60]!r}; `engram gaps` lists them.")
        return fitting[0]

    def ask(self, session: str = "", *, about: Sequence[str] = (), scope: Scope | None = None) -> Found:
        """The questions to ask now: at most two a session, each once a week; those about `about` first.

        What is given out counts as asked. Raises AccessDenied, InvalidInput.
        """
        screen.name("session", session)
        settings = self._tools.config.session
        place = self._caller.at(scope).scope
        gaps = of_place(self._caller, place)
        known = self._store.upkeep.judged(IN_SESSION, [session]) if session else {}
        chosen = following.choose_questions(
            gaps,
            about,
            (known[session].times if known else 0),
            lambda key: is_due(self._caller, key),
            settings.questions,
        )
        if chosen and self._caller.access.may_write(place):
            note_asked(self._caller, chosen, session)
        return chosen

    def answer(self, gap_id: str, text: str) -> Memory:
        """Remember the answer and close the gap. Returns the memory that holds it now.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        gap, said = self.get(gap_id), screen.content(text)
        self._caller.check_write(gap.scope)
        held = self._held(gap, said)
        self._close(gap, "answered")
        return held

    def dismiss(self, gap_id: str) -> Gap:
        """Close a gap without an answer: it is not asked about again. Raises AccessDenied, InvalidInput."""
        gap = self.get(gap_id)
        self._caller.check_write(gap.scope)
        self._close(gap, "dismissed")
        return gap

    # ------------------------------------------------------------ inside

    def _held(self, gap: Gap, said: str) -> Memory:
        """The answer where it belongs: in what it is about, or as a memory of its own."""
        caller = self._caller
        if gap.kind == DUE and due_in(said, caller.tools.clock.now()) is not None:
            loop = Commitments(caller).reopen(gap.memories[0], due=said, because="asked for")
            return caller.seen(loop.id)
        if gap.kind == STALE and wording.says_yes(said):
            return change.confirm(gap.memories[0], caller.tools, caller.actor, "asked for")
        return caller.write([_draft(gap, said, caller)])[0].memory

    def _close(self, gap: Gap, verdict: str) -> None:
        at = self._tools.clock.now()

        def work(unit: Unit) -> None:
            unit.upkeep.unsketch(gap.scope, GAP, gap.key)
            unit.upkeep.judge(Judgement(GAP, gap.key, verdict, at))

        self._store.write(work, self._caller.actor)


def opened(caller: CallerContext, access: Access) -> Found:
    """The open gaps of places that somebody sees, the weightiest first."""
    gaps = [
        value_from(Gap, sketch.body, key=sketch.key, scope=sketch.scope)
        for sketch in caller.tools.store.upkeep.sketches(GAP, access, SEEN)
    ]
    return sorted(gaps, key=lambda gap: (-gap.weight, gap.key))


def of_place(caller: CallerContext, scope: Scope) -> Found:
    """The open gaps that a conversation in a place may ask about: its own and those above, none beside."""
    return opened(caller, caller.at(scope, Role.AGENT))


def is_due(caller: CallerContext, key: str) -> bool:
    """Whether a gap has been left alone for long enough to be asked about."""
    judged = caller.tools.store.upkeep.judged(ASKED, [key]).get(key)
    return judged is None or judged.again_at is None or judged.again_at <= caller.tools.clock.now()


def note_asked(caller: CallerContext, gaps: Sequence[Gap], session: str) -> None:
    """Note which gaps are asked about now, and in which session."""
    at = caller.tools.clock.now()
    again = at + ASKED_AGAIN
    known = caller.tools.store.upkeep.judged(IN_SESSION, [session]) if session else {}
    times = len(gaps) + (known[session].times if known else 0)

    def work(unit: Unit) -> None:
        for gap in gaps:
            unit.upkeep.judge(Judgement(ASKED, gap.key, "asked", at, again))
        if session:
            unit.upkeep.judge(Judgement(IN_SESSION, session, "asked", at, None, times))

    caller.tools.store.write(work, caller.actor)


def note_in_vain(caller: CallerContext, question: Question) -> None:
    """Count the names of a question that found nothing. No other word of it is kept; it may be lost."""
    scope, text = question.access.scope, question.text
    if not caller.access.may_write(scope) or tier_of(text) is not Tier.CLEAR:
        return
    asked = [entity.name for entity in names.entities(text) if entity.type in NAMED][:NAMES]
    upkeep, now = caller.tools.store.upkeep, caller.tools.clock.now()
    if not asked:
        return
    known = {name: upkeep.sketch(scope, IN_VAIN, name.casefold()) for name in asked}
    fresh = [name for name, before in known.items() if before is None]
    if fresh and len(upkeep.sketches(IN_VAIN, Access(scope, Role.AGENT), COUNTED)) >= COUNTED:
        known = {name: before for name, before in known.items() if before is not None}
    sketches = []
    for name, before in known.items():
        times = 1 + (int(before.body["times"]) if before is not None else 0)
        body = {"name": name, "times": times, "last": now.isoformat()}
        sketches.append(Sketch(scope, IN_VAIN, name.casefold(), body, now))

    def work(unit: Unit) -> None:
        for sketch in sketches:
            unit.upkeep.sketch(sketch)

    caller.tools.store.write_later(work, caller.actor)


def forget_names(unit: Unit, memory_id: str, place: Scope) -> None:
    """What was asked in vain about names of a memory that is to be erased goes with it."""
    memory = unit.get(memory_id)
    for name in memory.entities if memory is not None else ():
        for scope in {place, memory.scope} if memory is not None else ():
            unit.upkeep.unsketch(scope, IN_VAIN, name.casefold())
            unit.upkeep.unsketch(scope, GAP, asked_about(name, 1, scope).key)


def _draft(gap: Gap, said: str, caller: CallerContext) -> Draft:
    """The answer as a statement that stands alone, with the fact it states where one was asked for."""
    entity = (
        caller.tools.store.entities.get(gap.about, caller.at(gap.scope, Role.AGENT)) if gap.about else None
    )
    forms = {one.what: one for one in wording.expected(entity.type)} if entity is not None else {}
    form = forms[gap.expects].statement if gap.expects in forms else "{name} is {answer}"
    words = wording.stated(said, "" if gap.kind in {DUE, STALE, CONFLICT} else gap.about, form)
    return Draft(words, scope=gap.scope, details={"answers": gap.key})
