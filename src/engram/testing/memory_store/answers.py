"""Kept answers over tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from engram.model.answer import KeptAnswer
from engram.testing.memory_store.tables import Tables

Commit = Callable[[Callable[[Tables], None]], None]


class MemoryAnswers:
    """`Answers` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def find(self, caller: str, key: str) -> KeptAnswer | None:
        """What was answered to this caller under this key."""
        return self._tables().answers.get((caller, key))

    def keep(self, answer: KeptAnswer, before: datetime, most: int) -> None:
        """Keep one, and drop those before a time and those beyond so many."""

        def put(tables: Tables) -> None:
            every = {**tables.answers, (answer.caller, answer.key): answer}
            fresh = sorted((one for one in every.values() if one.at >= before), key=lambda one: one.at)
            tables.answers = {(one.caller, one.key): one for one in fresh[-most:]} if most else {}

        self._commit(put)
