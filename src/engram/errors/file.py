"""What may go wrong with the file."""

from __future__ import annotations

from engram.errors.base import EngramError


class StoreError(EngramError):
    """The file could not be opened, read or written."""

    code = "E1000"


class KeyNeeded(StoreError):
    """The file is encrypted and no fitting key was given."""

    code = "E1001"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is not a readable Engram file: it is encrypted, or no database at all.")
        self.path = path


class StoreCorrupt(StoreError):
    """The file is damaged."""

    code = "E1002"

    def __init__(self, detail: str) -> None:
        super().__init__(f"The file is damaged ({detail}): run `engram doctor`, or restore a backup.")
        self.detail = detail


class DiskFull(StoreError):
    """There is no room left to write."""

    code = "E1003"

    def __init__(self) -> None:
        super().__init__("The disk is full: nothing was written, reading goes on. Make room and try again.")


class StoreBusy(StoreError):
    """Another process held the file for too long."""

    code = "E1004"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Another process has been writing to the file for {seconds:g} s: try again.")
        self.seconds = seconds


class NewerSchema(StoreError):
    """The file was written by a newer version."""

    code = "E1005"

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"The file has schema {found}, this version knows {known}: upgrade engram.")
        self.found, self.known = found, known


class Overloaded(StoreError):
    """More writes are waiting than the queue takes."""

    code = "E1006"

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting:,} writes are waiting already: slow down and try again.")
        self.waiting = waiting


class MigrationChanged(StoreError):
    """A migration that ran on this file is not the one this version carries."""

    code = "E1007"

    def __init__(self, number: int) -> None:
        super().__init__(
            f"Migration {number} of this file differs from this version's: install the version that wrote it."
        )
        self.number = number


class NoSuchFile(StoreError):
    """The file that was named is not there, and what was asked for makes none."""

    code = "E1009"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There is no memory at {path}: look at the name; `engram remember` makes a new one."
        )
        self.path = path


class FileExists(StoreError):
    """Something would have been written over."""

    code = "E1010"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is there already: choose another name, or write over it with --force.")
        self.path = path


class StoreClosed(StoreError):
    """The engine was closed before the call."""

    code = "E1008"

    def __init__(self) -> None:
        super().__init__("The engine is closed: open it again.")
