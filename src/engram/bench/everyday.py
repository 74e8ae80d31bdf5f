"""Everyday talk comes in, figures come out: what a memory makes of what people type over weeks.

A file has up to four parts. `updates`: words, later words, and what must come first then. `nothing`: what is
to leave no memory. `keep`: what is to be kept. `stories`: weeks of turns, the facts in them, and questions.
A text matches when each group of strings has one in it. Everything is said through `observe`, in a fresh
memory with a clock moved by hand for each case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from engram.config import Config
from engram.engine import Engram
from engram.ports import Embedder
from engram.testing import FakeClock

START = datetime.fromisoformat("2026-05-04T10:00:00+00:00")
SHOWN = 3
"""How many hits a person reads."""

Case = dict[str, Any]
Figures = dict[str, Any]
Groups = Sequence[Sequence[object]]
Tell = Callable[[bool, str, object], None]
"""Told of each thing examined: whether it is right, which case it belongs to, what was seen."""


class Listener(NamedTuple):
    """A fresh memory with a clock moved by hand."""

    memory: Engram
    clock: FakeClock

    def wait(self, until: str | None) -> None:
        """Let time pass until then; without a time a fortnight."""
        then = datetime.fromisoformat(until) if until else self.clock.now() + timedelta(days=14)
        self.clock.advance(seconds=max(0.0, (then - self.clock.now()).total_seconds()))

    def say(self, user: str | None, session: str = "a", assistant: str | None = None) -> None:
        """Tell it what was said just now."""
        self.memory.observe(user, assistant, session=session, time=self.clock.now())

    def kept(self, session: str = "a") -> list[str]:
        """What is left when the session has ended."""
        self.memory.flush(session)
        return [memory.content for memory in self.memory.list(limit=1_000)]

    def answers(self, question: str) -> list[str]:
        """What a person reads of each hit: its own words where it has some, and its memory's."""
        hits = self.memory.recall(question, limit=SHOWN, dry=True)
        texts = ((getattr(hit, "content", None), hit.memory.content) for hit in hits)
        return [" / ".join(dict.fromkeys(filter(None, parts))) for parts in texts]


class Everyday:
    """One run over a file: how memories are opened, what else they know, and who is told of what is wrong."""

    def __init__(self, data: Case, config: Config, embedder: Embedder, tell: Tell) -> None:
        self._data, self._config, self._embedder, self._tell = data, config, embedder, tell

    def examine(self, only: str | None = None) -> Figures:
        """The figures of each part of the file, language by language."""
        parts: dict[str, Callable[[Sequence[Case]], Figures]] = {
            "updates": self._updates,
            "nothing": partial(self._messages, name="nothing kept"),
            "keep": partial(self._messages, name="kept"),
            "stories": self._stories,
        }
        figures: Figures = {}
        for name, part in parts.items():
            cases = self._data.get(name) or [] if only in {None, name} else []
            for language in sorted({case.get("lang", "en") for case in cases}):
                of_it = [case for case in cases if case.get("lang", "en") == language]
                figures.setdefault(name, {})[language] = part(of_it)
        return figures

    def _updates(self, cases: Sequence[Case]) -> Figures:
        kinds: dict[str, list[bool]] = {}
        for case, listener in self.updates(cases):
            kinds.setdefault(case["kind"], []).append(self.holds(listener, case))
        return balanced(kinds)

    def updates(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Listener]]:
        """Each case with a memory to which it was told, among older and newer things it knows.

        So the newest is not right by being the newest.
        """
        for case in cases:
            with self._listener() as listener:
                memory, clock, fillers = listener.memory, listener.clock, self._others(case)
                memory.remember_many([{"content": text} for text in fillers[::2]])
                session = "a"
                for words in (case["before"], case["after"]):
                    if words is case["after"] and not case.get("same_session"):
                        memory.flush(session)
                        session = "b"
                        clock.advance(days=7)
                    for text in words:
                        listener.say(text, session)
                        clock.advance(minutes=2)
                memory.flush(session)
                clock.advance(days=1)
                memory.remember_many([{"content": text} for text in fillers[1::2]])
                clock.advance(days=1)
                yield case, listener

    def holds(self, listener: Listener, case: Case) -> bool:
        """Whether the later words had the effect they should have."""
        is_both = case["kind"] == "both"
        questions = case.get("questions" if is_both else "still", [])
        wanted: list[tuple[str, Groups, Groups]] = [(each["q"], each["match"], []) for each in questions]
        if not is_both:
            wanted.insert(0, (case["question"], case["current"], case.get("obsolete", [])))
        rights = []
        for question, current, obsolete in wanted:
            texts = listener.answers(question)
            rights.append(_first_right(texts, current, obsolete) is not None)
            self._tell(rights[-1], case["id"], texts)
        return all(rights)

    def _messages(self, cases: Sequence[Case], name: str) -> Figures:
        """What messages leave: what is expected, or nothing where nothing is."""
        good: list[bool] = []
        for case in cases:
            with self._listener() as listener:
                listener.say(case["user"], assistant=case.get("assistant"))
                contents = listener.kept()
            for expected in case.get("expect", [None]):
                good.append(_first_match(contents, expected) is not None if expected else not contents)
                self._tell(good[-1], case["id"], (expected, contents) if expected else contents)
        return {name: _share(good), "n": len(good)}

    def _stories(self, cases: Sequence[Case]) -> Figures:
        captured: list[bool] = []
        places: list[int | None] = []
        empty: list[bool] = []
        per_fact = []
        for case, listener, contents in self.stories(cases):
            for fact in case["gold"]:
                if not fact.get("replaced_by"):
                    captured.append(_first_match(contents, fact["match"]) is not None)
                    self._tell(captured[-1], f"{case['id']}/{fact['id']}", fact["say"])
            per_fact.append(len(contents) / max(1, len(case["gold"])))
            right, nothing = self.answered(listener, case)
            places, empty = places + right, empty + nothing
        return {
            "facts captured": _share(captured),
            "answered@1": _share([place == 0 for place in places]),
            "answered@3": _share([place is not None for place in places]),
            "unanswerable left empty": _share(empty),
            "memories per gold fact": round(sum(per_fact) / max(1, len(per_fact)), 2),
            "n": {"gold": len(captured), "questions": len(places), "unanswerable": len(empty)},
        }

    def stories(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Listener, list[str]]]:
        """Each story with a memory that lived through it, and what that kept."""
        for case in cases:
            with self._listener(datetime.fromisoformat(case["turns"][0]["at"])) as listener:
                session = case["turns"][0]["session"]
                for turn in case["turns"]:
                    if turn["session"] != session:
                        listener.memory.flush(session)
                        session = turn["session"]
                    listener.wait(turn["at"])
                    words = {"user": None, "assistant": None, turn["role"]: turn["text"]}
                    listener.say(words["user"], session, words["assistant"])
                yield case, listener, listener.kept(session)

    def answered(self, listener: Listener, case: Case) -> tuple[list[int | None], list[bool]]:
        """Where each right answer stands, and of each thing never told whether nothing came back."""
        places: list[int | None] = []
        empty: list[bool] = []
        for question in case["questions"]:
            listener.wait(question.get("at"))
            texts = listener.answers(question["q"])
            if not question["match"]:
                empty.append(not texts)
                continue
            places.append(_first_right(texts, question["match"], question.get("obsolete") or []))
            self._tell(places[-1] is not None, case["id"], (question["q"], texts))
        return places, empty

    def _others(self, case: Case) -> list[str]:
        """Statements about other people and things that cannot be taken for an answer to this case."""
        matches = [question["match"] for question in (*case.get("still", []), *case.get("questions", []))]
        wanted = [case.get("current", []), case.get("obsolete", []), *matches]
        by_language = self._data.get("others", {})
        statements = by_language.get(case.get("lang", "en"), by_language.get("en", []))
        return [text for text in statements if not any(_matches(text, groups) for groups in wanted)]

    @contextmanager
    def _listener(self, start: datetime = START) -> Iterator[Listener]:
        clock = FakeClock(start)
        with Engram.open(":memory:", config=self._config, embedder=self._embedder, clock=clock) as memory:
            yield Listener(memory, clock)


def balanced(kinds: dict[str, list[bool]]) -> Figures:
    """The share of each kind that is right, and their mean."""
    shares = {kind: _share(kinds[kind]) for kind in sorted(kinds)}
    flat = [good for goods in kinds.values() for good in goods]
    mean = round(sum(shares.values()) / max(1, len(shares)), 4)
    return {"balanced": mean, "all": _share(flat), **shares, "n": len(flat)}


def _matches(text: str, groups: Groups) -> bool:
    low = text.lower()
    return bool(groups) and all(any(str(word).lower() in low for word in group) for group in groups)


def _first_match(texts: Sequence[str], wanted: Groups) -> int | None:
    return next((place for place, text in enumerate(texts) if _matches(text, wanted)), None)


def _first_right(texts: Sequence[str], current: Groups, obsolete: Groups) -> int | None:
    """Where the current answer stands, if nothing obsolete stands before it."""
    place = _first_match(texts, current)
    stale = [_matches(text, obsolete) and not _matches(text, current) for text in texts[:place]]
    return None if place is None or any(stale) else place


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / len(flags), 4) if flags else 0.0
