"""A verdict: what a rule says about a memory, and why; it becomes the rule and the reason of an event."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a rule applies. It is as true as its answer.

    >>> (
    ...     bool(Verdict(True, "buffer reinforced", "reinforcement 5.0 >= 5")),
    ...     bool(Verdict(False, "", "too young")),
    ... )
    (True, False)
    """

    yes: bool
    rule: str
    """The rule that decided; empty when none did."""
    why: str
    """The numbers in words."""

    def __bool__(self) -> bool:
        return self.yes


def no(why: str, rule: str = "") -> Verdict:
    """A verdict that says no."""
    return Verdict(yes=False, rule=rule, why=why)


def yes(rule: str, why: str) -> Verdict:
    """A verdict that says yes."""
    return Verdict(yes=True, rule=rule, why=why)
