"""Recalling for a chat: what helps comes within its time, or the chat goes on without."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

import anyio

from engram.errors import EngramError
from engram.server import journal
from engram.server.brief import Brief, brief

if TYPE_CHECKING:
    from engram.config import ProxyConfig
    from engram.engine import Engram
    from engram.model.scope import Access
    from engram.server.caller import Caller
    from engram.server.house import House
    from engram.server.proxy.chat import Chat

KEPT = 256
"""Blocks kept for chats that go on with the results of tools."""
NOTHING = Brief()


class Recalling:
    """Finds what belongs beside a chat. Used by the event loop."""

    def __init__(self, house: House, settings: ProxyConfig) -> None:
        self._house = house
        self._settings = settings
        self._kept: OrderedDict[tuple[str, Access | None, str, str], Brief] = OrderedDict()

    async def beside(self, chat: Chat, caller: Caller, session: str) -> Brief:
        """The block for a chat. While tools answer one question it stays the same, so that caches hold."""
        mark = (caller.id, caller.access, session, chat.asked)
        goes_on = chat.place < len(chat.messages) - 1
        if goes_on and mark in self._kept:
            return self._kept[mark]
        found = await self._within_time(chat, caller, session)
        self._kept[mark] = found
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    async def _within_time(self, chat: Chat, caller: Caller, session: str) -> Brief:
        def look(memory: Engram) -> Brief:
            return brief(
                memory, chat.asked, budget=self._settings.budget_tokens, pinned=True, session=session
            )

        try:
            with anyio.move_on_after(self._settings.time_budget_ms / 1_000):
                return await self._house.run(caller, look, quick=True)
            journal.note("proxy without memories", logging.WARNING, why="time")
        except EngramError as error:
            journal.note("proxy without memories", logging.WARNING, why=error.code)
        except Exception as error:  # noqa: BLE001 (a door that stays open: the chat goes on, the journal tells)
            journal.bug(error, "", "proxy")
        return NOTHING
