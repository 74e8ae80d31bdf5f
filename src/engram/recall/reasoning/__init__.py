"""Reasoning: a question is thought through. Begin with `reason.py`."""
