"""Promotion: what proved itself leaves the buffer; what did not is let go in time."""

from __future__ import annotations

from engram.maintain.promotion import capping, expiring, learning, rising
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (
    Step("promotion", "buffer to working", rising.look),
    Step("promotion", "buffer expiry", expiring.look),
    Step("promotion", "buffer cap", capping.look),
    Step("promotion", "episodes to knowledge", learning.look),
)
