"""One reading of a text: what was worked out from its words is kept with it, for all who look at it next.

Capture, the rules of sameness, planning a recall and maintenance ask the same of the same texts: sentences,
language, names, dates, marks. Each answer is worked out once and goes when its text goes.

    @read_once
    def language(text: str) -> str: ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

SHORT: Final = 2_000
"""Characters of a text that is one of many; what is longer is a document, of which few are kept."""
MANY: Final = 1 << 12
FEW: Final = 1 << 5


def read_once(
    work: Callable[Concatenate[str, Asked], Answer],
) -> Callable[Concatenate[str, Asked], Answer]:
    """A function of a text, and of hashable values by position, that works an answer out once.

    The answer is shared: it must be one that nobody changes.

    >>> read = []
    >>> @read_once
    ... def length(text: str) -> int:
    ...     read.append(text)
    ...     return len(text)
    >>> length("tea"), length("tea"), read
    (3, 3, ['tea'])
    """

    @wraps(work)
    def ask(text: str, /, *more: Asked.args, **named: Asked.kwargs) -> Answer:
        known = _short(text) if len(text) <= SHORT else _long(text)
        key = (work, *more, *named.items()) if more or named else work
        answer: Answer = known.get(key, _UNREAD)
        if answer is _UNREAD:
            answer = known[key] = work(text, *more, **named)
        return answer

    return ask


_UNREAD: Final[Any] = object()


@lru_cache(maxsize=MANY)
def _short(_text: str) -> dict[Any, Any]:
    return {}


@lru_cache(maxsize=FEW)
def _long(_text: str) -> dict[Any, Any]:
    return {}
