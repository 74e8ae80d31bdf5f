"""Engram: a long-term memory for AI agents."""
