"""The advisor: a flow's question comes in; a checked answer goes out, or None when no model may or did help.

    question ─▶ models that do not rest ─▶ budget ─▶ client ─▶ check ─▶ once more with the mistake shown
                    └─ the fall-back model when the first one gives nothing

Every call is accounted for. The configured time holds for all of it together, and no failure is raised.
Tokens of a day are reserved before a call and settled after it, so that the limit holds, also over processes.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Final, TypeVar

from engram.config import LlmConfig, models_of
from engram.errors import EngramError
from engram.llm import answers, prompts
from engram.llm.answers import Bad
from engram.llm.client import ChatClient, Failed, ModelReply, ModelRequest, Service
from engram.llm.prompts import Prompt, asking, lines
from engram.model.capture import Turn
from engram.model.clock import Clock
from engram.model.knowledge import (
    CallOutcome,
    Chosen,
    Cited,
    Comparison,
    Extracted,
    ModelCall,
    Proposal,
    Reconciled,
)
from engram.ports import Advisor, Health, NoAdvisor, Spending
from engram.text import tokens

SMALL: Final = frozenset({"merge", "compare", "rank", "expand", "triage", "reconcile"})
"""Components whose questions a smaller model answers well enough."""
TASK_OF: Final = {
    "triage": "gate",
    "gate": "gate",
    "distill": "gate",
    "merge": "merge",
    "reconcile": "merge",
    "compare": "merge",
    "audit": "audit",
    "expand": "expand",
    "extract": "extract",
    "rank": "rerank",
    "summarize": "resume",
}
"""Under which task a component's model is named in the settings; an audit falls back to the gate's."""
ONCE: Final = frozenset({"expand"})
"""Components that somebody waits for: one call, neither mended nor put to another model."""
FIRST_SHARE: Final = 0.7
"""Share of the time that the first model may use when there is another to fall back to."""
PROBE_SECONDS: Final = 5.0
MESSAGE_TOKENS: Final = 8
"""What a message costs beside its words."""
CAUTION: Final = 1.3
"""An estimate of tokens is taken so much higher: every model counts a little differently."""

REFUSED: Final = "The model refused to answer."
UNUSABLE: Final = "The model's answer was not in the form that was asked for."

Value = TypeVar("Value")
Read = Callable[[str], Value | Bad]


def open_advisor(config: LlmConfig, spending: Spending, clock: Clock) -> Advisor:
    """The advisor that the configuration asks for."""
    if config.level == "off" or not config.base_url.strip() or not config.model.strip():
        return NoAdvisor()
    return ModelAdvisor(config, spending, clock)


class ModelAdvisor:
    """Asks the models of one service. Holds nothing open; safe to share between threads."""

    def __init__(
        self,
        config: LlmConfig,
        spending: Spending,
        clock: Clock,
        *,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._config = config
        self._clock = clock
        self._client = ChatClient(
            Service(config.base_url, config.api_key, config.retries), clock, wait, spending
        )
        self._budget = Budget(spending, clock, config.daily_tokens)
        self._resting = Resting(clock, config.rest_s)
        self._well_at: float | None = None

    def extract(self, turns: Sequence[Turn], before: Sequence[Turn] = ()) -> tuple[Extracted, ...] | None:
        """The statements worth keeping in these turns; empty when there are none."""
        if not turns:
            return ()
        read = partial(answers.extracted, turns=turns, before=before)
        return self._ask(prompts.extract(turns, before), read)

    def merge(self, old: str, new: str) -> str | None:
        """One statement that says what both say."""
        return self._ask(asking("merge", old=old, new=new), partial(answers.merged, old=old, new=new))

    def compare(self, old: str, new: str) -> Comparison | None:
        """What a new statement is to an old one."""
        read = partial(answers.one_of, name="relation", kind=Comparison)
        return self._ask(asking("compare", old=old, new=new), read)

    def rank(self, question: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        """The places of the texts in the order in which they answer the question."""
        read = partial(answers.ranked, count=len(texts))
        return self._ask(asking("rank", question=question, memories=texts), read) if texts else ()

    def decompose(self, question: str, known: Sequence[str]) -> tuple[str, ...] | None:
        """The smaller questions that what is known leaves open."""
        read = partial(answers.decomposed, question=question)
        return self._ask(asking("decompose", question=question, memories=known), read)

    def expand(self, question: str) -> tuple[str, ...] | None:
        """Other words in which what answers the question may be told."""
        shown = prompts.shortened(question, prompts.LONGEST_BEFORE)
        return self._ask(asking("expand", question=shown), partial(answers.expanded, question=question))

    def synthesize(self, question: str, known: Sequence[str]) -> tuple[Cited, ...] | None:
        """The answer, claim by claim, each with what it rests on."""
        read = partial(answers.synthesized, count=len(known))
        return self._ask(asking("synthesize", question=question, memories=known), read) if known else ()

    def summarize(self, texts: Sequence[str], words: int) -> str | None:
        """What several statements come to."""
        read = partial(answers.summarized, texts=texts, words=words)
        return self._ask(asking("summarize", memories=texts, words=words), read) if texts else None

    def gate(self, texts: Sequence[str]) -> tuple[Chosen, ...] | None:
        """Of each memory whether it alone would help somebody who wakes up knowing nothing else."""
        read = partial(answers.chosen, name="approve", count=len(texts))
        return self._ask(asking("gate", memories=texts), read) if texts else ()

    def triage(self, texts: Sequence[str]) -> tuple[Chosen, ...] | None:
        """Of each memory whether it is worth more than a day."""
        read = partial(answers.chosen, name="promote", count=len(texts))
        return self._ask(asking("triage", memories=texts), read) if texts else ()

    def reconcile(self, old: str, new: str) -> Reconciled | None:
        """What becomes of an older memory beside a newer one about the same thing."""
        read = partial(answers.one_of, name="outcome", kind=Reconciled)
        return self._ask(asking("reconcile", old=old, new=new), read)

    def distill(self, notes: Sequence[str], longest: int) -> str | None:
        """How things stand by several notes, in at most so many characters."""
        read = partial(answers.distilled, notes=notes, longest=longest)
        return self._ask(asking("distill", memories=notes, length=longest), read)

    def audit(self, lines: Sequence[str], texts: Sequence[str]) -> tuple[Proposal, ...] | None:
        """What should stand higher, lower or together."""
        read = partial(answers.audited, texts=texts)
        return self._ask(asking("audit", memories=lines), read) if lines else ()

    def health(self) -> Health:
        """Whether a model can be asked at the moment; a short question without cost finds out."""
        if self._config.level == "off":
            return Health(ok=True, detail="no model may be asked; rules decide")
        if not self._budget.has_room(self._config.answer_tokens):
            limit = f"{self._config.daily_tokens:,}"
            return Health(ok=False, detail=f"The {limit} tokens of a day (llm.daily_tokens) are used up.")
        models = self._models("extract")
        reasons = [self._resting.why(model) for model in models]
        if all(reasons):
            return Health(ok=False, detail=self._resting.latest(models) or "no model is configured")
        was_well = self._well_at is not None and self._clock.monotonic() - self._well_at < self._config.rest_s
        if not was_well:
            problem = self._client.probe(min(self._config.timeout_s, PROBE_SECONDS))
            if problem is not None:
                self._resting.begin(EVERY, problem.reason)
                return Health(ok=False, detail=problem.reason)
            self._well_at = self._clock.monotonic()
        awake = next(model for model, reason in zip(models, reasons, strict=True) if not reason)
        return Health(ok=True, detail=" ".join([awake, *(f"({reason})" for reason in reasons if reason)]))

    def _ask(self, prompt: Prompt, read: Read[Value]) -> Value | None:
        """The first usable answer of the models that may be asked."""
        component = prompt.name
        if self._config.level == "off":
            return None
        begun = self._clock.monotonic()
        awake = [model for model in self._models(component) if not self._resting.why(model)]
        awake = awake[:1] if component in ONCE else awake
        for place, model in enumerate(awake, 1):
            share = 1.0 if place == len(awake) else FIRST_SHARE
            deadline = begun + share * self._config.timeout_s
            value = self._ask_model(model, deadline, prompt, read)
            if value is not None or self._resting.why(EVERY):
                return value
        return None

    def _models(self, component: str) -> list[str]:
        """The models to ask, in order."""
        config = self._config
        task, own = TASK_OF.get(component, ""), models_of(config)
        usual = config.small_model if component in SMALL and config.small_model else config.model
        first = own.get(task) or (own.get("gate") if task == "audit" else "") or usual
        return list(dict.fromkeys(model for model in (first, config.fallback_model) if model))

    def _ask_model(self, model: str, deadline: float, prompt: Prompt, read: Read[Value]) -> Value | None:
        """One model's answer, mended once."""
        value, text = self._round(model, deadline, prompt, read, CallOutcome.ANSWERED)
        if isinstance(value, Bad) and not value.refused and prompt.name not in ONCE:
            again = prompts.repair(prompt, text, value.problem)
            value, _ = self._round(model, deadline, again, read, CallOutcome.REPAIRED)
        return None if isinstance(value, Bad) else value

    def _round(
        self, model: str, deadline: float, prompt: Prompt, read: Read[Value], good: CallOutcome
    ) -> tuple[Value | Bad | None, str]:
        """One call, paid for: its value, or why it is none, and the words of the model."""
        most, once = self._config.answer_tokens, prompt.name in ONCE
        question = ModelRequest(model, prompt.messages, prompt.name, prompt.schema, most, once=once)
        texts: Iterable[str] = (message.content for message in question.messages)
        words = sum(tokens.count(text) + MESSAGE_TOKENS for text in texts)
        expected = round(CAUTION * (words + tokens.count(json.dumps(question.schema))))
        reserved = expected + question.answer_tokens
        if not self._budget.reserve(reserved):
            return None, ""
        call = None
        at, begun = self._clock.now(), self._clock.monotonic()
        try:
            got = self._client.ask(question, deadline)
            value, outcome, reason = self._judged(got, model, read, good)
            used = _used(got, expected)
            ms = round(1_000 * (self._clock.monotonic() - begun))
            price = cost(model, *used, self._config)
            call = ModelCall(at, prompt.name, model, *used, ms, price, outcome, reason)
        finally:
            self._budget.settle(reserved, call)
        return value, got.text if isinstance(got, ModelReply) else ""

    def _judged(
        self, got: ModelReply | Failed, model: str, read: Read[Value], good: CallOutcome
    ) -> tuple[Value | Bad | None, CallOutcome, str]:
        """What an answer is worth, and why nothing; a failure sends the model, or the service, to rest."""
        if isinstance(got, Failed):
            if got.rests:
                self._resting.begin(EVERY if got.everywhere else model, got.reason, got.wait_s)
            return None, CallOutcome.FAILED, got.reason
        self._resting.end(model)
        self._well_at = self._clock.monotonic()
        if got.refused:
            return Bad("it was refused", refused=True), CallOutcome.REFUSED, REFUSED
        value = read(got.text)
        if isinstance(value, Bad) and value.refused:
            return value, CallOutcome.REFUSED, REFUSED
        if isinstance(value, Bad):
            return value, CallOutcome.UNUSABLE, UNUSABLE
        return value, good, ""


def _used(got: ModelReply | Failed, expected: int) -> tuple[int, int]:
    """Tokens asked and answered: as reported, else estimated; none where the service did no work."""
    if isinstance(got, Failed):
        return (expected if got.worked else 0), 0
    prompt = got.prompt_tokens if got.prompt_tokens is not None else expected
    answer = got.answer_tokens if got.answer_tokens is not None else tokens.count(got.text)
    return prompt, answer


# ---------------------------------------------------------------- prices
# What a call costs, by the table of prices that ships or by the prices in the configuration.

MILLION = 1_000_000


def cost(model: str, prompt_tokens: int, answer_tokens: int, config: LlmConfig) -> float:
    """US dollars, estimated; 0 where the price is not known, as for a model on one's own machine.

    >>> round(cost("gpt-4o-mini-2024-07-18", 1_000_000, 100_000, LlmConfig()), 2)
    0.21
    >>> cost("llama3.1:8b", 1_000_000, 0, LlmConfig())
    0.0
    """
    prompt, answer = price(model)
    prompt = config.prompt_price or prompt
    answer = config.answer_price or answer
    return (prompt_tokens * prompt + answer_tokens * answer) / MILLION


def price(model: str) -> tuple[float, float]:
    """Dollars for a million tokens asked and answered; a provider before a slash does not matter.

    >>> price("openai/GPT-4o-mini"), price("gpt-4o"), price("gpt-oss:20b")
    ((0.15, 0.6), (2.5, 10.0), (0.0, 0.0))
    """
    name = model.lower().rpartition("/")[2]
    fitting = [start for start in _table() if name == start or name.startswith((f"{start}-", f"{start}:"))]
    return _table()[max(fitting, key=len)] if fitting else (0.0, 0.0)


@cache
def _table() -> dict[str, tuple[float, float]]:
    rows = (row.split() for row in lines("prices.txt"))
    return {name: (float(prompt), float(answer)) for name, prompt, answer in rows}


# ---------------------------------------------------------------- resting
# Models that failed are left alone for a while, so that nobody waits for them at every call.

EVERY: Final = "*"
"""Stands for all models of the service."""
LONGEST: Final = 3_600.0
"""Seconds that a service may ask to be left alone."""


class Resting:
    """Which models rest, until when and why. Safe to share between threads."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._until: dict[str, tuple[float, str]] = {}

    def begin(self, model: str, reason: str, asked_s: float = 0.0) -> None:
        """Leave a model alone, for longer if its service asks for that."""
        until = self._clock.monotonic() + max(self._seconds, min(asked_s, LONGEST))
        with self._lock:
            self._until.pop(model, None)  # the latest stands last
            self._until[model] = (until, reason)

    def end(self, model: str) -> None:
        """It works again."""
        with self._lock:
            self._until.pop(model, None)
            self._until.pop(EVERY, None)

    def why(self, model: str) -> str:
        """Why a model rests at the moment; empty when it does not."""
        return self.latest([model])

    def latest(self, models: Iterable[str]) -> str:
        """Why the one of these models rests that failed last; empty when none of them rests."""
        meant, now = {*models, EVERY}, self._clock.monotonic()
        with self._lock:
            rest = [reason for name, (until, reason) in self._until.items() if name in meant and now < until]
        return rest[-1] if rest else ""


class Budget:
    """Tokens of a day (UTC). Safe to share between threads."""

    def __init__(self, spending: Spending, clock: Clock, daily_tokens: int) -> None:
        self._spending = spending
        self._clock = clock
        self._limit = daily_tokens
        self._lock = threading.Lock()
        self._reserved = 0

    def reserve(self, tokens: int) -> bool:
        """Whether a call may cost so much; if so, `settle` must follow."""
        with self._lock:
            fits = self._fits(tokens)
            if fits:
                self._reserved += tokens
            return fits

    def settle(self, reserved: int, call: ModelCall | None) -> None:
        """Account for a call and give back what it did not use; what cannot be written stays reserved."""
        unwritten = 0
        if call is not None:
            try:
                self._spending.record(call)
            except EngramError:
                unwritten = call.prompt_tokens + call.answer_tokens
        with self._lock:
            self._reserved += unwritten - reserved

    def has_room(self, tokens: int) -> bool:
        """Whether a call may cost so much at the moment; reserves nothing."""
        with self._lock:
            return self._fits(tokens)

    def _fits(self, tokens: int) -> bool:
        return not self._limit or self._spent() + self._reserved + tokens <= self._limit

    def _spent(self) -> int:
        """Today's tokens; all of them when nobody can say: a limit that cannot be checked is no limit."""
        try:
            return self._spending.tokens_since(start_of_day(self._clock.now()))
        except EngramError:
            return self._limit


def start_of_day(moment: datetime) -> datetime:
    """Midnight before a moment, in its own time zone.

    >>> start_of_day(datetime(2024, 5, 7, 13, 45)).isoformat()
    '2024-05-07T00:00:00'
    """
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
