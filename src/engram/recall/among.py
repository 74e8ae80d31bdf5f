"""Recall among known candidates: a question and what was prepared for it come in; the best of it comes out.

  plan → words and meaning of these alone → fuse → neighbours → graph → facts → judge → drop → rerank → pack

Nothing is searched for: what stands beside the prepared may come in, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engram.model.recall import Question, Recall
from engram.ports import Lean, Tools
from engram.recall import plan as plans
from engram.recall.channels import facts, graph, neighbours, text, vector
from engram.recall.drop import drop_unwanted
from engram.recall.fuse import fuse, heed_words
from engram.recall.judge import judge
from engram.recall.pack import pack
from engram.recall.quality import measure
from engram.recall.rerank.choose import rerank
from engram.recall.rerank.newest import newest_first

NOTE = "answered from what was prepared"


def among(question: Question, ids: Sequence[str], tools: Tools, lean: Lean | None = None) -> Recall:
    """Answer a question from these memories alone. It counts no use: the caller does."""
    start = tools.clock.monotonic()
    plan = plans.make(question, tools, lean)
    keys = sorted(tools.store.memories.allow(plan.view, list(tools.store.memories.keys(ids).values())))
    matched = ((key, match) for key, match in text.matches(plan, keys, tools).items() if match.terms)
    by_words = sorted(matched, key=lambda one: -one[1].score)
    plan = heed_words(by_words, plan)
    by_meaning = sorted(vector.score(plan, keys, tools).items(), key=lambda one: -one[1])
    candidates = fuse(by_words, by_meaning, plan, tools)
    neighbours.lend(candidates, plan, tools)
    graph.lend(candidates, plan, tools, explain=question.explain)
    facts.lend(candidates, plan, question.text, tools)
    ranked = judge(candidates, plan, question, tools)
    kept, dropped = drop_unwanted(ranked, plan, question, tools)
    final = rerank(kept, plan, question, tools)
    hits = pack(newest_first(final.ordered, final.mode, plan, question, tools), question)
    taken = (tools.clock.monotonic() - start) * 1_000
    return Recall(
        question=question,
        plan=replace(plan.shown, notes=(*plan.shown.notes, NOTE)),
        hits=hits,
        quality=measure(hits, len(candidates), taken),
        dropped=dropped if question.explain else (),
        timings={"among": taken},
        at=tools.clock.now(),
    )
