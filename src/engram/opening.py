"""Opening: a path and settings come in, every part opened and joined comes out as tools."""

from __future__ import annotations

import os
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from engram.config import Config
from engram.errors import EngramError
from engram.model.clock import Clock, SystemClock
from engram.ports import Advisor, Embedder, Finder, Tools
from engram.text.tokens import count

FILE_VARIABLE = "ENGRAM_FILE"
OLD_VARIABLE = "ENGRAM_DB"
"""What an older system called it."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """Parts that a user brings along; what is None is made from the settings."""

    clock: Clock | None = None
    embedder: Embedder | None = None
    advisor: Advisor | None = None


def place(path: str | Path | None) -> str:
    """The given file, the one that `ENGRAM_FILE` (or `ENGRAM_DB`) names, or the user's own."""
    return str(path or os.environ.get(FILE_VARIABLE) or os.environ.get(OLD_VARIABLE) or default_file())


def default_file() -> Path:
    """The user's own file, in the data folder of this system."""
    from platformdirs import user_data_path

    return user_data_path("engram") / "memory.db"


def open_tools(where: str, settings: Config, brought: Overrides, *, read_only: bool) -> Tools:
    """Open a file, making it if need be, and everything that works on it."""
    from engram.embed import open_embedder, open_reranker
    from engram.index import SignatureIndex
    from engram.llm import open_advisor
    from engram.store.sqlite import SqliteStore, StoreSettings

    clock = brought.clock or SystemClock()
    store = SqliteStore.open(
        where,
        clock,
        StoreSettings(
            **asdict(settings.store),
            **asdict(settings.text),
            candidates=settings.recall.text_candidates,
            read_only=read_only,
        ),
    )
    try:
        return Tools(
            store=store,
            index=SignatureIndex(store, **asdict(settings.index)),
            embedder=brought.embedder or open_embedder(settings.embed, clock),
            clock=clock,
            config=settings,
            new_id=lambda: str(uuid.uuid4()),
            count_tokens=count,
            advisor=brought.advisor or open_advisor(settings.llm, store.spending, clock),
            reranker=open_reranker(settings.rerank),
            finder=_finder(where, settings, brought),
        )
    except EngramError:
        store.close()
        raise


def _finder(where: str, settings: Config, brought: Overrides) -> Finder | None:
    """Processes that recall beside this one; not where a model or something brought along is to help."""
    asks = settings.llm.level != "off" and settings.llm.base_url and settings.llm.model
    if not settings.recall.processes or where == ":memory:" or brought != Overrides() or asks:
        return None
    from engram.crew import RecallPool

    return RecallPool(where, settings)
