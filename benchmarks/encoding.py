"""Which library encodes answers: start-up, ten hits as JSON, and whether it can describe what the verbs take.

    python benchmarks/encoding.py

Processor time. pydantic comes with the `server` extra (the MCP SDK needs it); it is no dependency here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from engram import Engram
from engram.model.memory import Mode
from engram.model.plain import plain
from engram.operations.values import Components, encoded
from engram.testing import HashEmbedder

RESULTS = Path(__file__).parent / "results" / "encoding.md"
ROUNDS = 300
TAKEN = {"mode": Mode | str, "as_of": datetime | str | None, "about": str | tuple[str, str]}
"""Hints as the verbs have them: a word for a member, a text for a time."""


def main() -> None:
    """Measure and write the page."""
    import pydantic

    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        memory.remember_many(
            [{"content": f"Server {n} of apollo listens on port {8000 + n}"} for n in range(20)]
        )
        hits = memory.recall("which port does the server listen on?", limit=10)
    adapter = pydantic.TypeAdapter(type(hits))
    rows = [
        ("json, with a hook", "–", spent(lambda: json.dumps(hits, default=one_level)), "–"),
        ("pydantic", started("pydantic"), spent(lambda: adapter.dump_json(hits)), by_pydantic()),
        ("msgspec", started("msgspec"), spent(lambda: encoded(hits)), by_msgspec()),
        ("ours (schemas)", "–", "–", f"{len(TAKEN)} of {len(TAKEN)}" if Components() else ""),
    ]
    lines = ["# Encoding", "", f"Ten hits, {len(encoded(hits)):,} bytes; processor time.", ""]
    lines += ["| library | import | ten hits | hints of verbs it describes |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    lines += [
        "",
        "msgspec encodes and decodes; schemas stay ours, for it knows no union of a word and its member.",
    ]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


def one_level(value: Any) -> Any:
    """A value the encoder of the standard library does not know, one level down."""
    return (
        plain(value)
        if isinstance(value, datetime | frozenset)
        else {name: getattr(value, name) for name in value.__dataclass_fields__}
    )


def spent(work: Callable[[], Any]) -> str:
    """Microseconds of one round."""
    work()
    before = time.process_time()
    for _ in range(ROUNDS):
        work()
    return f"{(time.process_time() - before) / ROUNDS * 1e6:,.0f} µs"


def started(module: str) -> str:
    """What importing it costs in a process of its own."""
    code = f"import time; a = time.process_time(); import {module}; {module}.__version__"
    code += "; print(time.process_time() - a)"
    if module == "pydantic":
        code = code.replace(f"import {module};", f"from {module} import TypeAdapter; import {module};", 1)
    seconds = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
        for _ in range(5)
    ]
    return f"{min(seconds) * 1e3:.0f} ms"


def by_pydantic() -> str:
    """How many of the hints it makes a schema of."""
    import pydantic

    known = [can(lambda hint=hint: pydantic.TypeAdapter(hint).json_schema()) for hint in TAKEN.values()]
    return f"{sum(known)} of {len(TAKEN)}"


def by_msgspec() -> str:
    """How many of the hints it makes a schema of."""
    return (
        f"{sum(can(lambda hint=hint: msgspec.json.schema(hint)) for hint in TAKEN.values())} of {len(TAKEN)}"
    )


def can(work: Callable[[], Any]) -> bool:
    """Whether it works."""
    try:
        work()
    except TypeError:
        return False
    return True


if __name__ == "__main__":
    main()
