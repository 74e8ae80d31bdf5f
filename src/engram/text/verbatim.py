"""What must be kept word for word: quotes, code, commands, errors, addresses and figures of a text.

A summary may say the rest in other words. The parts come in the order of the text, none inside another, at
most `MOST` of them; a part that is too long is kept to its first `LONGEST` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from engram.text import lexicon


def verbatim(text: str) -> tuple[str, ...]:
    """The parts of `text` that no summary may change.

    >>> verbatim('Run `make test`; it says "E2001: no such memory" after 2.5 GB on v1.4.2')
    ('make test', 'E2001: no such memory', '2.5 GB', 'v1.4.2')
    >>> verbatim("She likes tea")
    ()
    """
    plain = text[:READ]
    spans = _apart(sorted(_spans(plain), key=lambda span: (span[0], -span[1])))
    parts = (plain[start:end].strip() for start, end in spans)
    kept = dict.fromkeys(part[:LONGEST].rstrip() for part in parts if part)
    return tuple(kept)[:MOST]


READ: Final = 8_192
"""The longest content there is."""
MOST: Final = 12
"""A memory needs no more."""
LONGEST: Final = 200
"""Characters of one part."""

_SIGN = re.compile(r"[\d`\"'“「『«@/\\:$]")
_FENCE = re.compile(r"```[^\n`]*\n(?P<part>.*?)(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"`(?P<part>[^`\n]{1,400})`")
_QUOTE = re.compile(
    r"(?<![\w\"])\"(?P<a>[^\"\n]{2,400})\"(?!\w)|“(?P<b>[^”\n]{2,400})”|「(?P<c>[^」\n]{2,400})」|『(?P<d>[^』\n]{2,400})』"
    r"|«\s?(?P<e>[^»\n]{2,400}?)\s?»|(?<![\w'])'(?P<f>[^'\n]{2,400})'(?!\w)|(?<!\w)‘(?P<g>[^’\n]{2,400})’(?!\w)"
)
_ADDRESS = re.compile(
    r"\b(?:https?|ftp|ssh|git|s3|file|postgres(?:ql)?|redis|mongodb)://[^\s<>\"'`)\]}，。；、]+|\bwww\.[^\s<>\"'`)\]}，。；、]+"
    r"|\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w/.:<-])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)*/?|\b[A-Za-z]:\\[\w\\.-]+|(?<![\w/.-])[\w.-]+(?:/[\w.@-]+)+\.\w{1,8}\b"
    r"|(?<![\w/.-])[\w-]+\.(?:py|tsx?|jsx?|go|rs|java|c|h|cpp|rb|sql|toml|ya?ml|json|md|txt|csv|html|css|sh|ini|cfg|conf"
    r"|lock|env|log|xml|pdf|db|sqlite)\b",
    re.ASCII,
)
_VERSION = re.compile(
    r"(?<![\w.])v?\d{1,8}\.\d{1,8}\.\d{1,8}(?:[-+][\w.]{1,30})?(?!\.?\w)|(?<![\w.])v\d{1,8}(?:\.\d{1,8}){0,4}(?:-[\w.]{1,30})?\b",
    re.ASCII,
)
# What an error says, to the end of its clause.
_TOLD: Final = r"[^\n\"`。]{1,200}?(?=[.;。；](?:\s|$)|\n|$|[,，]\s)"
_ERRNO: Final = (
    r"E(?:CONN[A-Z]+|NO(?:ENT|MEM|SPC|SYS|T[A-Z]+)|ACCES|PERM|EXIST|ADDR[A-Z]+|TIMEDOUT|PIPE|INVAL)"
)
_ERROR = re.compile(
    rf"\b(?:[A-Z]\w*(?:Error|Exception|Warning|Fault|Panic)|E\d{{3,5}}|ERR_\w+|{_ERRNO}|SIG[A-Z]{{3,}})\b"
    rf"(?:\s?:\s{_TOLD})?"
    r"|\b0x[0-9A-Fa-f]{4,}\b"
    r"|(?i:\b(?:HTTP|error|errno|exit code|status|错误码|错误代码)\s?:?\s?#?\d{1,5}\b"
    rf"(?:\s?[:：]\s?{_TOLD})?)"
    rf"|(?i:(?<!\w)(?:error|fatal|panic|failed|traceback|报错|错误)[:：]\s?{_TOLD})"
)
_FIGURE_SIGN: Final = r"[$€£¥₹]\s?\d[\d,.]{0,20}\d(?:\s?[kKmMbB]\b)?|[$€£¥₹]\s?\d(?:\s?[kKmMbB]\b)?"


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where such parts stand; they may lie in each other."""
    for pattern in (_FENCE, _CODE, _QUOTE) if _SIGN.search(text) else ():
        for match in pattern.finditer(text):
            group = match.lastgroup or "part"
            yield match.span(group)
    for pattern in (_ADDRESS, _PATH, _VERSION) if _SIGN.search(text) else ():
        for match in pattern.finditer(text):
            yield match.start(), match.start() + len(match.group().rstrip(".,;:!?"))
    for pattern in (_ERROR, *((_figure(),) if _DIGIT.search(text) else ())):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _command().finditer(text) if _is_command(match))


_DIGIT = re.compile(r"\d")


def _apart(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The outer spans of those that overlap."""
    end = -1
    for start, stop in spans:
        if start >= end and stop > start:
            yield start, stop
            end = stop


@cache
def _command() -> re.Pattern[str]:
    """What follows a prompt; a tool with its arguments that starts a line or follows a colon or "run"."""
    told = "|".join(f"(?<={lead})" for lead in (r"\brun ", r"\bran ", r"\bexecute ", "运行", "执行"))
    lead = "|".join(f"(?<={lead})" for lead in ("^", ": ", "：", r"\buse ", r"\btype "))
    tools = _any_of(word.removeprefix("~") for word in _words("tools"))
    argument = (
        rf"(?!(?:{_any_of(_words('prose'))})(?: |$))(?:--?[\w-]+(?:=\S+)?|[\w./@:=*{{}}$~+-]*[\w/@:=*~])"
    )
    return re.compile(
        rf"(?<=^\$ )[^\n]{{2,300}}"
        rf"|(?:(?P<told>{told})|{lead})(?:sudo )?(?P<tool>{tools})(?P<rest>(?: {argument})+)",
        re.MULTILINE | re.ASCII,
    )


def _is_command(match: re.Match[str]) -> bool:
    """Tools that are plain words too, marked with ~, need an option or a path, or somebody who runs them."""
    if match["tool"] is None or match["told"] is not None or f"~{match['tool']}" not in _words("tools"):
        return True
    return re.search(r"[-/.=]", match["rest"]) is not None


@cache
def _words(part: str) -> frozenset[str]:
    return frozenset(word for row in lexicon.parts("commands")[part] for word in row.split())


@cache
def _figure() -> re.Pattern[str]:
    """A figure with its unit or currency."""
    units = _any_of(lexicon.words("units"))
    number = r"\d[\d,]{0,20}(?:\.\d{1,12})?"
    return re.compile(
        rf"{_FIGURE_SIGN}|(?<![A-Za-z0-9_.,])[-−]?{number}(?:\s?[-–]\s?{number})?\s?(?:{units})(?![A-Za-z])"
    )


def _any_of(words: Iterable[str]) -> str:
    """The longest first: `docker-compose` before `docker`."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
