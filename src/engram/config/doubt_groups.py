"""Settings of doubt: which beliefs are looked at again, against what, and what is asked about."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number, words


@dataclass(frozen=True, slots=True)
class DoubtConfig:
    """How beliefs are probed, references checked and gaps found; how much of each in a run."""

    probe_days: float = number(
        90.0, 0, 3_650, "days without use or confirmation after which a belief is probed", "cortex"
    )
    probe_again_days: float = number(
        30.0, 0, 3_650, "days before a belief that nothing speaks for or against is probed again", "design"
    )
    probes: int = number(200, 0, 100_000, "beliefs probed in a run at most", "design")
    model_calls: int = number(20, 0, 10_000, "pairs a model is asked about in a run, at most", "design")
    stale_uses: int = number(
        5, 1, 1_000, "uses that make a belief worth asking about, when only its age is known", "design"
    )
    directory: str = words(
        "", "the directory that claims about files and symbols are checked against; empty: none", "retention"
    )
    project: str = words(
        "", "only memories of this project are checked against the directory; empty: all", "design"
    )
    drift_days: float = number(
        1.0, 0, 3_650, "days for which references stay dead before their memory is invalidated", "design"
    )
    references: int = number(
        20_000, 0, 10_000_000, "memories whose references are checked in a run at most", "design"
    )
    files: int = number(20_000, 0, 10_000_000, "files of a directory that are looked at", "design")
    file_bytes: int = number(
        1_000_000, 0, 100_000_000, "bytes of a file that is read for symbols at most", "design"
    )
    mentions: int = number(
        5, 1, 1_000, "memories that name somebody before more should be known of them", "design"
    )
    asked: int = number(
        2, 1, 1_000, "questions about somebody that found nothing before they are a gap", "design"
    )
    asked_days: float = number(30.0, 0, 3_650, "days for which such questions count", "design")
    gaps: int = number(50, 0, 10_000, "gaps kept for each place, the weightiest", "design")
    names: int = number(200, 0, 100_000, "names of each place that gaps are looked for in a run", "design")
    check_days: float = number(
        1.0, 0, 3_650, "days between two looks at the soundness of the file, by maintenance", "ledger"
    )
    core_lines: int = number(12, 1, 200, "statements that the summary of the core is made of", "design")
