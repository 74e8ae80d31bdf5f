"""The crew: processes that recall beside this one, so that several questions are computed at once."""

from __future__ import annotations

from engram.crew.crew import Crew

__all__ = ["Crew"]
