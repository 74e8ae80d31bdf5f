"""What a session starts with: the settings of resume and recall pack, with range, meaning and origin."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number


@dataclass(frozen=True, slots=True)
class ResumeConfig:
    """What a session that starts cold is told."""

    characters: int = number(16_000, 500, 1_000_000, "characters of a resume at least", "layers")
    most: int = number(64_000, 500, 1_000_000, "characters it grows to as memories grow", "layers")
    per_memory: float = number(16.0, 0, 1_000, "characters that each memory adds on the way there", "design")
    compact_share: float = number(0.25, 0.01, 1, "share of them that the compact form takes", "design")
    core_share: float = number(0.45, 0, 1, "share that the core takes at most", "layers")
    working_share: float = number(0.30, 0, 1, "share that is kept free for what is being worked on", "layers")
    recent_share: float = number(0.20, 0, 1, "share that is kept free for what has changed", "layers")
    core_relevance: float = number(0.35, 0, 1, "nearness to what goes on that the core needs", "layers")
    working_relevance: float = number(0.20, 0, 1, "the same for what is being worked on", "layers")
    high_gain: float = number(0.25, 0, 1, "nearness that identity and constraints gain", "layers")
    low_gain: float = number(0.10, 0, 1, "nearness that lessons, preferences and procedures gain", "layers")
    core_most: int = number(20, 1, 1_000, "memories of the core at most", "layers")
    working_most: int = number(40, 1, 1_000, "memories being worked on at most", "layers")
    sessions_most: int = number(10, 1, 1_000, "notes of sessions at most", "design")
    recent_most: int = number(30, 1, 1_000, "memories changed lately at most", "design")
    recent_days: int = number(14, 1, 3_650, "days that lately means", "design")
    buffer_most: int = number(40, 1, 1_000, "new memories at most", "design")


@dataclass(frozen=True, slots=True)
class PackConfig:
    """The recall pack: words of each section, and what is too old for it."""

    words: int = number(3_000, 100, 100_000, "words of a pack at most", "ledger")
    rules: int = number(200, 0, 100_000, "words for what always holds (P0), which is told whole", "ledger")
    mantra: int = number(20, 0, 100_000, "words for the mantra", "ledger")
    commitments: int = number(500, 0, 100_000, "words for open commitments", "ledger")
    waiting: int = number(150, 0, 100_000, "words for what is waited for", "ledger")
    focus: int = number(300, 0, 100_000, "words for today's focus", "ledger")
    context: int = number(800, 0, 100_000, "words for the context", "ledger")
    procedures: int = number(500, 0, 100_000, "words for procedures", "ledger")
    accounts: int = number(200, 0, 100_000, "words for accounts", "ledger")
    buffer: int = number(330, 0, 100_000, "words for whatever needs more", "ledger")
    focus_most: int = number(5, 1, 100, "things in today's focus", "ledger")
    p2_days: int = number(90, 1, 36_500, "days after which P2 is left out", "ledger")
    p3_days: int = number(30, 1, 36_500, "days after which P3 is left out", "ledger")
    stale_days: int = number(30, 1, 36_500, "days unchecked after which a fact is marked stale", "ledger")
    dropped_days: int = number(
        60, 1, 36_500, "days after which it is left out unless today's tasks need it", "ledger"
    )
