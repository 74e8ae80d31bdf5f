"""What hangs on the facade: `memory.facts`, `memory.entities` and the like, a few verbs about a thing."""

from __future__ import annotations
