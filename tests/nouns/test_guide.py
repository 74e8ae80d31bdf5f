"""The guide to facts and entities runs as it is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engram import Engram

GUIDE = Path(__file__).parents[2] / "docs" / "facts-and-entities.md"


def test_every_example_of_the_guide_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    here: dict[str, Any] = {}
    try:
        for block in blocks:
            exec(compile(block, GUIDE.name, "exec"), here)
    finally:
        memory = here.get("memory")
        if isinstance(memory, Engram):
            memory.close()
    assert len(blocks) >= 10
