"""Calls that cannot be carried out as they were made; nothing has changed."""

from __future__ import annotations

from engram.errors.base import EngramError


class InvalidInput(EngramError):
    """The call cannot be carried out as it was made. Nothing was changed."""

    code = "E2000"


class EmptyContent(InvalidInput):
    """A memory needs something to say."""

    code = "E2001"

    def __init__(self, field: str = "content") -> None:
        super().__init__(f"The {field} is empty: say what to remember.")
        self.field = field


class ContentTooLong(InvalidInput):
    """A text is longer than a memory may be."""

    code = "E2002"

    def __init__(self, field: str, length: int, limit: int) -> None:
        super().__init__(
            f"The {field} has {length:,} characters, the limit is {limit:,}: split it into several memories."
        )
        self.field, self.length, self.limit = field, length, limit


class TooManyTags(InvalidInput):
    """A memory carries only so many tags."""

    code = "E2003"

    def __init__(self, count: int, limit: int) -> None:
        super().__init__(f"{count} tags were given, a memory takes at most {limit}.")
        self.count, self.limit = count, limit


class BadTag(InvalidInput):
    """A tag is empty or too long."""

    code = "E2004"

    def __init__(self, tag: str, limit: int) -> None:
        super().__init__(f"The tag {tag[:40]!r} does not fit: a tag has 1 to {limit} characters.")
        self.tag, self.limit = tag, limit


class UnknownValue(InvalidInput):
    """A word that is not one of the known ones."""

    code = "E2005"

    def __init__(self, field: str, value: object, known: tuple[str, ...]) -> None:
        super().__init__(f"{str(value)[:60]!r} is no {field}; known are: {', '.join(known)}.")
        self.field, self.value, self.known = field, value, known


class TooMany(InvalidInput):
    """More is given at once than one call takes."""

    code = "E2040"

    def __init__(self, what: str, number: int, limit: int) -> None:
        super().__init__(
            f"{number:,} {what} are too many for one call, which takes {limit:,}: send them in parts."
        )
        self.what, self.number, self.limit = what, number, limit


class BadText(InvalidInput):
    """Text with characters that no file could keep."""

    code = "E2006"

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"The {field} holds {what}: send plain Unicode text.")
        self.field, self.what = field, what


class WrongType(InvalidInput):
    """A value of another type than the call takes."""

    code = "E2007"

    def __init__(self, field: str, value: object, wanted: str) -> None:
        super().__init__(f"The {field} must be {wanted}, not {type(value).__name__}.")
        self.field, self.wanted = field, wanted


class OutOfRange(InvalidInput):
    """A number outside of its range."""

    code = "E2008"

    def __init__(self, field: str, value: object, low: object, high: object) -> None:
        super().__init__(f"The {field} is {value}, it must lie between {low} and {high}.")
        self.field, self.value, self.low, self.high = field, value, low, high


class BadCursor(InvalidInput):
    """A page was asked for with a cursor that no page gave out."""

    code = "E2009"

    def __init__(self, cursor: str) -> None:
        super().__init__(f"The cursor {cursor[:40]!r} came from no page: start again without one.")
        self.cursor = cursor


class BadTransition(InvalidInput):
    """A status change that makes no sense."""

    code = "E2010"

    def __init__(self, old: str, new: str) -> None:
        super().__init__(f"A memory that is {old} cannot become {new}.")
        self.old, self.new = old, new


class NotFound(InvalidInput):
    """No memory with that id is there for this caller."""

    code = "E2011"

    def __init__(self, memory_id: str) -> None:
        super().__init__(f"There is no memory {memory_id[:60]!r} that you can see.")
        self.memory_id = memory_id


class AmbiguousId(InvalidInput):
    """A shortened id fits several memories."""

    code = "E2012"

    def __init__(self, prefix: str, count: int) -> None:
        super().__init__(f"{count} memories begin with {prefix[:60]!r}: give more of the id.")
        self.prefix, self.count = prefix, count


class CycleRefused(InvalidInput):
    """A directed relation would close a circle."""

    code = "E2013"

    def __init__(self, edge_type: str) -> None:
        super().__init__(f"This {edge_type} relation would close a circle, which has no meaning.")
        self.edge_type = edge_type


class BadImport(InvalidInput):
    """A line of an import cannot be read as a memory."""

    code = "E2014"

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"Line {line} of the import: {why}")
        self.line, self.why = line, why


class ShortId(InvalidInput):
    """Too little of an id to mean one memory safely."""

    code = "E2015"

    def __init__(self, prefix: str, least: int) -> None:
        super().__init__(f"{prefix[:60]!r} is too little of an id: give at least {least} characters.")
        self.prefix, self.least = prefix, least


class UnknownFormat(InvalidInput):
    """A file that no reader knows."""

    code = "E2016"

    def __init__(self, name: str, why: str, known: tuple[str, ...]) -> None:
        super().__init__(f"{name}: {why}; name its format, one of: {', '.join(known)}.")
        self.name, self.why, self.known = name, why, known


class SourceTooLarge(InvalidInput):
    """A file, or what it unpacks to, is larger than is read."""

    code = "E2017"

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(f"{name} holds more than {limit // 1_000_000:,} MB: split it, and read the parts.")
        self.name, self.limit = name, limit


class BadSource(InvalidInput):
    """A file is not what its format says it is."""

    code = "E2018"

    def __init__(self, name: str, kind: str, why: str) -> None:
        super().__init__(f"{name} cannot be read as {kind}: {why}")
        self.name, self.kind, self.why = name, kind, why


class UnknownEntity(NotFound):
    """Nothing that this caller may see goes by that name."""

    code = "E2021"

    def __init__(self, name: str) -> None:
        InvalidInput.__init__(self, f"Nothing is known under the name {name[:60]!r}.")
        self.name = name


class UnknownRun(InvalidInput):
    """There is no run of upkeep with this id."""

    code = "E2022"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"There is no run {run_id!r}; `engram runs` lists the last ones.")
        self.run_id = run_id


class NotUndoable(InvalidInput):
    """A run that cannot be taken back."""

    code = "E2023"

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(f"The run {run_id} cannot be taken back: {reason}.")
        self.run_id = run_id


class NoFurtherLayer(InvalidInput):
    """A memory in the core cannot be promoted, one in the buffer cannot be demoted."""

    code = "E2024"

    def __init__(self, layer: str, verb: str) -> None:
        super().__init__(f"The memory is in the {layer} already: there is no layer to {verb} it to.")
        self.layer, self.verb = layer, verb


class UnknownSession(InvalidInput):
    """No session of that name is awake or asleep here."""

    code = "E2025"

    def __init__(self, session: str) -> None:
        super().__init__(f"There is no session {session!r}: it has ended, or slept too long. Start it again.")
        self.session = session


class PromptTooLong(InvalidInput):
    """The system prompt and the message alone are more than a prompt may have."""

    code = "E2026"

    def __init__(self, tokens: int, budget: int) -> None:
        super().__init__(f"System prompt and message take {tokens:,} of {budget:,} tokens: shorten them.")
        self.tokens, self.budget = tokens, budget


class TurnNotBegun(InvalidInput):
    """A turn of a session was asked for what it only has once it has begun."""

    code = "E2027"

    def __init__(self) -> None:
        super().__init__("The turn has not begun: use it in a `with` block, or call begin() first.")


class NotPublishable(InvalidInput):
    """A memory that cannot be offered to others."""

    code = "E2028"

    def __init__(self, memory_id: str, reason: str) -> None:
        super().__init__(f"The memory {memory_id[:8]} cannot be offered to others: {reason}.")
        self.memory_id = memory_id
