"""What a caller may not do, settings, and what stands outside: models, other processes, doors."""

from __future__ import annotations

from engram.errors.base import EngramError


class AccessDenied(EngramError):
    """The caller may not see or change that."""

    code = "E4001"

    def __init__(self, what: str) -> None:
        super().__init__(f"This caller may not {what}.")


class TooManyRecalls(EngramError):
    """An agent asks more often than it may."""

    code = "E4002"

    def __init__(self, limit: int, per: str, seconds: float) -> None:
        super().__init__(f"An agent may recall {limit:,} times a {per}: wait {seconds:.0f} s.")
        self.limit, self.per = limit, per
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

    def __init__(self, why: str) -> None:
        super().__init__(f"The work was ended before it was done: {why}.")
        self.why = why


class TurnAborted(EngramError):
    """Somebody turned to another agent while this turn was under way."""

    code = "E7002"

    def __init__(self, session: str) -> None:
        super().__init__(f"The turn of session {session!r} was aborted: stop here, its answer is not wanted.")
        self.session = session


class UpkeepBusy(EngramError):
    """Somebody else maintains this file at the moment."""

    code = "E7001"

    def __init__(self, work: str) -> None:
        super().__init__(f"Another process is busy with {work} on this file: try again later.")
        self.work = work


class DoorError(EngramError):
    """A request that cannot be answered as it came, or a server that cannot start as it was told to."""

    code = "E6000"


class ModelNeeded(EngramError):
    """Something that only a model can do was asked for, and there is none."""

    code = "E3011"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs a model: set llm.base_url and llm.model, and llm.level to auto or full."
        )
        self.what = what
