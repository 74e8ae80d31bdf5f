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
    work_out: Callable[..., Answer] = work
    recent: dict[Any, Answer] = {}
    older: dict[Any, Answer] = {}
    of_long: dict[Any, Answer] = {}

    def read(key: Any, text: str, *more: Any) -> Answer:
        nonlocal recent, older
        if len(text) > SHORT:
            answer: Answer = of_long.get(key, _UNREAD)
            if answer is _UNREAD:
                answer = work_out(text, *more)
                if len(of_long) >= FEW:
                    of_long.clear()
                of_long[key] = answer
            return answer
        answer = older.get(key, _UNREAD)
        if answer is _UNREAD:
            answer = work_out(text, *more)
        if len(recent) >= MANY:
            recent, older = {}, recent
        recent[key] = answer
        return answer

    def ask(text: str, /, *more: Any) -> Answer:
        key = (text, *more) if more else text
        answer: Answer = recent.get(key, _UNREAD)
        return read(key, text, *more) if answer is _UNREAD else answer

    def ask_of_text_alone(text: str, /) -> Answer:
        answer: Answer = recent.get(text, _UNREAD)
        return read(text, text) if answer is _UNREAD else answer

    quick: Callable[..., Answer] = ask if work.__code__.co_argcount > 1 else ask_of_text_alone
    return wraps(work)(quick)


_UNREAD: Final[Any] = object()
