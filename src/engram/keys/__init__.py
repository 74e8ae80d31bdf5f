"""Keys: what opens a vault, where it is kept, and what is derived from it."""

from __future__ import annotations

from engram.keys.finding import FileState, VaultKeys, find_keys, read_key, state_of
from engram.keys.slots import Slots, read_slots

__all__ = ["FileState", "Slots", "VaultKeys", "find_keys", "read_key", "read_slots", "state_of"]
