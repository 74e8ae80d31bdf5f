"""Shorter forms of a text: a summary of about half, a key fact of one clause, a label of two to six words.

All three are cut from the text itself, so nothing is invented; the same text always gives the same forms, and
no form is longer than its text. A short text is its own summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import Final

from engram.model.memory import Forms
from engram.text import lexicon, re
from engram.text.reading import read_once
from engram.text.sentences import sentences
from engram.text.tokens import count
from engram.text.words import PAIRED, content_words, terms

# ---------------------------------------------------------------- key
# The key: what of a memory is turned into its vector.
#
# Who says a thing is part of what it means: "I play the violin" answers a question about Ann only when Ann
# said it, and her own words seldom name her.


def key_text(content: str, speaker: str = "", after: str = "") -> str:
    """The text that is embedded for a content; `after` is what it corrects without naming it.

    >>> key_text("I play the violin", speaker="Ann"), key_text("Ann plays the violin")
    ('Ann: I play the violin', 'Ann plays the violin')
    """
    whole = f"{after} {content}" if after else content
    return f"{speaker}: {whole}" if speaker else whole


# ---------------------------------------------------------------- verbatim
# What must be kept word for word: quotes, code, commands, errors, addresses and figures of a text.
#
# A summary may say the rest in other words. The parts come in the order of the text, none inside another,
# at most `MOST` of them; a part that is too long is kept to its first `LONGEST` characters.


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


SHORT: Final = 80
SHARE: Final = 0.5
KEY_LIMIT: Final = 120
LABEL_WORDS: Final = 6
LABEL_CHARACTERS: Final = 12  # of a text in a script without spaces

_MARKED = re.compile(
    r"\d[\d.,:]*|(?<=\s)[A-Z]\w*|\w+[./_@]\w+|\b(?:not|never|no longer|actually|instead)\b|不|改|现在"
)
# The same for a text without words joined by signs, which are slow to look for.
_JOINED = re.compile(r"[./_@]\w")
_MARKED_PLAIN = re.compile(
    r"\d[\d.,:]*|[A-Z](?<=\s[A-Z])\w*"
    r"|n(?<=\bn)(?:ot|ever|o longer)\b|a(?<=\ba)ctually\b|i(?<=\bi)nstead\b|不|改|现在"
)
_PAIRED = re.compile(f"[{PAIRED}]")
_CLAUSE = re.compile(
    r"[;,](?<=[^\d][;,])(?=\s)|[，；：]"
    r"|\s(?:[—–-]\s|(?=(?:because|although|though|which|while|whereas|unless)\b))"
)
_OPENER = re.compile(
    r"^(?:(?:by the way|also|and|but|so|well|oh|hey|hi|hello|yes|yeah|ok|okay|thanks|wow|anyway|actually"
    r"|btw|fyi"
    r"|just so you know|i think|i guess|you know)\b[\s,!.:]*)+",
    re.IGNORECASE,
)


class FormsOnDemand(Forms):
    """The shorter forms of a content, each worked out when it is first asked for; most never are."""

    __slots__ = ("_content",)
    _content: str

    def __init__(self, content: str) -> None:
        object.__setattr__(self, "_content", content)

    @property
    def summary(self) -> str:
        """The sentences that say most."""
        return summary(self._content)

    @property
    def key_fact(self) -> str:
        """The one clause that says most."""
        return key_fact(self._content)

    @property
    def label(self) -> str:
        """A few words to show in a list."""
        return label(self._content)

    @property
    def content_tokens(self) -> int:
        """What the content costs."""
        return _tokens(self._content)

    @property
    def summary_tokens(self) -> int:
        """What the summary costs."""
        return _tokens(self.summary)

    @property
    def key_fact_tokens(self) -> int:
        """What the key fact costs."""
        return _tokens(self.key_fact)

    @property
    def label_tokens(self) -> int:
        """What the label costs."""
        return _tokens(self.label)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FormsOnDemand):
            return self._content == other._content
        return isinstance(other, Forms) and all(
            getattr(self, one.name) == getattr(other, one.name) for one in fields(Forms)
        )

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        return f"FormsOnDemand({self._content!r})"

    def __reduce__(self) -> tuple[type[FormsOnDemand], tuple[str]]:
        return FormsOnDemand, (self._content,)


@read_once
def _tokens(text: str) -> int:
    return count(text)


@read_once
def summary(text: str) -> str:
    """The sentences that say most, in their order, together about half of the text.

    >>> summary("Anna uses Helix.")
    'Anna uses Helix.'
    """
    whole = text.strip()
    parts = sentences(whole)
    if _width(whole) <= SHORT or not parts:
        return whole
    if len(parts) == 1:
        return _shorter(_first_clauses(parts[0], int(len(whole) * SHARE)), whole)
    chosen: set[int] = set()
    room = len(whole) * SHARE
    for at in _best_first(parts):
        if not chosen or len(parts[at]) <= room:
            chosen.add(at)
            room -= len(parts[at])
    return _shorter(_joined([part for at, part in enumerate(parts) if at in chosen]), whole)


@read_once
def key_fact(text: str) -> str:
    """The one clause that says most.

    >>> key_fact("Thanks! By the way, we moved the database to PostgreSQL 16, which took all day.")
    'we moved the database to PostgreSQL 16'
    """
    whole = text.strip()
    parts = sentences(whole)
    if not parts or (len(parts) == 1 and _width(whole) <= SHORT and not _CLAUSE.search(whole)):
        return whole
    best = parts[next(iter(_best_first(parts)))]
    clauses = [part.strip() for part in _CLAUSE.split(_OPENER.sub("", best)) if part and part.strip()] or [
        best
    ]
    clause = clauses[next(iter(_best_first(clauses)))]
    return _shorter(_cut(clause, KEY_LIMIT).rstrip(".,;:。，；："), whole)


@read_once
def label(text: str) -> str:
    """Two to six words to show in a list.

    >>> label("We moved the database to PostgreSQL 16 because of the new planner.")
    'moved database PostgreSQL 16'
    """
    key = key_fact(text)
    if not key.isascii() and _PAIRED.search(key):
        return _shorter(_han_label(key), text.strip())
    words = key.split()
    if len(words) <= LABEL_WORDS - 2:
        return _shorter(key, text.strip())
    stop = lexicon.words("stop_words")
    kept = [word for word in words if word.strip(".,!?'\"()").lower() not in stop]
    chosen = (kept if len(kept) > 1 else words)[:LABEL_WORDS]
    return _shorter(_cut(" ".join(chosen), KEY_LIMIT // 2).strip(" .,;:!?"), text.strip())


def _width(text: str) -> int:
    """The room a text takes: a Chinese character says about as much as two letters."""
    return len(text) if text.isascii() else len(text) + len(_PAIRED.findall(text))


def _best_first(parts: list[str]) -> Sequence[int]:
    """Places of the parts, the most telling first: frequent words, numbers and names count."""
    return (0,) if len(parts) == 1 else _ranked(tuple(parts))


@lru_cache(maxsize=1 << 4)
def _ranked(parts: tuple[str, ...]) -> tuple[int, ...]:
    """Kept for a moment: the summary and the key fact ask the same."""
    words = [content_words(part) for part in parts]
    spread = Counter(word for found in words for word in found)
    scores = [
        sum(spread[word] for word in found) ** 0.5 + _weight(part)
        for part, found in zip(parts, words, strict=True)
    ]
    return tuple(sorted(range(len(parts)), key=lambda at: (-scores[at], at)))


def _weight(part: str) -> float:
    """What a part holds beside plain words: numbers, names, code; a question tells little."""
    marks = _MARKED if _JOINED.search(part) else _MARKED_PLAIN
    marked = min(len(marks.findall(part)), 6)
    return 0.5 * marked - (2.0 if part.rstrip().endswith(("?", "？")) else 0.0)


def _first_clauses(sentence: str, room: int) -> str:
    end = 0
    for match in _CLAUSE.finditer(sentence):
        if match.start() > max(room, SHORT // 2):
            break
        end = match.start()
    kept = sentence[:end].rstrip(" ,;，；：") if end >= room // 2 else ""
    return kept if kept and terms(kept) else _cut(sentence, max(room, SHORT // 2))


def _cut(text: str, room: int) -> str:
    """At most `room` characters, cut between words where there are spaces."""
    if len(text) <= room:
        return text
    head = text[:room]
    at = head.rfind(" ")
    return head[:at] if at > room // 2 else head


def _han_label(key: str) -> str:
    bare = re.sub(r"^[\s“”\"'「」]+|[\s“”\"'「」。！？]+$", "", key)
    return bare[:LABEL_CHARACTERS] if len(bare) > LABEL_CHARACTERS else bare


def _joined(parts: list[str]) -> str:
    return "".join(
        part if not out or _PAIRED.search(part[:1]) else " " + part for out, part in enumerate(parts)
    )


def _shorter(form: str, whole: str) -> str:
    form = form.strip()
    return form if form and len(form) <= len(whole) else whole
