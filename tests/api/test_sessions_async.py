"""Sessions of the awaited twin."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engram import AsyncEngram
from engram.testing import FakeClock, HashEmbedder


def test_a_session_is_awaited(file: Path, clock: FakeClock) -> None:
    async def talk() -> tuple[str, list[tuple[str, str]]]:
        async with AsyncEngram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
            await memory.remember("The web shop is deployed with fly.io")
            async with memory.session(agent="rex") as session:
                async with session.turn("how is the web shop deployed?") as turn:
                    prompt = turn.context.system_prompt
                    await turn.answer("With fly.io.")
                return prompt, session.history

    prompt, history = asyncio.run(talk())

    assert "fly.io" in prompt
    assert history == [("user", "how is the web shop deployed?"), ("assistant", "With fly.io.")]
