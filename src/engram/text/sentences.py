"""Text comes in, its sentences come out, in order and word for word.

A code block stays in one piece, a list gives one sentence an item, and a full stop inside an abbreviation,
a number, an address or a file name ends nothing. Chinese and Japanese full stops need no space after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.marks import is_negated
from engram.text.reading import read_once
from engram.text.words import content_words

_FENCE = re.compile(r"(?m)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\[[ xX]\])\s+")
_BLANK = re.compile(r"\n\s*\n")
_END = re.compile(
    r"(?P<wide>(?:[。！？｡]|…{2,}(?=\s|$)|[!?]+(?=[\u3000-\u9fff]))[。！？!?]*)(?P<wide_close>[”’」』）)\"']*)"
    r"|(?P<stop>\.{3,}|…|[.!?]+)(?P<close>[”’\"')\]»*_`]*)(?=\s|$)"
)
# The same for ASCII; it begins with a set of characters, which makes the search fast.
_PLAIN_END = re.compile(r"(?P<stop>[.!?][.!?]*)(?P<close>[\"')\]*_`]*)(?=\s|$)")
_INITIAL = re.compile(r"(?:^|[\s(\"'“‘.])[A-Z]$")
_ACRONYM = re.compile(r"(?:^|[\s(\"'“‘])(?:[A-Za-z]\.)+[A-Za-z]$")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")
_NUMBERED = re.compile(r"(?:^|\n)\s*\(?\d{1,3}$")


def sentences(text: str) -> list[str]:
    """The sentences of `text`.

    >>> sentences("Dr. Smith uses v2.1, e.g. on foo.py. It works! 我住在上海。真的？")
    ['Dr. Smith uses v2.1, e.g. on foo.py.', 'It works!', '我住在上海。', '真的？']
    """
    return list(_sentences(text))


@read_once
def _sentences(text: str) -> tuple[str, ...]:
    found: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        found += _prose(text[end : fence.start()])
        found.append(fence.group().strip("\n"))
        end = fence.end()
    return (*found, *_prose(text[end:]))


def _prose(text: str) -> Iterator[str]:
    for paragraph in _BLANK.split(text):
        for block in _blocks(paragraph):
            yield from _cut(block)


def _blocks(paragraph: str) -> Iterator[str]:
    """Lines of one running sentence together; list items, headings and short lines each for themselves."""
    held: list[str] = []
    for line in paragraph.split("\n"):
        item = _ITEM.match(line)
        if (item or line.lstrip().startswith(("#", ">", "|")) or not _continues(held, line)) and held:
            yield " ".join(held)
            held = []
        bare = line[item.end() :] if item else line
        if bare.strip():
            held.append(bare.strip())
    if held:
        yield " ".join(held)


def _continues(held: list[str], line: str) -> bool:
    """Whether a line goes on with the sentence of the line before: a wrapped line starts in lower case."""
    if not held:
        return True
    first = line.lstrip()[:1]
    return first.islower() or (len(held[-1]) > _WRAPPED and not held[-1].endswith((".", "!", "?", ":", "。")))


_WRAPPED = 50


def _cut(block: str) -> Iterator[str]:
    start = 0
    for match in (_PLAIN_END if block.isascii() else _END).finditer(block):
        if match.end() <= start or (match["stop"] and not _ends(block, match, start)):
            continue
        sentence = block[start : match.end()].strip()
        if sentence:
            yield sentence
        start = match.end()
    rest = block[start:].strip()
    if rest:
        yield rest


def _ends(block: str, match: re.Match[str], start: int) -> bool:
    """Whether the stop found really ends a sentence."""
    after = block[match.end() :].lstrip()
    if not after:
        return True
    before = block[max(start, match.start() - _TAIL) : match.start()]
    if match["stop"].startswith(("...", "…")) or match["close"]:
        return not after[0].islower()
    if match["stop"] != ".":
        return not after[0].islower() or match["stop"].count("?") > 0
    return not _is_abbreviation(before, after)


def _is_abbreviation(before: str, after: str) -> bool:
    word = _LAST_WORD.search(before)
    last = word.group().lower() if word else ""
    end = before[-2:]
    if last in lexicon.words("titles") or (end[-1:].isdigit() and _NUMBERED.search(before)):
        return True
    if last in lexicon.words("numbered"):
        return after[0].isdigit()
    if last in lexicon.words("abbreviations") or (end[:1] == "." and _ACRONYM.search(before)):
        # "at 5 p.m. We left": a sentence may end with an abbreviation when a common opener follows.
        opener = re.match(r"[A-Z][a-z']*\b", after)
        return not (opener and opener.group().lower() in lexicon.words("stop_words"))
    if end[-1:].isupper() and _INITIAL.search(before):
        return last != "i"  # "J. Smith", but not "so am I."
    # Who writes without capitals still ends sentences: "shes into anime. cant stand loud places".
    return after[0].islower() and len(last) <= _SHORT_WORD and last not in lexicon.words("stop_words")


_SHORT_WORD: Final = 2
_TAIL: Final = 60
"""Characters before a stop that tell whether it ends a sentence."""


# ---------------------------------------------------------------- clauses
# English clauses: a sentence comes in, its clauses come out, and whether one tells what is so.


TITLED: Final = r"(?:[A-Z][a-z]{0,4}\. ){0,2}"
"""What is cut short before a name, and belongs to it: "Prof. Dr. Weber", "St. Gallen", "J. Smith"."""
NAME: Final = rf"{TITLED}[A-Z][\w'-]*[\w](?: [A-Z][\w'-]*[\w]){{0,2}}"


@read_once
def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of a sentence; one without a subject of its own takes the one before it.

    >>> clauses("Actually, I live in Rome and work at Acme")
    ('I live in Rome', 'I work at Acme')
    >>> clauses("My dentist is Dr. Kim and my vet is J. Smith")
    ('My dentist is Dr. Kim', 'my vet is J. Smith')
    >>> clauses("I'm Farouk, 41, a baker")
    ("I'm Farouk", "I'm 41", "I'm a baker")
    >>> clauses("The elder, Piet, turned 12"), clauses("his old flatmate, joined Acme")
    (('The elder', 'Piet', 'Piet turned 12'), ('his old flatmate', 'his old flatmate joined Acme'))
    """
    return tuple(_clauses(sentence))


def _clauses(sentence: str) -> Iterator[str]:
    before = ""
    for part in _parts(sentence):
        clause = _OPENER.sub("", part.rstrip().strip(" \"'“”.!*")).strip()
        before = clause = _with_subject(clause, before) if before else clause
        if clause:
            yield clause


def _parts(sentence: str) -> Iterator[str]:
    """The sentence cut where a clause may begin, but not after a title or an initial."""
    start = 0
    for match in _BREAK.finditer(sentence):
        if not (match.group().startswith(".") and _leads_a_name(sentence[start : match.start()])):
            yield sentence[start : match.start()]
            start = match.end()
    yield sentence[start:]


def _leads_a_name(before: str) -> bool:
    last = before.rpartition(" ")[2]
    return last.lower() in lexicon.words("titles") or (last != "I" and _INITIAL.match(last) is not None)


def _with_subject(clause: str, before: str) -> str:
    if _BARE_VERB.match(clause) and (who := _who(before)):
        return f"{who} {clause}"
    if _BARE_STATE.fullmatch(clause) and (being := _BEING.match(before)):
        return f"{being.group()} {clause}"
    return clause


def _who(clause: str) -> str:
    """Who a clause is about, or whom it names."""
    if clause.startswith("I'm "):
        return "I"
    found = _SUBJECT.match(clause)
    return found["who"] if found else clause if _SOMEBODY.fullmatch(clause) else ""


def tells(clause: str) -> bool:
    """Whether a clause states something that is so: no wish, no condition, no denial, nothing past.

    >>> tells("I live in Rome"), tells("I would live in Rome"), tells("I don't live in Rome")
    (True, False, False)
    """
    return _START.match(clause) is not None and not _UNREAL.search(clause) and not is_negated(clause)


_START = re.compile(r"[A-Z]|we\b|my\b|our\b|the\b|call\b|people\b|this\b")
_UNREAL = re.compile(
    r"\b(?:if|would|could|might|may be|maybe|perhaps|wish|hopes?|wants?|wanted|should|think|guess|suppose"
    r"|imagine"
    r"|dream|pretend|plans?|planning|used to|was|were|had|did|ago|until|before|almost|nearly|what|why|how"
    r"|whether)\b",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:actually|correction|update|no|nope|wait|yes|yeah|ok|okay|oh|well|so|and|but|also|fyi|btw"
    r"|by the way|now"
    r"|(?:please )?(?:note|remember)(?: that)?|just so you know|for the record|as of (?:now|today)"
    r"|from now on"
    r"|these days|nowadays|currently|today|hi|hello|hey|i told you(?: that)?|you know)\b[\s,:;.!—-]*)+",
    re.IGNORECASE,
)
_VERB = r"(?:live|work|like|love|use|prefer|speak|play|own|share|drive|weigh)s?|has|have"
# It begins with a set of characters, which are looked for far sooner than a choice of patterns.
_BREAK = re.compile(
    r"[\s.;,—](?:(?:(?<=[;,—])|(?<=\s)-\s|(?<=\.)\s)\s*(?:(?:and|but|so|while|yet)\s+)?"
    r"|(?<=\s)\s*(?:but|while)\s+"
    rf"|(?<=\s)\s*and\s+(?=(?:I|we|my|our|the|he|she|they|it|{_VERB})\b"
    rf"|{TITLED}[A-Z][\w'-]* (?:\w+ )?(?:is|{_VERB})\b))"
)
_BARE_VERB = re.compile(
    rf"^(?:{_VERB}|moved|switched|(?:just |finally )?(?:turned|joined|left|quit|sold|started|got))\b"
)
_SOMEBODY = re.compile(r"(?:the|his|her|their|that|this|your) [\w-]+(?: [\w-]+){0,2}", re.IGNORECASE)
# "I'm 41, diabetic, from Hull": who is said to be something is all of it.
_BARE_STATE = re.compile(
    r"\d{1,3}|an? [a-z-]+(?: [a-z-]+){0,2}|from [A-Z]\w+|(?:and )?[a-z]+(?:ic|ac|ed|an|ant|ous)"
)
_BEING = re.compile(
    rf"(?:I|[Ww]e|(?:[Mm]y|[Oo]ur) [a-z]+|{NAME}|[Mm]um|[Dd]ad|[Mm]om|[Gg]ran|[Nn]an)"
    r"(?:'m|'s|'re| am| is| are)(?= \S)"
)
_SUBJECT = re.compile(rf"^(?P<who>(?:[Mm]y|[Oo]ur) [a-z]+(?: {NAME})?|I|[Ww]e|{NAME})\b(?!')")


def han_clauses(sentence: str) -> Iterator[str]:
    """The clauses of a Chinese sentence; one that goes on about the speaker begins with a word for them.

    >>> list(han_clauses("我今年30岁，在长沙当老师，养了只柯基"))
    ['我今年30岁', '我在长沙当老师', '我养了只柯基']
    """
    own = False
    for part in _HAN_BREAK.split(sentence):
        clause = _HAN_OPENER.sub("", part.strip(" “”\"'「」"))
        if own and _GOES_ON.match(clause):
            clause = f"我{clause}"
        own = _OWN.match(clause) is not None
        if clause:
            yield clause


_GOES_ON = re.compile(r"[在养有开学住会对]|喜欢|体重|身高|今年")
_OWN = re.compile(r"我(?!们|[的家爸妈爷奶姐妹哥弟叔舅姑姨表堂老同朋女男儿丈妻孩])")
_HAN_BREAK = re.compile(r"[，,；;。！!、]|但是|不过|而且|并且")
_HAN_OPENER = re.compile(
    r"^(?:其实|实际上|事实上|对了|记住|请记住|注意|更正|更新|不|嗯|哦|好的|那(?!个)|现在|目前|如今"
    r"|以后)+[:：，,\s]*"
)


# ---------------------------------------------------------------- common
# What texts have in common: several texts come in; the words that all have, in order, and what differs do.


GAP: Final = "…"
LONGEST: Final = 80
"""Words of each text that are compared."""
VALUES: Final = 10
"""Values of a slot that are kept."""
_WORD = re.compile(r"\w[\w.'’-]*\w|\w|[^\w\s]")
_CLOSE: Final = frozenset(",.;:!?)]}%’'”")


@dataclass(frozen=True, slots=True)
class Shared:
    """Words that all texts have, with gaps where they differ."""

    words: tuple[str, ...]
    """As the first text writes them; a gap stands as "…"."""
    slots: tuple[tuple[str, ...], ...] = ()
    """What stands in each gap, each value once."""
    whole: bool = False
    """Whether every text begins and ends with these words: nothing is cut off at an end."""

    def __str__(self) -> str:
        out = ""
        for word in self.words:
            out += word if not out or word in _CLOSE else f" {word}"
        return out

    @property
    def ends_open(self) -> bool:
        """Whether a gap stands at the end, where what matters stands: "took it for my …".

        >>> common(["It rains in May.", "It rains in June."]).ends_open
        True
        """
        return next((word == GAP for word in reversed(self.words) if word not in _CLOSE), True)

    @property
    def says(self) -> frozenset[str]:
        """The words that carry meaning."""
        return content_words(" ".join(word for word in self.words if word != GAP))


def common(texts: Sequence[str]) -> Shared:
    """What all of the texts say in the same words and the same order."""
    rows = [_WORD.findall(text)[:LONGEST] for text in texts]
    if not rows:
        return Shared(())
    kept = list(range(len(rows[0])))
    for row in rows[1:]:
        kept = [kept[place] for place, _ in _aligned([rows[0][at] for at in kept], row)]
    return _with_gaps([rows[0][at] for at in kept], rows)


def _with_gaps(words: Sequence[str], rows: Sequence[Sequence[str]]) -> Shared:
    """Gaps between shared words wherever some text has others there; what stands before and after is left."""
    between: list[dict[str, None]] = [{} for _ in words]
    whole = bool(words)
    for row in rows:
        last = -1
        for place, at in _aligned(words, row):
            if place and at > last + 1:
                between[place][" ".join(row[last + 1 : at])] = None
            whole = whole and bool(place or not at)
            last = at
        whole = whole and len(row) < LONGEST and not any(word[0].isalnum() for word in row[last + 1 :])
    out: list[str] = []
    for place, word in enumerate(words):
        out += [GAP, word] if between[place] else [word]
    return Shared(tuple(out), tuple(tuple(values)[:VALUES] for values in between if values), whole)


def _aligned(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the longest row of words that both have, in order, without regard to case."""
    mine, theirs = [word.lower() for word in one], [word.lower() for word in other]
    best = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for i in range(len(mine) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            same = mine[i] == theirs[j]
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(mine) and j < len(theirs):
        if mine[i] == theirs[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
