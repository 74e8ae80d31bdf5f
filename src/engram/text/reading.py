"""One reading of a text: what was worked out from its words is kept with it, for all who look at it next.

Capture, the rules of sameness, planning a recall and maintenance ask the same of the same texts: sentences,
language, names, dates, marks. Each answer is worked out once; each question keeps those of the latest texts.

    @read_once
    def language(text: str) -> str: ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

SHORT: Final = 2_000
"""Characters of a text that is one of many; what is longer is a document, of which few are kept."""
MANY: Final = 1 << 10
"""Answers about short texts after which those before are the older ones, which the next so many replace."""
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
    recent: dict[Any, Answer] = {}
    older: dict[Any, Answer] = {}
    of_long: dict[Any, Answer] = {}

    def read(key: Any, text: str, *more: Asked.args, **named: Asked.kwargs) -> Answer:
        nonlocal recent, older
        if len(text) > SHORT:
            answer: Answer = of_long.get(key, _UNREAD)
            if answer is _UNREAD:
                answer = work(text, *more, **named)
                if len(of_long) >= FEW:
                    of_long.clear()
                of_long[key] = answer
            return answer
        answer = older.get(key, _UNREAD)
        if answer is _UNREAD:
            answer = work(text, *more, **named)
        if len(recent) >= MANY:
            recent, older = {}, recent
        recent[key] = answer
        return answer

    @wraps(work)
    def ask(text: str, /, *more: Asked.args, **named: Asked.kwargs) -> Answer:
        key = (text, *more, *named.items()) if more or named else text
        answer: Answer = recent.get(key, _UNREAD)
        return read(key, text, *more, **named) if answer is _UNREAD else answer

    return ask


_UNREAD: Final[Any] = object()
