"""A model that may help: one client, prompts as files, answers that are checked before they are believed."""

from __future__ import annotations

from engram.llm.advisor import ModelAdvisor, open_advisor

__all__ = ["ModelAdvisor", "open_advisor"]
