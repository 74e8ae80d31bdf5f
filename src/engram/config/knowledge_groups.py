"""Settings of knowledge: what makes a pattern, a conclusion, a box, a card or a tree."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """What consolidation learns from memories taken together, and how much it takes for that."""

    pattern_episodes: int = number(3, 2, 100, "similar episodes that make a pattern", "cortex")
    pattern_cosine: float = number(
        0.75, 0, 1, "how near episodes of a pattern lie; on the scale of common models", "cortex"
    )
    pattern_confidence: float = number(0.8, 0, 1, "how sure they are together, at least", "cortex")
    procedure_runs: int = number(3, 2, 100, "times a sequence of actions makes a procedure", "cortex")
    inference_steps: int = number(5, 2, 10, "facts that a conclusion rests on at most", "design")
    inference_confidence: float = number(0.5, 0, 1, "how sure a conclusion is, at least", "design")
    inferences: int = number(500, 0, 100_000, "conclusions drawn in one run at most", "design")
    box_overlap: float = number(
        0.35, 0, 1, "shared topics below which another box begins; from which boxes make a trace", "files"
    )
    box_idle_minutes: float = number(30.0, 1, 100_000, "minutes of silence that seal a box", "files")
    box_memories: int = number(50, 2, 10_000, "memories after which a box is sealed", "files")
    card_mentions: int = number(3, 1, 1_000, "memories that must name somebody for a card", "design")
    cards: int = number(200, 0, 100_000, "cards kept for each place, the most spoken of", "design")
    card_facts: int = number(12, 1, 200, "facts and statements on a card", "design")
    profile_lines: int = number(60, 1, 1_000, "lines of the behavioural profile", "files")
    identity_bytes: int = number(
        8_192, 256, 1_000_000, "bytes over which reflections about oneself are compacted", "files"
    )
    guideline_days: float = number(
        1.0, 0, 3_650, "days after which a decision has shown what it was worth", "design"
    )
    guideline_cases: int = number(5, 1, 10_000, "cases before anything is concluded from them", "design")
    tree_memories: int = number(5, 2, 1_000, "memories of a cluster, on average, in a small tree", "cortex")
    tree_clusters: int = number(400, 1, 10_000, "clusters of a tree at most", "design")
    tree_tokens: int = number(200, 20, 2_000, "tokens of the paragraph that stands for all", "cortex")
    model_calls: int = number(
        20, 0, 10_000, "questions to a model in one step, where one is allowed", "design"
    )
