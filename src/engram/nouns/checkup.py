"""The check-up: every part is looked at; what is wrong is told in words, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from engram.errors import AccessDenied
from engram.model.advice import Spent
from engram.model.pages import Finding
from engram.model.scope import Role
from engram.nouns.desk import Desk, whole
from engram.text.tokens import is_exact


def examine(desk: Desk, others: Iterable[Finding], *, repair: bool) -> list[Finding]:
    """What the doctor finds: the file, the embedder, tokens, what others found, the model, the vectors."""
    if repair:
        _check_owner(desk, "mend the file")
    counted = (
        "counted exactly" if is_exact() else "estimated; `pip install engram-cortex[tokens]` counts them"
    )
    return [
        *desk.tools.store.check(repair=repair),
        _embedder(desk),
        Finding("tokens", ok=True, detail=counted),
        *others,
        _model(desk),
        *_vectors(desk),
    ]


def spending(desk: Desk, days: int, *, daily: bool) -> list[Spent]:
    """What calls to models have cost in the last days."""
    since = desk.tools.clock.now() - timedelta(days=whole("days", days, 1, 36_500))
    noun = desk.tools.store.spending
    return noun.by_day(since) if daily else noun.summary(since)


def forget_spending(desk: Desk) -> int:
    """Forget what models have cost; how many calls there were."""
    _check_owner(desk, "forget what models have cost")
    return desk.tools.store.spending.clear()


def vacuum(desk: Desk, *, full: bool) -> int:
    """Give freed space back; how many bytes."""
    _check_owner(desk, "rewrite the file")
    before = _size(desk)
    desk.tools.store.vacuum(full=full)
    return max(0, before - _size(desk))


def _size(desk: Desk) -> int:
    return desk.tools.store.memories.stats(desk.access, None).size_bytes


def _check_owner(desk: Desk, what: str) -> None:
    if desk.access.role is not Role.OWNER:
        raise AccessDenied(f"{what}; only an owner may")


def _embedder(desk: Desk) -> Finding:
    health = desk.tools.embedder.health()
    advice = "memories are found by their words meanwhile; check the embedder's settings"
    return Finding("embedder", health.ok, health.detail, "" if health.ok else advice)


def _model(desk: Desk) -> Finding:
    """Whether a model can be asked, and what it has cost today."""
    health = desk.tools.advisor.health()
    today = desk.tools.here().replace(hour=0, minute=0, second=0, microsecond=0)
    spent = desk.tools.store.spending.tokens_since(today)
    trouble = desk.tools.model_trouble()
    told = trouble if health.ok and trouble else health.detail
    detail = f"{told}; {spent:,} tokens today" if spent else told
    ok = health.ok and not trouble
    return Finding("model", ok, detail, "" if ok else "rules decide meanwhile; check the settings of `llm`")


def _vectors(desk: Desk) -> list[Finding]:
    space = desk.space()
    if space is None:
        return []
    index = desk.tools.index.stats(space)
    pending = desk.tools.store.memories.stats(desk.access, space).pending
    held = f"{index.vectors:,} in {space.key}, searched by {index.mode}, {pending:,} pending"
    return [Finding("vectors", pending == 0, held, "run `engram reembed`" if pending else "")]
