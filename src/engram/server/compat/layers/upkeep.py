"""Upkeep of *layers*: how much is kept, how it is, putting it right, and what models have cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from engram._version import __version__
from engram.model.advice import Spent
from engram.model.axes import Kind, Layer
from engram.model.pages import Stats
from engram.server.compat.ask import Ask
from engram.server.compat.layers.shapes import KINDS
from engram.server.compat.old import Old

if TYPE_CHECKING:
    from engram.server.house import House

MEGA = 1_048_576
WORDS = frozenset({"text index", "words", "text totals"})
"""What the doctor says of the text index under."""


def stats(ask: Ask) -> dict[str, Any]:
    """How much is kept, layer by layer; over all namespaces also which there are."""
    counted = ask.memory.stats()
    told = counts_of(counted)
    if ask.memory.access.all_namespaces:
        told["namespaces"] = list(counted.by_namespace)
    return told


def repair(ask: Ask) -> dict[str, Any]:
    """Put right what can be put right, and make the vectors that are missing."""
    findings = ask.memory.doctor(repair=True)
    mended = {True: 0, False: 0}
    for one in findings:
        mended[one.name in WORDS] += one.mended
    made = ask.memory.reembed()
    return {
        "orphans_removed": mended[False],
        "fts_rebuilt": mended[True],
        "embed_backfill_queued": made,
    }


def vacuum(ask: Ask) -> dict[str, Any]:
    """Give freed space back."""
    full = ask.truth("full")
    return {"freed_bytes": ask.memory.vacuum(full=full), "mode": "full" if full else "incremental"}


def usage(ask: Ask) -> dict[str, Any]:
    """What calls to models have cost, in all, by component, by model and by day."""
    spent = ask.memory.spending(days=ask.whole("days", 7, 1, 3_650), daily=True)
    today = datetime.now(UTC).date().isoformat()
    summary = {
        **_sums("total_", spent),
        **_sums("today_", [one for one in spent if one.day == today]),
        "by_component": _grouped(spent, "component"),
        "by_model": _grouped(spent, "model"),
    }
    days = sorted({one.day for one in spent}, reverse=True)
    daily = [{"date": day, **_sums("", [one for one in spent if one.day == day])} for day in days]
    return {"summary": summary, "daily": daily}


def forget_usage(ask: Ask) -> dict[str, Any]:
    """Forget what models have cost."""
    return {"deleted": ask.memory.forget_spending()}


def health_of(house: House) -> dict[str, Any]:
    """What `/health` tells beside our own words."""
    counted, memory = house.stats(), house.memory
    return {
        "name": "engram",
        "version": __version__,
        "rss_kb": _resident_kb(),
        "db_size_mb": round(counted.size_bytes / MEGA, 2),
        "ai_enabled": bool(memory.config.llm.base_url) and memory.config.llm.level != "off",
        "embed_queue_pending": counted.pending,
        "proxy": {"enabled": bool(memory.config.proxy.base_url)},
        "integrity": {
            "total": counted.memories,
            "missing_embedding": counted.pending,
            "ok": counted.pending == 0,
        },
        "stats": counts_of(counted),
    }


def counts_of(counted: Stats) -> dict[str, Any]:
    """Counts as those clients know them: of what is in use."""
    kinds = {kind.value: counted.in_use_by_kind.get(kind.value, 0) for kind in KINDS}
    kinds[Kind.SEMANTIC.value] += counted.in_use_by_kind.get(Kind.CODEBASE.value, 0)
    layers = {layer.name.lower(): counted.in_use_by_layer.get(layer.name.lower(), 0) for layer in Layer}
    return {"total": sum(layers.values()), **layers, "by_kind": kinds}


def _sums(prefix: str, spent: Iterable[Spent]) -> dict[str, Any]:
    every = list(spent)
    read, written = sum(one.prompt_tokens for one in every), sum(one.answer_tokens for one in every)
    return {
        f"{prefix}calls": sum(one.calls for one in every),
        f"{prefix}input_tokens": read,
        f"{prefix}output_tokens": written,
        f"{prefix}tokens": read + written,
        f"{prefix}duration_ms": sum(one.ms for one in every),
        f"{prefix}cost": round(sum(one.cost for one in every), 6),
    }


def _grouped(spent: Iterable[Spent], name: str) -> list[Mapping[str, Any]]:
    every = list(spent)
    keys = dict.fromkeys(getattr(one, name) for one in every)
    return [{name: key, **_sums("", [one for one in every if getattr(one, name) == key])} for key in keys]


def _resident_kb() -> int:
    """How much memory the process holds, as far as this system tells."""
    try:
        import resource
    except ImportError:
        return 0
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


ROUTES: tuple[Old, ...] = (
    Old("GET", "/stats", stats),
    Old("POST", "/repair", repair, owner_only=True),
    Old("POST", "/vacuum", vacuum, owner_only=True),
    Old("GET", "/llm-usage", usage, owner_only=True),
    Old("DELETE", "/llm-usage", forget_usage, owner_only=True),
)
