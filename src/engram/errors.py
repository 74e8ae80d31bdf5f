"""Every error the engine raises, as one tree with stable codes.

EngramError has below it InvalidInput (E2: the call cannot be carried out as it was made; nothing changed),
StoreError (E1: the file or database), EmbedderError (E3), DoorError (E6: a request or a server), and single
ones: what a caller may not do (E4), a setting (E5), work that cannot go on now (E7).
`docs/reference/errors.md` lists each.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

QUOTED = 60
"""So many characters of what somebody gave are quoted."""


class _Sentences(Formatter):
    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion == "r":
            return repr(str(value)[:QUOTED])
        return ", ".join(value) if isinstance(value, tuple) else value


class EngramError(Exception):
    """Anything the engine refuses or fails to do."""

    code = "E0000"
    says = "{message}"
    """The message. What it names is given in this order, and is an attribute of the error."""
    takes: tuple[str, ...] = ("message",)
    """The names in the order in which they are given, where the message has another."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "says" in vars(cls) and "takes" not in vars(cls):
            cls.takes = tuple(dict.fromkeys(name for _, name, *_ in Formatter().parse(cls.says) if name))

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        facts = dict(zip(self.takes, given, strict=True))
        vars(self).update(facts)
        self.message = _Sentences().vformat(self.says, (), facts)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


# ---------------------------------------------------------------- file
# What may go wrong with the file.


class StoreError(EngramError):
    """The file could not be opened, read or written."""

    code = "E1000"


class KeyNeeded(StoreError):
    """The file is encrypted and no fitting key was given."""

    code = "E1001"

    def __init__(self, path: str, *, wrong: bool = False) -> None:
        why = (
            "the key does not fit, or the file is no database at all"
            if wrong
            else "it is a vault, or no database at all: give its key by `engram vault unlock`, ENGRAM_KEY, "
            "ENGRAM_KEY_FILE or Engram.open(key=…)"
        )
        super().__init__(f"{path} cannot be read: {why}.")
        self.path, self.wrong = path, wrong


class KeyNotWanted(StoreError):
    """A key was given for a file that is not encrypted."""

    code = "E1011"
    says = (
        "{path} is not encrypted, yet a key was given: `engram vault init` encrypts it; or leave "
        "ENGRAM_KEY and ENGRAM_KEY_FILE unset."
    )


class BadKey(StoreError):
    """What was given as a key is none."""

    code = "E1012"


class NoKeychain(StoreError):
    """There is no place where a key could be held."""

    code = "E1013"
    says = (
        "This system has no keychain that can be used (the extra `vault` brings `keyring`) and no "
        "session folder: keep the key in a file of your own and name it by ENGRAM_KEY_FILE."
    )


class VaultRefused(StoreError):
    """A vault cannot be made, changed or undone as it was asked."""

    code = "E1014"


class StoreCorrupt(StoreError):
    """The file is damaged."""

    code = "E1002"
    says = "The file is damaged ({detail}): run `engram doctor`, or restore a backup."


class DiskFull(StoreError):
    """There is no room left to write."""

    code = "E1003"
    says = "The disk is full: nothing was written, reading goes on. Make room and try again."


class BadArchive(StoreError):
    """What should be an archive cannot be read as one. Nothing was made of it."""

    code = "E1015"
    says = "The archive cannot be taken in: {why}."


class DatabaseDown(StoreError):
    """The PostgreSQL server of a memory cannot be reached, or the connection to it broke."""

    code = "E1016"
    says = "{address} cannot be reached ({why}): see whether the server runs, and try again."


class StoreBusy(StoreError):
    """Another process held the file for too long."""

    code = "E1004"
    says = "Another process has been writing to the file for {seconds:g} s: try again."


class NewerSchema(StoreError):
    """The file was written by a newer version."""

    code = "E1005"
    says = "The file has schema {found}, this version knows {known}: upgrade engram."


class Overloaded(StoreError):
    """More writes are waiting than the queue takes."""

    code = "E1006"
    says = "{waiting:,} writes are waiting already: slow down and try again."


class MemoryFull(EngramError):
    """The process holds nearly all the memory it may: heavy work would end it."""

    code = "E7004"

    def __init__(self, work: str, resident: int, limit: int) -> None:
        super().__init__(
            f"{resident // 2**20:,} of {limit // 2**20:,} MB of memory are in use, too much to {work} now:"
            " try again later, in smaller parts, or raise limits.memory_mb."
        )
        self.work, self.resident, self.limit = work, resident, limit


class MigrationChanged(StoreError):
    """A migration that ran on this file is not the one this version carries."""

    code = "E1007"
    says = "Migration {number} of this file differs from this version's: install the version that wrote it."


class NoSuchFile(StoreError):
    """The file that was named is not there, and what was asked for makes none."""

    code = "E1009"

    def __init__(self, path: str, *, is_backup: bool = False) -> None:
        memory = f"There is no memory at {path}: look at the name; `engram remember` makes a new one."
        backup = f"There is no backup at {path}: `engram backup list` names those there are."
        super().__init__(backup if is_backup else memory)
        self.path = path


class FileExists(StoreError):
    """Something would have been written over."""

    code = "E1010"

    def __init__(self, path: str, *, may_force: bool = False) -> None:
        force = ", or write over it with --force" if may_force else ""
        super().__init__(f"{path} is there already: choose another name{force}.")
        self.path = path


class StoreClosed(StoreError):
    """The engine was closed before the call."""

    code = "E1008"
    says = "The engine is closed: open it again."


# ---------------------------------------------------------------- mistakes
# Calls that cannot be carried out as they were made; nothing has changed.


class InvalidInput(EngramError):
    """The call cannot be carried out as it was made. Nothing was changed."""

    code = "E2000"


class EmptyContent(InvalidInput):
    """A memory needs something to say."""

    code = "E2001"

    def __init__(self, field: str = "content") -> None:
        super().__init__(f"The {field} is empty: say what to remember.")
        self.field = field


class EmptyQuestion(InvalidInput):
    """A question needs something to look for."""

    code = "E2029"
    says = "The question is empty: say what to look for."


class ContentTooLong(InvalidInput):
    """A text is longer than a memory may be."""

    code = "E2002"
    says = "The {field} has {length:,} characters, the limit is {limit:,}: split it into several memories."


class TooManyTags(InvalidInput):
    """A memory carries only so many tags."""

    code = "E2003"
    says = "{count} tags were given, a memory takes at most {limit}."


class BadTag(InvalidInput):
    """A tag is empty or too long."""

    code = "E2004"
    says = "The tag {tag!r} does not fit: a tag has 1 to {limit} characters."


class UnknownValue(InvalidInput):
    """A word that is not one of the known ones."""

    code = "E2005"
    says = "{value!r} is no {field}; known are: {known}."
    takes = ("field", "value", "known")


class WorkspaceError(InvalidInput):
    """A folder of files cannot be kept in step as it is."""

    code = "E2030"


class TooMany(InvalidInput):
    """More is given at once than one call takes."""

    code = "E2040"
    says = "{number:,} {what} are too many for one call, which takes {limit:,}: send them in parts."
    takes = ("what", "number", "limit")


class BadText(InvalidInput):
    """Text with characters that no file could keep."""

    code = "E2006"
    says = "The {field} holds {what}: send plain Unicode text."


class WrongType(InvalidInput):
    """A value of another type than the call takes."""

    code = "E2007"

    def __init__(self, field: str, value: object, wanted: str) -> None:
        given = f"{value[:40]!r}" if isinstance(value, str) else type(value).__name__
        super().__init__(f"The {field} must be {wanted}, not {given}.")
        self.field, self.wanted = field, wanted


class OutOfRange(InvalidInput):
    """A number outside of its range."""

    code = "E2008"
    says = "The {field} is {value}, it must lie between {low} and {high}."


class BadCursor(InvalidInput):
    """A page was asked for with a cursor that no page gave out."""

    code = "E2009"
    says = "The cursor {cursor!r} came from no page: start again without one."


class BadTransition(InvalidInput):
    """A status change that makes no sense."""

    code = "E2010"
    says = "A memory that is {old} cannot become {new}."


class NotFound(InvalidInput):
    """No memory with that id is there for this caller."""

    code = "E2011"
    says = "There is no memory {memory_id!r} that you can see."


class AmbiguousId(InvalidInput):
    """A shortened id fits several memories."""

    code = "E2012"
    says = "{count} memories begin with {prefix!r}: give more of the id."
    takes = ("prefix", "count")


class CycleRefused(InvalidInput):
    """A directed relation would close a circle."""

    code = "E2013"
    says = "This {edge_type} relation would close a circle, which has no meaning."


class BadImport(InvalidInput):
    """A line of an import cannot be read as a memory."""

    code = "E2014"
    says = "Line {line} of the import: {why}"


class ShortId(InvalidInput):
    """Too little of an id to mean one memory safely."""

    code = "E2015"
    says = "{prefix!r} is too little of an id: give at least {least} characters."


class UnknownFormat(InvalidInput):
    """A file that no reader knows."""

    code = "E2016"
    says = "{name}: {why}; name its format, one of: {known}."


class SourceTooLarge(InvalidInput):
    """A file, or what it unpacks to, is larger than is read."""

    code = "E2017"

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(f"{name} holds more than {limit // 1_000_000:,} MB: split it, and read the parts.")
        self.name, self.limit = name, limit


class BadSource(InvalidInput):
    """A file is not what its format says it is."""

    code = "E2018"
    says = "{name} cannot be read as {kind}: {why}"


class UnknownEntity(NotFound):
    """Nothing that this caller may see goes by that name."""

    code = "E2021"
    says = "Nothing is known under the name {name!r}."


class UnknownRun(InvalidInput):
    """There is no run of upkeep with this id."""

    code = "E2022"
    says = "There is no run {run_id!r}; `engram runs` lists the last ones."


class NotUndoable(InvalidInput):
    """A run that cannot be taken back."""

    code = "E2023"
    says = "The run {run_id} cannot be taken back: {reason}."


class NoFurtherLayer(InvalidInput):
    """A memory in the core cannot be promoted, one in the buffer cannot be demoted."""

    code = "E2024"
    says = "The memory is in the {layer} already: there is no layer to {verb} it to."


class UnknownSession(InvalidInput):
    """No session of that name is awake or asleep here."""

    code = "E2025"
    says = "There is no session {session!r}: it has ended, or slept too long. Start it again."


class PromptTooLong(InvalidInput):
    """The system prompt and the message alone are more than a prompt may have."""

    code = "E2026"
    says = "System prompt and message take {tokens:,} of {budget:,} tokens: shorten them."


class TurnNotBegun(InvalidInput):
    """A turn of a session was asked for what it only has once it has begun."""

    code = "E2027"
    says = "The turn has not begun: use it in a `with` block, or call begin() first."


class NotPublishable(InvalidInput):
    """A memory that cannot be offered to others."""

    code = "E2028"
    says = "The memory {memory_id:.8} cannot be offered to others: {reason}."


# ---------------------------------------------------------------- outside
# What a caller may not do, settings, and what stands outside: models, other processes, doors.


class AccessDenied(EngramError):
    """The caller may not see or change that."""

    code = "E4001"
    says = "This caller may not {what}."


class TooManyRecalls(EngramError):
    """An agent asks more often than it may."""

    code = "E4002"
    says = "An agent may recall {limit:,} times a {per}: wait {seconds:.0f} s."


class TooMuchWritten(EngramError):
    """A caller that is not the owner has written what it may in a day."""

    code = "E4003"

    def __init__(self, limit: int, what: str, seconds: float) -> None:
        super().__init__(
            f"This caller may write {limit:,} {what} in a day: wait {seconds / 3_600:.1f} hours."
        )
        self.limit, self.what = limit, what
        self.seconds = seconds


class ConfigError(EngramError):
    """A setting has no meaning or is out of its range."""

    code = "E5001"


class EmbedderError(EngramError):
    """The part that turns text into vectors failed."""

    code = "E3000"


class EmbedderDown(EmbedderError):
    """No vectors can be made at the moment; text search goes on."""

    code = "E3001"


class EmbedderMismatch(EmbedderError):
    """Vectors came in another shape than this space has."""

    code = "E3002"


class EmbedderRefused(EmbedderError):
    """The server works but does not take these texts, perhaps because one is too long for its model."""

    code = "E3003"


class RerankerDown(EngramError):
    """The cross-encoder cannot be used: its extra or its folder is missing."""

    code = "E3010"


class WorkCancelled(EngramError):
    """The work was ended because nobody waits for it any more."""

    code = "E7003"
    says = "The work was ended before it was done: {why}."


class TurnAborted(EngramError):
    """Somebody turned to another agent while this turn was under way."""

    code = "E7002"
    says = "The turn of session {session!r} was aborted: stop here, its answer is not wanted."


class UpkeepBusy(EngramError):
    """Somebody else maintains this file at the moment."""

    code = "E7001"
    says = "Another process is busy with {work} on this file: try again later."


class DoorError(EngramError):
    """A request that cannot be answered as it came, or a server that cannot start as it was told to."""

    code = "E6000"


class ModelNeeded(EngramError):
    """Something that only a model can do was asked for, and there is none."""

    code = "E3011"
    says = "{what} needs a model: set llm.base_url and llm.model, and llm.level to auto or full."
