"""The settings of sessions."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What lives between the turns of a conversation, and for how long."""

    slots: int = number(9, 1, 9, "things on the mind at once, at most", "cortex")
    half_life_minutes: float = number(
        10.0, 0.1, 10_080, "minutes after which what is on the mind is half as strong", "design"
    )
    evict_below: float = number(0.1, 0, 1, "activation under which something leaves the mind", "cortex")
    offer_above: float = number(
        0.3, 0, 1, "activation above which what leaves the mind is offered to long-term memory", "cortex"
    )
    momentum: float = number(0.4, 0, 1, "the most that the course of the talk weighs in a query", "cortex")
    recalled: int = number(
        100, 3, 500, "memories recalled for a message at most, however large the model's window", "measured"
    )
    anticipate: int = number(
        100, 0, 500, "memories prepared for the next message; 0: nothing is prepared", "measured"
    )
    alike: float = number(
        0.6, -1, 1, "cosine to what was expected above which the prepared recall is used", "cortex"
    )
    questions: int = number(2, 0, 100, "clarifying questions in a session, at most", "cortex")
    question_days: float = number(7.0, 0, 3_650, "days before the same question is asked again", "cortex")
    whole_hours: float = number(4.0, 0, 8_760, "hours for which a sleeping session stays whole", "cortex")
    decayed_hours: float = number(
        24.0, 0, 8_760, "hours after which nothing of a sleeping session comes back", "cortex"
    )
    morning: int = number(5, 0, 9, "memories that come to mind at a fresh start", "cortex")
    idle_minutes: float = number(
        30.0, 0.1, 10_080, "minutes without a turn after which a session goes to sleep", "cortex"
    )
    live: int = number(1_000, 1, 100_000, "sessions of one caller awake at once, at most", "design")
