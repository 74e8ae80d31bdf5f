"""Settings of review: how much is looked at in a run, and how near two memories are before they are compared.

Which cosine is near depends on the embedding model: `lifecycle/calibration.py` knows it space by space.
"""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number


@dataclass(frozen=True, slots=True)
class ReviewConfig:
    """How much a run reviews."""

    triage_most: int = number(
        20, 1, 1_000, "memories of a namespace that triage asks a model about in a run", "layers"
    )
    gate_most: int = number(
        50, 1, 10_000, "memories of a namespace that the gate asks a model about in a run", "design"
    )
    pairs_most: int = number(
        50, 1, 10_000, "pairs that a model is asked about in a run, for each kind of question", "design"
    )
    neighbours: int = number(8, 1, 64, "nearest memories that one is compared with", "design")
    reconcile_hours: float = number(
        1.0,
        0,
        8_760,
        "hours that two statements are apart before the later may replace the earlier",
        "layers",
    )
    notes_least: int = number(3, 2, 1_000, "session notes that are distilled into one", "layers")
    notes_most: int = number(10, 2, 1_000, "the newest of them that are looked at", "layers")
    notes_length: int = number(250, 40, 8_192, "characters that they are distilled into at most", "layers")
    audit_most: int = number(200, 2, 10_000, "memories that one audit shows to a model", "design")
    audit_together: int = number(40, 2, 500, "memories shown to it at once", "design")
    audit_days: float = number(30.0, 0, 3_650, "days before a memory is shown again unchanged", "design")
    audit_safe: float = number(
        0.70, 0, 1, "share of proposals that must be allowed before any is carried out", "layers"
    )
    audit_modified_hours: float = number(
        24.0, 0, 8_760, "hours after a change in which an audit takes no standing away", "layers"
    )
    audit_new_hours: float = number(48.0, 0, 8_760, "the same after a memory was stored", "layers")
    stuck_days: float = number(
        7.0, 0, 3_650, "days after which an unused memory is stuck in the buffer", "layers"
    )
    stuck_uses: int = number(2, 0, 1_000, "uses under which it counts as unused", "layers")
    stale_tag_hours: float = number(
        24.0, 0, 8_760, "hours without use after which marks of an old review go", "layers"
    )
