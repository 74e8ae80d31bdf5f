"""Asking: `recall` with its X-ray, `reason`, `timeline`, `context`; `resume` and `pack` for a new session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Unpack

import click

from engram.cli.made import Spelling, presented, variant
from engram.cli.options import CommandRun, numeric
from engram.cli.output import (
    age,
    bar,
    console,
    counted,
    cut,
    line,
    marks,
    say,
    say_json,
    short,
    shown,
    spoken_by,
    table,
    tell,
    text,
)
from engram.config import SETTINGS
from engram.engine import Engram
from engram.model.plain import Says
from engram.model.recall import (
    Branch,
    Evidence,
    Hit,
    Intent,
    Plan,
    Reasoning,
    Recall,
    RecallOptions,
    Timeline,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from engram.model.context import Context, RecallPack, Resume


# ---------------------------------------------------------------- xray
# The X-ray of a recall: the plan, each hit with every piece of evidence, what was left out, the timings.

BAR = 10
NAME = 28
"""Columns for the name of a piece of evidence."""
FACTOR = "factor"
"""The note of evidence that multiplies."""
Scales = dict[tuple[str, str], float]
PARTS = ("relevance", "accuracy", "freshness", "utility")
DROPPED_SHOWN = 12


def xray(answer: Recall, now: datetime) -> Iterator[RenderableType]:
    """The answer as trees, one after the other."""
    yield text(("? ", "bold magenta"), (line(answer.question.text), "bold"))
    yield _plan(answer.plan)
    # The largest value of each kind of evidence: what its bars are measured against.
    scales: Scales = {}
    for evidence in (each for hit in answer for each in hit.evidence):
        scales[evidence.step, evidence.name] = max(
            scales.get((evidence.step, evidence.name), 0.0), abs(evidence.value)
        )
    for place, hit in enumerate(answer, 1):
        yield _hit(place, hit, now, scales)
    if not answer.hits:
        yield text(("nothing fits", "bold"))
    if answer.dropped:
        yield _dropped(answer)
    whole = sum(answer.timings.values()) or 1.0
    tree = _tree(text(("time", "bold"), (f" · {answer.quality.ms:.1f} ms", "dim")))
    for step, ms in answer.timings.items():
        tree.add(text((f"{step:<12} ", "dim"), (bar(ms / whole, BAR), "blue"), f" {ms:7.1f} ms"))
    yield tree
    yield _quality(answer)


def _plan(plan: Plan) -> Tree:
    tree = _tree(text(("plan", "bold")))
    sure = f" · {plan.confidence:.2f} sure" if plan.intent else ""
    tree.add(text(("intent   ", "dim"), f"{plan.intent or 'none is clear'}{sure}"))
    tree.add(text(("terms    ", "dim"), line(" · ".join(plan.terms)) or "none"))
    weights = " · ".join(f"{name} {weight:.2f}" for name, weight in plan.weights.items())
    tree.add(text(("weights  ", "dim"), weights or "none"))
    tree.add(text(("vectors  ", "dim"), plan.space or "off: words alone"))
    for span in plan.spans:
        ends = (f"{end:%Y-%m-%d %H:%M}" if end else "…" for end in (span.first, span.last))
        vague = "" if span.hard else ", or about"
        tree.add(text(("time     ", "dim"), line(f"{span.words}: {' to '.join(ends)}{vague}")))
    rest = {
        "entities": ", ".join(plan.entities),
        "aliases": " · ".join(plan.aliases),
        "language": plan.language,
        "hops": str(plan.hops),
        "prefers": ", ".join(plan.prefer),
        "new": f"+{plan.freshness:.0%} for something of today" if plan.freshness else "",
        "wordings": " · ".join(plan.phrases),
        "speakers": ", ".join(plan.speakers),
    }
    for label, words in (*rest.items(), *(("note", note) for note in plan.notes)):
        if words:
            tree.add(text((f"{label:<8} ", "dim"), line(words)))
    return tree


def _hit(place: int, hit: Hit, now: datetime, scales: Scales) -> Tree:
    memory = hit.memory
    form = f" · as {hit.form}, {counted(hit.tokens, 'token')}" if hit.form != "content" else ""
    tree = _tree(
        text(
            (f"{place} ", "bold"), (f"{hit.score:.3f} ", "bold green"), (short(memory.id), "cyan"),
            (f" {age(memory.happened_at, now)} ", "dim"), *marks(memory), line(hit.text), (form, "dim"),
        )
    )  # fmt: skip
    trust = tree.add(text(("trust", "bold")))
    for name in PARTS:
        share = getattr(hit.trust, name)
        trust.add(text((f"{name:<{NAME}} ", "dim"), (bar(share, BAR), "blue"), f" {share:7.3f}"))
    # Step by step, in the order in which the steps first speak: any step, known here or not.
    steps = dict.fromkeys(evidence.step for evidence in hit.evidence)
    branches = {step: tree.add(text((step, "bold"))) for step in steps}
    for evidence in hit.evidence:
        branches[evidence.step].add(_evidence(evidence, scales[evidence.step, evidence.name]))
    return tree


def _evidence(evidence: Evidence, scale: float) -> Text:
    """One piece: a factor by where it pushes, anything else by a bar against the best of its kind."""
    name = (f"{line(evidence.name):<{NAME}} ", "dim")
    if evidence.note == FACTOR:
        up = evidence.value >= 1
        sign = ("▲ raises".ljust(BAR), "green") if up else ("▼ lowers".ljust(BAR), "red")
        return text(name, sign, f" ×{evidence.value:6.3f}")
    note = f"  {line(evidence.note)}" if evidence.note else ""
    share = abs(evidence.value) / scale if scale else 0.0
    colour = "green" if evidence.value >= 0 else "red"
    return text(name, (bar(share, BAR), colour), f" {evidence.value:7.3f}", (note, "dim"))


def _dropped(answer: Recall) -> Tree:
    tree = _tree(text(("left out", "bold"), (f" · {counted(len(answer.dropped), 'candidate')}", "dim")))
    for dropped in answer.dropped[:DROPPED_SHOWN]:
        row = text(
            (short(dropped.memory), "cyan"),
            ("" if "relevance" in dropped.why else f" {dropped.relevance:.2f}", "dim"),
            (f" {line(dropped.why)}", "yellow"),
            (f"  {line(dropped.label)}", "dim"),
        )
        tree.add(cut(row))
    if len(answer.dropped) > DROPPED_SHOWN:
        tree.add(text((f"and {len(answer.dropped) - DROPPED_SHOWN:,} more: --json lists them all", "dim")))
    return tree


def _quality(answer: Recall) -> Tree:
    quality = answer.quality
    tree = _tree(text(("quality", "bold")))
    tree.add(
        text(("relevance ", "dim"), f"best {quality.top_relevance:.2f} · mean {quality.mean_relevance:.2f}")
    )
    tree.add(text(("order     ", "dim"), f"{quality.ndcg:.2f} against the order by relevance alone (NDCG)"))
    if quality.rerank:
        gain = "" if quality.rerank_gain is None else f" · the tried one is worth {quality.rerank_gain:+.3f}"
        tree.add(text(("reranked  ", "dim"), f"by {quality.rerank}{gain}"))
    tree.add(
        text(("size      ", "dim"), f"{quality.returned} of {counted(quality.candidates, 'candidate')}"
             f" · {counted(quality.tokens, 'token')}")
    )  # fmt: skip
    return tree


def _tree(label: Text) -> Tree:
    from rich.tree import Tree

    return Tree(label, guide_style="dim")


_KNOWN = {setting.name: setting.known for setting in SETTINGS}


def _find(
    memory: Engram,
    query: str,
    *,
    intent: Annotated[Intent | None, Says("What the question is after, when the plan gets it wrong.")] = None,
    weights: Annotated[
        Mapping[str, str], Says("Weight of text, vector, graph or time; may be repeated.", flags="--weight")
    ] = MappingProxyType({}),
    **options: Unpack[RecallOptions],
) -> Recall:
    options["plan"] = {"intent": intent, "weights": {name: numeric(value) for name, value in weights.items()}}
    return memory.recall(query, **options)


@presented(
    "recall",
    Spelling(
        variant("recall", _find),
        "query+",
        fails=lambda answer: not answer.hits,
        without=("plan", "as_of"),
        choices={"rerank": _KNOWN["recall.rerank"], "profile": _KNOWN["recall.profile"]},
    ),
    with_json=True,
)
@click.option("--sessions", is_flag=True, help="Rank the sessions the hits come from, not the hits.")
def recall(run: CommandRun, answer: Recall, *, sessions: bool) -> None:
    """Find what answers a question.

    Words need no quotation marks; `-` reads it from stdin. When nothing fits, nothing comes back and
    the exit code is 1.
    """
    if sessions:
        say_sessions(run, answer)
    else:
        say_recall(run, answer, explain=run.arguments.get("explain", False))


def say_recall(run: CommandRun, answer: Recall, *, explain: bool = False) -> None:
    """One answer, for whoever asked."""
    if run.json:
        say_json(answer)
    elif run.quiet:
        say(run, *(shown(_words(hit)) for hit in answer))
    elif explain:
        say(run, *xray(answer, answer.at or run.clock.now()))
    elif answer.hits:
        quality = answer.quality
        tokens = f" · {counted(quality.tokens, 'token')}" if answer.question.budget else ""
        candidates = f"{len(answer)} of {counted(quality.candidates, 'candidate')}{tokens}"
        footer = text((f"{candidates} · {quality.ms:.1f} ms · --explain says why", "dim"))
        say(run, hit_table(answer, answer.at or run.clock.now()), footer)
    else:
        say(run, text(("nothing fits. ", "bold"), ("`--explain` says what was left out and why.", "dim")))


def say_sessions(run: CommandRun, answer: Recall) -> None:
    """The sessions that answer, best first."""
    sessions = answer.sessions
    best = max((score for _, score in sessions), default=0.0) or 1.0
    rows = [
        (text((str(place), "dim")), f"{score:.2f}", text((bar(score / best), "green")), line(name))
        for place, (name, score) in enumerate(sessions, 1)
    ]
    value = {"sessions": [{"session": name, "score": score} for name, score in sessions]}
    tell(run, value, table(("#", "score", "", "session"), rows), quiet=[shown(name) for name, _ in sessions])


def hit_table(answer: Recall, now: datetime) -> Table:
    """Rank, relevance, id, age and content of each hit: the best of poor hits is shown as a poor one."""
    rows = [
        (
            text((str(place), "dim")),
            f"{hit.relevance:.2f}",
            text((bar(hit.relevance), "green")),
            text((short(hit.memory.id), "cyan")),
            text((age(hit.memory.happened_at, now), "dim")),
            text(*marks(hit.memory), *spoken_by(hit.memory), line(_words(hit))),
        )
        for place, hit in enumerate(answer, 1)
    ]
    return table(("#", "fits", "", "id", "age", "memory"), rows)


def _words(hit: Hit) -> str:
    """What a person reads: the words with the dates they meant, or the shorter form that fitted."""
    return hit.content if hit.form == "content" else hit.text


# ---------------------------------------------------------------- thinking
# `engram reason` and `engram timeline`: a question thought through, and how something changed.

HITS_SHOWN = 3
"""Hits of each smaller question that are shown; --json has all."""


@presented("reason", Spelling("reason", fails=lambda found: found.tree.is_gap, without=("session",)))
def reason(run: CommandRun, reasoning: Reasoning) -> None:
    """Think a question through, part by part.

    Prints what was found for each smaller question and what is missing; with a model also an answer that
    says which memories it rests on. The exit code is 1 when nothing was found at all.
    """
    claims = [line(conclusion.claim) for conclusion in reasoning.answer]
    tell(run, reasoning, *_reasoning(reasoning), quiet=claims or reasoning.memories)


@presented("timeline", Spelling("timeline", fails=lambda found: not found.steps, without=("predicate",)))
def timeline(run: CommandRun, history: Timeline) -> None:
    """Tell how something changed, oldest step first.

    ABOUT is a name, a thing like `my editor`, a question, or any words.
    """
    from engram.cli.views import say_many  # it knows everything there is to show

    if history.steps:
        say_many(run, history.steps)
        summary = f"{counted(len(history), 'step')} · {line(history.about)}, by {history.found_by}"
        tell(run, history, text((summary, "dim")), quiet=())
    else:
        tell(run, history, text((f"nothing is known of {line(history.about)}", "bold")), quiet=())


def _reasoning(reasoning: Reasoning) -> Iterator[RenderableType]:
    for conclusion in reasoning.answer:
        cited = ", ".join(short(memory) for memory in conclusion.memories)
        yield text((line(conclusion.claim), "bold"), (f"  {cited}", "cyan"))
    tree = _tree(text(("? ", "bold magenta"), (line(reasoning.tree.question), "bold")))
    _add_branch(tree, reasoning.tree)
    yield tree
    for gap in reasoning.gaps:
        yield text(("missing ", "yellow"), line(gap))
    for note in reasoning.notes:
        yield text(("note ", "dim"), line(note))
    counts = (
        f"{counted(len(reasoning.memories), 'memory', 'memories')} · {counted(reasoning.tokens, 'token')}"
    )
    yield text((f"{counts} · {counted(reasoning.calls, 'call')} to a model", "dim"))


def _add_branch(tree: Tree, branch: Branch) -> None:
    for hit in branch.hits[:HITS_SHOWN]:
        row = text((short(hit.memory.id), "cyan"), (f" {hit.relevance:.2f} ", "green"), line(hit.text))
        tree.add(cut(row))
    if not branch.hits:
        tree.add(text(("nothing found", "yellow")))
    for below in branch.branches:
        label = text(("? ", "magenta"), line(below.question), (f"  {line(below.why)}", "dim"))
        _add_branch(tree.add(label), below)


@presented(
    "context",
    Spelling(
        "context",
        "message+",
        flags={"model": "-m --model"},
        fixed={"dry": True},
        without=("about", "history", "sections"),
    ),
)
@click.option("--explain", is_flag=True, help="Show what each section may cost and did cost.")
def context(run: CommandRun, built: Context, *, explain: bool) -> None:
    """Make the prompt for a message, within a model's budget.

    Prints the system prompt with what is remembered, and what was said before. It counts as no use.
    """
    prompt = [text((built.system_prompt, ""))] if built.system_prompt else []
    prompt += [text((f"{message.role}: ", "dim"), message.content) for message in built.conversation]
    say(run, *(_table(built) if explain else prompt))


def _table(built: Context) -> Iterator[RenderableType]:
    model = built.model
    heading = f"{model.name or 'no model named'} · {model.provider or 'unknown, so taken for a small one'}"
    yield text((heading, "bold"), (f" · window {model.window:,} · output {model.output:,}", "dim"))
    rows = [
        [
            section.name,
            f"{section.allotted:,}",
            f"{section.wanted:,}",
            f"{section.used:,}",
            f"{section.shown}/{section.of}",
            section.note,
        ]
        for section in built.sections
    ]
    yield table(("section", "allotted", "wanted", "used", "shown", ""), rows)
    way = "counted" if built.exact else "estimated"
    rest = f"{built.reserve:,} kept for the reply · {counted(len(built.memories), 'memory', 'memories')}"
    yield text(
        (f"{built.tokens:,} of {built.budget:,} tokens, {way} as {model.tokenizer}", "bold"),
        (f" · {rest}", "dim"),
    )
    for note in built.notes:
        yield text(("note ", "dim"), note)


# ---------------------------------------------------------------- briefing
# What a session starts with: `engram resume` and `engram pack`.


parts_option = click.option("--parts", is_flag=True, help="Show what each section takes instead of the text.")


COMPACT = "--compact=compact|Key facts only, in a quarter of the room."


@presented("resume", Spelling("resume", flags={"form": COMPACT}))
@parts_option
def resume(run: CommandRun, document: Resume, *, parts: bool) -> None:
    """Tell a session that starts cold where things stand.

    It counts as no use of any memory.
    """
    if parts:
        console(run).print(_parts(document, "characters"))
    else:
        click.echo(shown(document.text))


def _parts(document: Resume | RecallPack, size: str) -> Table:
    """What each section of a document takes."""
    sizes = [
        f"{section.size}/{section.limit}" if size == "words" else str(section.size)
        for section in document.sections
    ]
    rows = [
        (section.name, str(len(section.ids)), str(section.left_out), took, section.how)
        for section, took in zip(document.sections, sizes, strict=True)
    ]
    return table(("section", "told", "left out", size, "how"), rows)


@presented("pack", Spelling("recall_pack", "message*", flags={"tasks": "--task"}))
@parts_option
def pack(run: CommandRun, document: RecallPack, *, parts: bool) -> None:
    """Write the recall pack: rules, open loops, today, context, procedures.

    The same memories give the same bytes all day. Words of MESSAGE may load more pages: see engram triggers.
    """
    if parts:
        console(run).print(_parts(document, "words"))
        console(run).print(text((f"{document.words} of {document.limit} words", "dim")))
    else:
        click.echo(shown(document.text), nl=False)
