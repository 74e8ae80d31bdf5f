"""Chinese facts: one sentence comes in, its triples come out. Each rule is one shape of clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.marks import is_correction, is_negated
from engram.text.scripts import HAN
from engram.text.statement import Statement, use, value

_HAN = re.compile(f"[{HAN}]")
_BREAK = re.compile(r"[，,；;。！!、]|但是|不过|而且|并且")
_OPENER = re.compile(
    r"^(?:其实|实际上|事实上|对了|记住|请记住|注意|更正|更新|不|嗯|哦|好的|那|现在|目前|如今"
    r"|以后)+[:：，,\s]*"
)
_UNREAL = re.compile(
    r"如果|要是|假如|可能|也许|大概|想要|希望|打算|以前|曾经|过去|[吗嘛呢][?？]?$|[?？]$|什么|哪|谁|怎么"
    r"|多少|几[个点号岁]"
)
_NOW = r"(?:现在|目前|如今|一直|都|就|也|已经|平时|其实)*"
_WHO = rf"(?P<who>我们|我|[A-Z][A-Za-z]+|[{HAN}]{{2,3}}?)"
_DONE = r"(?:了)?"


def read(sentence: str, speaker: str) -> Iterator[Statement]:
    """The facts of one sentence; none when it holds no Chinese."""
    if sentence.isascii() or not _HAN.search(sentence):
        return
    changed = is_correction(sentence)
    for part in _BREAK.split(sentence):
        clause = _OPENER.sub("", part.strip(" “”\"'「」"))
        if clause and not _UNREAL.search(clause) and not is_negated(clause):
            yield from _read_clause(clause, speaker, changed=changed)


def _read_clause(clause: str, speaker: str, *, changed: bool) -> Iterator[Statement]:
    for shape, predicate, functional in _shapes():
        match = shape.match(clause)
        found = _value(match["value"]) if match else None
        if match is None or found is None:
            continue
        who = match.groupdict().get("who")
        subject = _owner(who, speaker) if predicate == "attribute" else _subject(who, speaker)
        fact = _fact(match, subject, predicate, found, functional=functional, changed=changed)
        if fact:
            yield fact
        return


def _fact(
    match: re.Match[str], subject: str | None, predicate: str, found: str, *, functional: bool, changed: bool
) -> Statement | None:
    if predicate == "use" and subject:
        return use(subject, found, changed=changed, replaces=match.groupdict().get("old"))
    if predicate != "attribute":
        return Statement(subject, predicate, found, functional) if subject else None
    attribute = match["attribute"]
    known = _attributes().get(attribute)
    if subject is None:
        if match.groupdict().get("who"):
            return None
        return Statement(attribute, "is", found, functional=True) if known else _compound(attribute, found)
    one_valued = known or attribute.startswith("最喜欢的")
    # 我的上司是南京人 describes the boss and names nobody: it takes nothing's place.
    return Statement(subject, known or attribute, found, known not in _ROLES) if one_valued else None


def _compound(attribute: str, found: str) -> Statement | None:
    """会议时间 is the time of the 会议."""
    for noun in sorted(_attributes(), key=len, reverse=True):
        owner = attribute.removesuffix(noun).removesuffix("的")
        if owner != attribute and owner and owner[0] not in _POINTERS:
            return Statement(owner, _attributes()[noun], found, functional=True)
    return None


def _owner(who: str | None, speaker: str) -> str | None:
    """Whose attribute it is: the speaker's, someone's of theirs (我叔叔), or anything's with a name."""
    if who is None or who in {"我", "我们", "俺", "咱们"}:
        return None if who is None else speaker
    if who[0] == "我":
        return f"{speaker}'s {who[1:].removeprefix('的')}"
    return None if who[0] in _POINTERS else who


def _subject(who: str | None, speaker: str) -> str | None:
    if who in {"我", "我们", "俺", "咱们"}:
        return speaker
    if who is None or who[0] in lexicon.words("stop_chars") or who in _NO_NAMES:
        return None
    return who


_POINTERS: Final = frozenset("这那我你他她它您其该此某")
_ROLES: Final = frozenset({"boss", "manager", "wife", "husband", "girlfriend", "boyfriend"})
_NO_NAMES: Final = frozenset(
    {"大家", "有人", "别人", "自己", "今天", "明天", "昨天", "人们", "老师", "同学", "朋友"}
)


def _value(raw: str) -> str | None:
    """A value without its closing particle; one that ends in 的 describes and names nothing."""
    text = re.sub(r"[了啦哦啊呀哈]+$", "", raw.strip())
    return None if text.endswith("的") or len(text) > _LONGEST else value(text)


_LONGEST: Final = 20


@cache
def _attributes() -> dict[str, str]:
    rows = (row.partition(" = ") for row in lexicon.lines("attributes_zh"))
    return {noun: predicate for noun, _, predicate in rows}


_COPULA = rf"{_NOW}(?:是|叫做|叫|为|改成{_DONE}|改为{_DONE}|换成{_DONE}|改到{_DONE}|变成{_DONE}|[:：])"
_VALUE = r"(?P<value>.+)$"
_MINE = rf"(?P<who>我的?(?!最)[{HAN}]{{1,3}})"
_TURNED = rf"(?:换成|换到|改成|改用|切换到|迁移到){_DONE}"
_RULES: Final = (
    (rf"^(?:请)?(?:叫我|喊我){_VALUE}", "name", True),
    (rf"^{_WHO}{_NOW}叫(?!我|他|她|你){_VALUE}", "name", True),
    (rf"^{_WHO}{_NOW}(?:住在|定居在|搬到{_DONE}|搬去{_DONE}){_VALUE}", "live in", True),
    (rf"^{_WHO}{_NOW}在(?P<value>.+?)(?:工作|上班|任职|就职)$", "work at", True),
    (rf"^{_WHO}{_NOW}就职于{_VALUE}", "work at", True),
    (rf"^{_WHO}{_NOW}(?:今年)?(?P<value>\d{{1,3}})岁$", "age", True),
    (rf"^{_WHO}{_NOW}(?:从|把)(?P<old>.+?){_NOW}{_TURNED}{_VALUE}", "use", False),
    (rf"^{_WHO}{_NOW}(?:{_TURNED}|使用|在用|用{_DONE})(?P<value>[A-Za-z][\w.+# -]*)$", "use", False),
    (rf"^{_WHO}(?:最)?{_NOW}(?:更)?(?:喜欢|爱|偏爱)(?!的)(?:喝|吃|看|玩|听|用)?{_VALUE}", "like", False),
    (rf"^{_WHO}{_NOW}(?:买了|购买了){_VALUE}", "bought", False),
    (rf"^{_WHO}{_NOW}(?:去过|到过|参观了){_VALUE}", "visited", False),
    (rf"^{_WHO}{_NOW}会(?:说|讲){_VALUE}", "speak", False),
    (rf"^{_MINE}的(?P<attribute>[{HAN}]{{1,6}}?){_COPULA}{_VALUE}", "attribute", True),
    (rf"^{_WHO}的(?P<attribute>最喜欢的[{HAN}]{{1,4}}|[{HAN}]{{1,6}}?){_COPULA}{_VALUE}", "attribute", True),
    (rf"^{_WHO}(?P<attribute>最喜欢的[{HAN}]{{1,4}}){_COPULA}{_VALUE}", "attribute", True),
    (rf"^(?:这个|那个|我们的)?(?P<attribute>[{HAN}]{{2,6}}?){_COPULA}{_VALUE}", "attribute", True),
)  # fmt: skip


@cache
def _shapes() -> tuple[tuple[re.Pattern[str], str, bool], ...]:
    return tuple((re.compile(rule), predicate, functional) for rule, predicate, functional in _RULES)
