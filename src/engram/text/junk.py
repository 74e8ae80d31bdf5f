"""What must never become a memory: a message or a sentence comes in, a verdict comes out.

Greetings, thanks, reactions and talk about the talk state nothing; tool output, logs, code and restated
prompts were never said by anyone. What states a fact about somebody is never junk, however it is wrapped:
"Hi, I'm Anna and I live in Rome" stays. Small talk is known by clauses: a sentence is filler when every one
of its clauses is (`data/small_talk.txt`).
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon, noise, re
from engram.text.questions import is_question, only_asks, stated, told_after_asking
from engram.text.sentences import sentences
from engram.text.words import EMOJI, HAN


class Junk(StrEnum):
    """Why a message holds nothing to keep."""

    EMPTY = "empty"
    GREETING = "greeting"
    REACTION = "reaction"
    FILLER = "filler"
    QUESTION = "question"
    BOILERPLATE = "boilerplate"
    CODE = "code"
    LOG = "log"
    TOOL_NOISE = "tool noise"
    PROMPT = "prompt"
    QUOTE = "quote"
    RECALLED = "recalled"


def junk_of(text: str) -> Junk | None:
    """Why a whole message holds nothing to keep; nothing when it may hold something.

    >>> junk_of("Hi there!"), junk_of("Hi, I'm Anna and I live in Rome")
    (<Junk.GREETING: 'greeting'>, None)
    >>> junk_of("2024-05-01 12:00:03 ERROR db: timeout"), junk_of("What time is it in Tokyo?")
    (<Junk.LOG: 'log'>, <Junk.QUESTION: 'question'>)
    """
    if not text.strip():
        return Junk.EMPTY
    kept, dropped = noise.sweep(text)
    if dropped is not None and not _SAYS.search(kept):
        return Junk(dropped)
    verdicts = {_verdict(sentence) for sentence in sentences(kept)} or {Junk.EMPTY}
    if None in verdicts:
        return None
    if dropped is not None:
        return Junk(dropped)
    return next(verdict for verdict in _ORDER if verdict in verdicts)


def is_filler(sentence: str) -> bool:
    """Whether a sentence states nothing: small talk, or under three words without a fact.

    >>> is_filler("Wow, that's great!"), is_filler("Thanks so much, Anna!"), is_filler("好的，谢谢！")
    (True, True, True)
    >>> is_filler("Blue, mostly"), is_filler("I'm pregnant"), is_filler("Thanks, I live in Rome")
    (True, False, False)
    """
    return small_talk(sentence) is not None or _is_fragment(sentence)


def cleaned(text: str) -> str:
    r"""The message without what nobody said in it; prose and lists stay word for word.

    Code fences, logs, tool output, stack traces, quoted mail, restated prompts and memory blocks go.

    >>> cleaned("The build fails with `ENOENT`.\n```\nnpm ERR! code ENOENT\n```\nI use node 20.")
    'The build fails with `ENOENT`.\nI use node 20.'
    """
    return noise.sweep(text)[0]


# When a message is of several sorts, what says most about it names it.
_ORDER: Final = (
    Junk.BOILERPLATE, Junk.QUESTION, Junk.FILLER, Junk.REACTION, Junk.GREETING, Junk.EMPTY,
)  # fmt: skip
_HEADINGS: Final = {
    "greeting": Junk.GREETING,
    "thanks": Junk.FILLER,
    "filler": Junk.FILLER,
    "reaction": Junk.REACTION,
    "chinese": Junk.FILLER,
}
_HAN_CHAR = re.compile(f"[{HAN}]")
_SAYS = re.compile(r"[^\W_]")
_FACE = re.compile(rf"[{EMOJI}]|(?<!\w)[:;=][-']?[)(DPpoO/|](?!\w)|<3|\^_\^")
_FACED = re.compile(r"[:;=<^]")
_MY = re.compile(
    r"\b(?:my|our|mine)\b"
    r"|\bi(?:'m|'ve|'d| am| have| had| was| live| work| want| need| like| love| got| use)\b"
    r"|(?<!\w)(?:he|she|they|we)(?:'s|'re|'ve| is| are| was| were| has| have| had)\b|我"
)


def _verdict(sentence: str) -> Junk | None:
    """Why one sentence of a message states nothing."""
    if not _SAYS.search(sentence):
        return Junk.REACTION if _FACE.search(sentence) else Junk.EMPTY
    talk = small_talk(sentence)
    if talk is None and _is_bare_question(sentence):
        return Junk.QUESTION
    return talk


def _is_bare_question(sentence: str) -> bool:
    """Whether a sentence only asks; "what should I wear to my wedding in June?" also tells something."""
    if only_asks(sentence):
        return True
    if not is_question(sentence) or stated(sentence) or told_after_asking(sentence):
        return False
    return not _MY.search(sentence.lower().replace("’", "'"))


_LONGEST: Final = 160
_CLAUSE = re.compile(r"\s*(?:[,;:!?.…~，。！？；：、～\n()（）\"“”*_]|\s[-–—]+\s|—)+\s*")
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")


@lru_cache(maxsize=1 << 10)
def small_talk(sentence: str) -> Junk | None:
    """The sort of small talk a sentence is made of, or nothing when one of its clauses is none."""
    if len(sentence) > _LONGEST:
        return None
    bare = sentence.replace("’", "'")
    if not bare.isascii() or _FACED.search(bare):
        bare = _FACE.sub(" . ", bare)
    if _boilerplate().fullmatch(_EDGE.sub("", bare).lower()):
        return Junk.BOILERPLATE
    found: list[Junk] = []
    addressed = False
    for clause in _CLAUSE.split(bare):
        if not (words := _EDGE.sub("", clause)):
            continue
        talk = _talk(words)
        if talk is not None:
            found.append(talk)
        elif _NAME.fullmatch(words) and not addressed and not _takes_name().search(bare.lower()):
            addressed = True
        else:
            return None
    return next((talk for talk in _ORDER if talk in found), None)


@cache
def _boilerplate() -> re.Pattern[str]:
    """Unlike small talk, a set phrase is known as a whole sentence."""
    return lexicon.pattern("small_talk", "boilerplate")


_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)?")
_TO_NAME = re.compile(r"(?<=\w) [A-Z][\w'-]+$")


@cache
def _takes_name() -> re.Pattern[str]:
    """Words after which a name belongs to what is said: "I'm in Norway", "he's German", "no, Berlin"."""
    return re.compile("|".join(lexicon.parts("small_talk")["before names"]))


def _talk(clause: str) -> Junk | None:
    """The sort of small talk one clause is, with or without the name it is addressed to."""
    han = _HAN_CHAR.search(clause) is not None
    unnamed = _TO_NAME.sub("", clause)
    for words in (
        (clause,) if unnamed == clause or _takes_name().search(unnamed.lower()) else (clause, unnamed)
    ):
        plain = _DRAWN.sub(r"\1", " ".join(words.lower().split()))
        if not han and not _vocabulary().issuperset(plain.split(" ", 2)[:2]):
            continue
        match = _talks(han).fullmatch(plain)
        if match and match.lastgroup:
            return _HEADINGS[match.lastgroup]
    return None


_DRAWN = re.compile(r"([a-z])\1{2,}|(?<=ha)(ha)+h?\b")  # "sooo", "hahaha"
_WORD = re.compile(r"(?<![a-z'\\])[a-z']+")


@cache
def _vocabulary() -> frozenset[str]:
    """Every word small talk is made of: a clause that begins with others is none, which is quickly seen."""
    rows = (row for title in _HEADINGS for row in lexicon.parts("small_talk")[title])
    words = {word for row in rows for word in _WORD.findall(row)}
    return frozenset(words | {word + word[-1] for word in words} | {word[:-1] for word in words})


@cache
def _talks(han: bool) -> re.Pattern[str]:  # noqa: FBT001 - a cache key
    """One expression with a group for each sort."""
    titles = [title for title in _HEADINGS if han or title != "chinese"]
    return re.compile(
        "|".join(f"(?P<{title}>{'|'.join(lexicon.parts('small_talk')[title])})" for title in titles)
    )


_FEWEST_WORDS: Final = 3
_FEWEST_HAN: Final = 3


def _is_fragment(sentence: str) -> bool:
    """Whether a sentence is too short to state anything."""
    plain = _EDGE.sub("", sentence.replace("’", "'"))
    han = len(_HAN_CHAR.findall(plain))
    if han:
        return han < _FEWEST_HAN and len(plain) <= _FEWEST_HAN
    return len(plain.split()) < _FEWEST_WORDS and not _short_facts().fullmatch(plain)


@cache
def _short_facts() -> re.Pattern[str]:
    """Two words can be a whole statement: "I'm vegan", "Anna died", "she left"."""
    return re.compile("|".join(lexicon.parts("small_talk")["short facts"]), re.IGNORECASE)
