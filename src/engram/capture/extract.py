"""Extraction: turns come in; drafts of what is worth keeping come out, each with the turns it came from.

A model reads them if one may and can; otherwise, and for whatever it gives no answer to, the rules do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from engram.capture.pipeline import ELLIPTIC
from engram.lazily import dataclass, replace
from engram.model.capture import Draft, LeftOut, Part, Turn
from engram.model.clock import check_cancelled
from engram.model.facts import Fact
from engram.model.knowledge import Extracted
from engram.model.memory import Layer, Policy
from engram.model.plain import plain
from engram.ports import NoAdvisor, Tools
from engram.rules.commitments import CATEGORY, due_in
from engram.rules.screen import Gate
from engram.text import re, words
from engram.text.assertion import CHANGE_MAY_BE, Stance, change_told, frame_of
from engram.text.junk import Junk, junk_of
from engram.text.marks import takes_back
from engram.text.propositions import IMPLIED, Left, Proposition, SaidStatement, examine, spoken_of
from engram.text.questions import is_question
from engram.text.sentences import sentences
from engram.text.signals import Level, level_of
from engram.text.slots import has_wrong_word, names_its_subject, put_right, value_kinds
from engram.text.when.calendar import TimeExpression

RULE_CONFIDENCE = 0.7  # how far a statement found by rules is believed (cortex)

ASSISTANT_NAME = "Assistant"
ASSISTANT_KEEPS = frozenset({"decision", "commitment", "insight", "procedure", "correction", "constraint"})
"""What is kept of an assistant's own words unless all of it is: what was decided, promised or found out."""
CONTEXT_LIMIT = 300
TAIL = 2_000
"""How much of the turn before is searched for the question it ends with."""
NEWS = timedelta(days=62)
"""What happened within this time is news: a move of last month replaces a home named last week."""
SOURCE = "session"
TELLING = 3
"""Words of meaning that a sentence nobody believes must have to be worth finding."""
PASSAGE = 2_000
"""Characters of one passage at most."""
SPOKEN = frozenset({Part.USER, Part.ASSISTANT})
"""The parts that say something; prompts and tools do not."""

BY_RULES = "rules"


@dataclass(slots=True)
class Reading:
    """What was found in some turns of one session."""

    drafts: list[Draft] = field(default_factory=list)
    origins: list[tuple[int, ...]] = field(default_factory=list)
    """For each draft the keys of its turns."""
    left_out: list[LeftOut] = field(default_factory=list)
    by: str = BY_RULES

    def keep(self, draft: Draft, turns: tuple[int, ...]) -> None:
        """Add a draft."""
        self.drafts.append(draft)
        self.origins.append(turns)


def read(turns: Sequence[Turn], before: Sequence[Turn], gate: Gate, tools: Tools) -> Reading:
    """What is worth keeping in turns that followed one another in one session."""
    answer = _ask_model(turns, before, tools)
    if answer is None or (not answer and _level(turns) is Level.HIGH):
        return _by_rules(turns, before, gate, tools)  # nobody answered, or nothing is left of the answer
    reading = Reading(by="a model")
    by_key = {turn.key: turn for turn in turns}
    told: dict[int, list[str]] = {}
    for one in answer:
        sources = [by_key[key] for key in one.turns if key in by_key] or list(turns)
        why = gate.refuses(one.content, sources[-1])
        if why:
            reading.left_out.append(LeftOut(sources[-1].id, one.content, why))
        else:
            reading.keep(_from_model(one, sources), tuple(turn.key for turn in sources))
            for turn in sources:
                told.setdefault(turn.key, []).append(one.content)
    for turn in turns:
        for draft in _rest_of(turn, told.get(turn.key, ()), tools):
            reading.keep(draft, (turn.key,))
    return reading


# ---------------------------------------------------------------- by a model


def _ask_model(turns: Sequence[Turn], before: Sequence[Turn], tools: Tools) -> tuple[Extracted, ...] | None:
    """At level `auto` only what has a real signal is worth a call."""
    spoken = [turn for turn in turns if turn.part in SPOKEN]
    if not spoken or tools.config.llm.level == "off" or isinstance(tools.advisor, NoAdvisor):
        return None
    if tools.config.llm.level == "auto" and _level(spoken) < Level.MEDIUM:
        return None
    return tools.advisor.extract(spoken, before)


def _level(turns: Sequence[Turn]) -> Level:
    return max((level_of(turn.content) for turn in turns if turn.part in SPOKEN), default=Level.NONE)


def _from_model(one: Extracted, sources: Sequence[Turn]) -> Draft:
    last = sources[-1]
    happened = one.event_time if one.event_time and one.event_time <= last.at else last.at
    due = one.event_time if one.category == "commitment" else None
    details = {
        "turns": [turn.id for turn in sources],
        "said_by": _teller(last),
        "about": one.about,
        "corrects": one.corrects,
        "facts": [_plain_fact(fact) for fact in one.facts],
        "ended": [_plain_fact(fact) for fact in one.ended],
        "due": due.isoformat() if due else "",
        "heard_at": last.at.isoformat() if happened != last.at else "",
        "said_at": last.at.isoformat() if last.at - NEWS < happened < last.at else "",
    }
    return Draft(
        content=one.content,
        category=one.category if one.believed else "general",
        confidence=one.confidence,
        details={name: value for name, value in details.items() if value},
        scope=last.scope,
        session=last.session,
        source=SOURCE,
        event_time=happened,
        believed=one.believed,
    )


def _rest_of(turn: Turn, told: Sequence[str], tools: Tools) -> Iterator[Draft]:
    """What a model made nothing of, as it was said: it is found, and not believed."""
    if turn.part not in SPOKEN or _unread(turn, tools):
        return
    covered = frozenset().union(*(words.content_words(one) for one in told))
    left = (
        one
        for one in sentences(turn.content)
        if len(words.content_words(one) - covered) >= TELLING and _is_worth_finding(one, turn)
    )
    yield from _only_said(turn, list(left))


def _plain_fact(fact: Fact) -> dict[str, Any]:
    return {name: value for name, value in plain(fact).items() if value not in (None, False, 1.0)}


# ---------------------------------------------------------------- by rules


def _by_rules(turns: Sequence[Turn], before: Sequence[Turn], gate: Gate, tools: Tools) -> Reading:
    reading = Reading()
    names = {turn.speaker for turn in (*before, *turns) if turn.speaker}
    previous = before[-1] if before else None
    person = _last_person(before, names)
    told = [turn.content[:CONTEXT_LIMIT] for turn in before if turn.part is Part.USER]
    for turn in turns:
        check_cancelled()
        said = replace(_said(turn, names), person=person, told=tuple(told))
        for draft in _read_turn(turn, previous, said, gate, reading.left_out, tools):
            reading.keep(_in_context(_attached(draft, told), told), (turn.key,))
        if turn.part is Part.USER:
            told.append(turn.content[:CONTEXT_LIMIT])
        previous, person = turn, _last_person((turn,), names, person)
    return reading


def _attached(draft: Draft, told: Sequence[str]) -> Draft:
    """A correction that names nothing goes with what was told: "make it Friday" with what had a day.

    What takes back what was just said goes with it, whatever it names.
    """
    few = len(words.terms(draft.content)) <= ELLIPTIC
    points_back = _POINTS_BACK.match(draft.content) and change_told(draft.content) >= CHANGE_MAY_BE
    elliptic = few and (draft.details.get("corrects") or points_back) and not names_its_subject(draft.content)
    if not told or not (elliptic or takes_back(draft.content)):
        return draft
    put, kinds = put_right(draft.content), value_kinds(draft.content)
    alike = (one for one in reversed(told) if (has_wrong_word(put, one) if put else kinds & value_kinds(one)))
    after = next(alike, "" if _LEFT_OUT_I.match(draft.content) else told[-1])
    return replace(draft, details={**draft.details, "after": after}) if after else draft


def _in_context(draft: Draft, told: Sequence[str]) -> Draft:
    """A statement about "her" or "it" is found by the words before it too, when nobody says who is meant."""
    known = draft.details.keys() & {"about", "context", "after"}
    if not told or known or not _LEANS_BACK.match(draft.content):
        return draft
    return replace(draft, details={**draft.details, "context": told[-1]})


_LEANS_BACK = re.compile(
    r"(?:(?:and|but|so|oh|ok|also|well|n)\b[\s,]*)*"
    r"(?:s?he(?:['’]?(?:s|ll|d))?|they(?:['’]?(?:re|ve|ll|d))?|his|hers?|their|it(?:['’]?s)?)\b|给?[他她它]",
    re.IGNORECASE,
)
_LEFT_OUT_I = re.compile(r"(?:(?:and|so|just|finally|also) )*[a-z]+(?:ed|ing)(?: [\w'’]+){3}", re.IGNORECASE)
"""The speaker, who is left out, is whom "switched to Linear at work" is about: it stands alone."""
_POINTS_BACK = re.compile(r"(?:it['’]?s|that['’]?s|it is|they['’]?(?:ve|re)?)\b", re.IGNORECASE)


def _last_person(turns: Sequence[Turn], names: set[str], person: str = "") -> str:
    """Whom "she" means at the end of these turns; nobody, when it may be one or another."""
    for turn in turns:
        if turn.part in SPOKEN:
            person = spoken_of(turn.content[-TAIL:], person, frozenset(names))
    return person


def _read_turn(
    turn: Turn,
    previous: Turn | None,
    said: SaidStatement,
    gate: Gate,
    left_out: list[LeftOut],
    tools: Tools,
) -> Iterator[Draft]:
    why = _unread(turn, tools) or _about_a_text(turn, previous)
    asked_for = not why and _is_the_text_asked_for(turn, previous)
    if why or asked_for:
        left_out.append(LeftOut(turn.id, turn.content[:CONTEXT_LIMIT], why or "a text to work on"))
        yield from _only_said(turn, [turn.content] if asked_for else [])
        return
    least = Level[tools.config.capture.least.upper()]
    only_said: list[str] = []
    for one in examine(turn.content, said, least, lambda each: _refused(each, turn, gate, tools)):
        if isinstance(one, Left):
            left_out.append(LeftOut(turn.id, one.text, one.why))
            if one.stance is not Stance.REACTION and _is_worth_finding(one.text, turn):
                only_said.append(one.text)
        else:
            yield _from_rules(one, turn, previous)
    yield from _only_said(turn, only_said)


def _is_worth_finding(sentence: str, turn: Turn) -> bool:
    """Whether a sentence that is not believed may be found: no code, and no question that tells nothing.

    What people ask one another is a part of their talk; what is asked of an assistant is not.
    """
    if sentence.startswith(("```", "~~~")):
        return False
    return bool(turn.speaker) or junk_of(sentence) is not Junk.QUESTION


def _only_said(turn: Turn, left: Sequence[str]) -> Iterator[Draft]:
    """What was said and is not believed, as it was said: passages that recall may find."""
    passage = ""
    for text in (one for one in left if len(words.terms(one)) >= TELLING):
        if passage and len(passage) + len(text) > PASSAGE:
            yield _as_said(passage, turn)
            passage = ""
        passage = f"{passage} {text}".strip()[:PASSAGE]
    if passage:
        yield _as_said(passage, turn)


def _as_said(passage: str, turn: Turn) -> Draft:
    teller = _teller(turn)
    return Draft(
        content=passage,
        category="general",
        details={"turns": [turn.id]} | ({"said_by": teller} if teller else {}),
        scope=turn.scope,
        session=turn.session,
        source=SOURCE,
        event_time=turn.at,
        believed=False,
    )


def _unread(turn: Turn, tools: Tools) -> str:
    if turn.part is Part.SYSTEM:
        return "a system prompt"
    if turn.part is Part.TOOL:
        return "a tool's output"
    if turn.part is Part.ASSISTANT and not turn.speaker and tools.config.capture.assistant == "off":
        return "an assistant's own words"
    return ""


def _about_a_text(turn: Turn, previous: Turn | None) -> str:
    """An assistant that was handed a text to work on answers with that text."""
    if turn.part is not Part.ASSISTANT or previous is None or previous.part is not Part.USER:
        return ""
    start, begins = frame_of(previous.content)
    return "an answer about a text" if start < begins else ""


def _is_the_text_asked_for(turn: Turn, previous: Turn | None) -> bool:
    """Whether somebody sends the text that an assistant asked for, to translate it or the like."""
    if turn.part is not Part.USER or previous is None or previous.part is not Part.ASSISTANT:
        return False
    return _ASKS_FOR_A_TEXT.search(previous.content[-CONTEXT_LIMIT:]) is not None


_ASKS_FOR_A_TEXT = re.compile(
    r"\b(?:paste|send|share|post|upload|drop in)\b[^.!?]{0,30}\b"
    r"(?:text|paragraph|passage|letter|e-?mail|essay|draft|sentences?|lyrics|poem|article|script)\b"
    r"|[发贴](?:给我|过来|出来|上来|一下)?[^。！？]{0,8}(?:原文|文本|文字|内容|段落|句子|邮件|文章)"
    r"|(?:原文|文本|文字|段落|句子|文章)(?:发|贴)",
    re.IGNORECASE,
)


def _said(turn: Turn, names: set[str]) -> SaidStatement:
    others = names - {turn.speaker}
    return SaidStatement(
        at=turn.at,
        speaker=_teller(turn),
        listener=others.pop() if turn.speaker and len(others) == 1 else "",
    )


def _refused(one: Proposition, turn: Turn, gate: Gate, tools: Tools) -> str:
    alone = turn.part is Part.ASSISTANT and not turn.speaker
    telling = one.category in ASSISTANT_KEEPS and one.level >= Level.MEDIUM
    if alone and tools.config.capture.assistant == "signals" and not telling:
        return "an assistant's own words"
    if alone and one.category != CATEGORY and _ABOUT_USER.search(one.text):
        return "what an assistant says about the user"
    return gate.refuses(one.text, turn)


_ABOUT_USER = re.compile(r"\byou(?:r|'re|'ve|'ll)?\b|[你您]", re.IGNORECASE)


def _from_rules(one: Proposition, turn: Turn, previous: Turn | None) -> Draft:
    happened = _happened(one.when, turn)
    return Draft(
        content=one.text,
        category=one.category,
        tags=(CATEGORY,) if one.promise and one.category != CATEGORY else (),
        confidence=one.confidence if one.confidence != IMPLIED else RULE_CONFIDENCE,
        details=_details(one, turn, previous, happened),
        scope=turn.scope,
        session=turn.session,
        source=SOURCE,
        layer=Layer.WORKING if one.asked else None,
        policy=Policy.PROTECTED if one.asked else None,
        event_time=happened,
    )


def _details(one: Proposition, turn: Turn, previous: Turn | None, happened: datetime) -> dict[str, Any]:
    """What its words mean, beside them; what is not known is left out."""
    due = due_in(one.promise or one.text, turn.at) if one.promise or one.category == CATEGORY else None
    earlier = happened != turn.at
    news = earlier and (one.corrects or turn.at - happened < NEWS)
    found = {
        "turns": [turn.id],
        "said_by": _teller(turn),
        "about": one.about,
        "dates": dict(one.dates),
        "corrects": one.corrects,
        "verbatim": list(one.verbatim),
        "due": due.isoformat() if due else "",
        "promise": one.promise if one.promise != one.text else "",
        "context": _context(turn, previous),
        "facts": [_plain_fact(fact) for fact in one.facts],
        "heard_at": turn.at.isoformat() if earlier else "",
        "said_at": turn.at.isoformat() if news else "",  # it counts from now, though it happened before
    }
    return {name: value for name, value in found.items() if value}


def _teller(turn: Turn) -> str:
    return turn.speaker or (ASSISTANT_NAME if turn.part is Part.ASSISTANT else "")


def _happened(when: TimeExpression | None, turn: Turn) -> datetime:
    """When it happened, if that lies in the past; what is yet to come was said now."""
    if when is None or when.first is None or when.first > turn.at:
        return turn.at
    return when.first


def _context(turn: Turn, previous: Turn | None) -> str:
    """The question a turn answers: an answer is found by the words of its question, too."""
    if previous is None or previous.part in {Part.SYSTEM, Part.TOOL}:
        return ""
    if (previous.part, previous.speaker) == (turn.part, turn.speaker):
        return ""
    asked = [sentence for sentence in sentences(previous.content[-TAIL:]) if is_question(sentence)]
    return asked[-1][:CONTEXT_LIMIT] if asked else ""
