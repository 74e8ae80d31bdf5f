"""How long it is believed that an embedder is well, or down."""

from __future__ import annotations

from typing import Final

HEALTH_SECONDS: Final = 30.0
