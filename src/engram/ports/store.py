"""The store: a bundle of nouns, one way to write, and upkeep."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from engram.model.pages import Finding
    from engram.ports.bus import Bus
    from engram.ports.nouns import (
        Answers,
        Entities,
        Facts,
        Ledger,
        Memories,
        Opinions,
        Origins,
        Recalls,
        Relations,
        Spending,
        Texts,
        Tokens,
        Turns,
        Vectors,
    )
    from engram.ports.snapshots import Snapshots
    from engram.ports.triggers import Triggers
    from engram.ports.unit import Unit
    from engram.ports.upkeep import Upkeep


T = TypeVar("T")


class Store(Protocol):
    """A bundle of nouns, one way to write, and upkeep."""

    @property
    def memories(self) -> Memories:
        """The records."""
        ...

    @property
    def texts(self) -> Texts:
        """The text index."""
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors."""
        ...

    @property
    def relations(self) -> Relations:
        """The edges."""
        ...

    @property
    def facts(self) -> Facts:
        """What memories state."""
        ...

    @property
    def entities(self) -> Entities:
        """Who and what is spoken of."""
        ...

    @property
    def turns(self) -> Turns:
        """The raw log."""
        ...

    @property
    def origins(self) -> Origins:
        """Where imports came from."""
        ...

    @property
    def spending(self) -> Spending:
        """What models have cost."""
        ...

    @property
    def recalls(self) -> Recalls:
        """How the last recalls went."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The events."""
        ...

    @property
    def answers(self) -> Answers:
        """What was answered to writes with a key."""
        ...

    @property
    def tokens(self) -> Tokens:
        """Who may come in from outside."""
        ...

    @property
    def opinions(self) -> Opinions:
        """The feedback."""
        ...

    @property
    def snapshots(self) -> Snapshots:
        """Sessions that sleep."""
        ...

    @property
    def triggers(self) -> Triggers:
        """Words that load pages."""
        ...

    @property
    def bus(self) -> Bus:
        """What agents tell each other."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """Runs of maintenance, what they decided, and what they worked out."""
        ...

    def write(self, work: Callable[[Unit], T], actor: str) -> T:
        """Run the work inside the writer and wait until it is on disk. An exception leaves nothing behind."""
        ...

    def write_later(self, work: Callable[[Unit], object], actor: str) -> None:
        """Hand work over without waiting, for what may be lost (counting a use). A full queue drops it."""
        ...

    def flush(self) -> None:
        """Wait until everything handed over so far is written."""
        ...

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""
        ...

    def vacuum(self, *, full: bool = True) -> None:
        """Give freed space back and leave nothing of erased memories in the file or its log.

        Unless `full`, only what can be done without writing the whole file anew.
        """
        ...

    def check(self, *, repair: bool = False) -> list[Finding]:
        """Look for damage; with `repair` mend what can be rebuilt (text index, names, counters)."""
        ...

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Hold a certain work for oneself, over all processes; raises UpkeepBusy when somebody else does."""
        ...

    def copy(self) -> Store:
        """A private copy of everything as it is now, to try things on; closing it removes it."""
        ...

    def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""
        ...
