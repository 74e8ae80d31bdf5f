"""Chinese facts: one sentence comes in, its triples come out. Each rule is one shape of clause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from engram.text import lexicon, re
from engram.text.marks import is_correction, is_negated
from engram.text.slots import filled
from engram.text.statement import USER, Statement, Validity, marked, names_something, taken, use, value
from engram.text.words import HAN

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
_WHO = rf"(?P<who>我们|我|用户|[A-Z][A-Za-z]+|[{HAN}]{{2,3}}?)"
_DONE = r"(?:了)?"


def read(sentence: str, speaker: str, now: datetime | None = None) -> Iterator[Statement]:
    """The facts of one sentence, said at a time; none when it holds no Chinese."""
    if not _HAN.search(sentence):
        return
    changed = is_correction(sentence)
    words, times = marked(sentence, now)
    for part in clauses(words):
        bare, validity = taken(part, times)
        clause = bare.replace(" ", "") if validity else bare
        slots = [] if validity else [one for one in filled(clause, speaker) if not one.over]
        yield from (one.statement() for one in slots)
        if _UNREAL.search(clause) or is_negated(clause):
            continue
        for fact in _read_clause(clause, speaker, changed=changed):
            if not any(fact.predicate == one.predicate for one in slots):
                yield fact if validity is None else _dated(fact, validity)


def clauses(sentence: str) -> Iterator[str]:
    """The clauses of a sentence; one that goes on about the speaker without a word for them is given one.

    >>> list(clauses("我今年30岁，在长沙当老师，养了只柯基"))
    ['我今年30岁', '我在长沙当老师', '我养了只柯基']
    """
    own = False
    for part in _BREAK.split(sentence):
        clause = _OPENER.sub("", part.strip(" “”\"'「」"))
        if own and _GOES_ON.match(clause):
            clause = f"我{clause}"
        own = _OWN.match(clause) is not None
        if clause:
            yield clause


_GOES_ON = re.compile(r"[在养有开学住会对]|喜欢|体重|身高|今年")
_OWN = re.compile(r"我(?!们|[的家爸妈爷奶姐妹哥弟叔舅姑姨表堂老同朋女男儿丈妻孩])")


def _dated(fact: Statement, validity: Validity) -> Statement:
    """Verbs have no tense: what ended before it was said is over, and takes nothing's place."""
    over = validity.last is not None and validity.last <= validity.now
    functional = fact.functional and not over
    return replace(fact, functional=functional, valid_from=validity.first, valid_to=validity.last)


def _read_clause(clause: str, speaker: str, *, changed: bool) -> Iterator[Statement]:
    for shape, predicate, functional in _shapes():
        match = shape.match(clause)
        found = _value(match["value"]) if match else None
        if match is None or found is None or (predicate in _NAMING and not _names(found)):
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
    if predicate == "attribute":
        return _attribute(match, subject, found)
    if subject is None:
        return None
    match predicate:
        case "use":
            return use(subject, found, changed=changed, replaces=match.groupdict().get("old"))
        case "pet":
            fact = Statement(subject, _PETS[match["attribute"]], found)
        case "post":
            fact = Statement(match["owner"], _POSTS[match["value"]], subject, functional)
        case "born":
            return _born(subject, found)
        case _:
            fact = Statement(subject, predicate, found, functional)
    return fact


def _attribute(match: re.Match[str], subject: str | None, found: str) -> Statement | None:
    attribute = match["attribute"]
    known = _attributes().get(attribute)
    if subject is None:
        if match.groupdict().get("who"):
            return None
        return Statement(attribute, "is", found, functional=True) if known else _compound(attribute, found)
    one_valued = known or attribute.startswith("最喜欢的")
    # 我的上司是南京人 describes the boss and names nobody: it takes nothing's place.
    return Statement(subject, known or attribute, found, known not in _ROLES) if one_valued else None


def _born(subject: str, found: str) -> Statement | None:
    if re.search(r"\d+月\d+[日号]", found):
        return Statement(subject, "birthday", found, functional=True)
    year = re.fullmatch(r"(\d{4})年?", found)
    if year:
        return Statement(subject, "birth year", year[1], functional=True)
    return None if re.search(r"[\d年月]", found) else Statement(subject, "born in", found, functional=True)


def _names(found: str) -> bool:
    """Whether a value names a thing of technology: it holds letters of its own, or is a known one."""
    return names_something(found) or re.search(r"[A-Za-z]", found) is not None


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
    if who == "用户":
        return USER
    if who[0] == "我":
        return f"{speaker}'s {who[1:].removeprefix('的')}"
    return None if who[0] in _POINTERS else who


def _subject(who: str | None, speaker: str) -> str | None:
    if who in {"我", "我们", "俺", "咱们"}:
        return speaker
    if who == "用户":
        return USER
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


_PETS: Final = {
    "狗": "dog", "小狗": "dog", "猫": "cat", "小猫": "cat", "鹦鹉": "parrot", "仓鼠": "hamster",
    "兔子": "rabbit",
}  # fmt: skip
_POSTS: Final = {
    "CEO": "ceo", "CTO": "cto", "CFO": "cfo", "首席执行官": "ceo", "首席技术官": "cto", "总裁": "president",
    "创始人": "founder", "董事长": "chair", "负责人": "owner",
}  # fmt: skip
_NAMING: Final = frozenset({"depend on", "written in", "run on", "deployed to"})
_SCHOOL = r"(?:大学|学院|中学|小学|学校)"
_WRITTEN = r"(?:写的|编写的?|开发的?|实现的?)"
_PET = rf"(?P<attribute>{'|'.join(sorted(_PETS, key=len, reverse=True))})"
_POST = rf"(?P<value>{'|'.join(_POSTS)})"
_SYSTEM = rf"(?:这个|那个|我们的)?(?P<who>[A-Za-z][\w.-]*|[{HAN}]{{2,6}}?)"
_COPULA = rf"{_NOW}(?:是|叫做|叫|为|改成{_DONE}|改为{_DONE}|换成{_DONE}|改到{_DONE}|变成{_DONE}|[:：])"
_VALUE = r"(?P<value>.+)$"
_MINE = rf"(?P<who>我的?(?!最)[{HAN}]{{1,3}})"
_TURNED = rf"(?:换成|换到|改成|改用|切换到|迁移到){_DONE}"
_RULES: Final = (
    (rf"^{_WHO}{_NOW}(?:养了?|有)一?[只条匹](?:名?叫|名字叫)(?P<value>[^的]{{1,6}})的{_PET}$", "pet", False),
    (rf"^{_WHO}(?:家)?(?:的)?{_PET}(?:名?叫|名字叫|的名字是|的名字叫)(?P<value>.{{1,6}})$", "pet", False),
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
    (rf"^{_WHO}{_NOW}(?:来自|老家在){_VALUE}", "from", False),
    (rf"^{_WHO}{_NOW}(?:出生于|出生在|生于){_VALUE}", "born", True),
    (rf"^{_WHO}{_NOW}毕业于{_VALUE}", "graduated from", False),
    (rf"^{_WHO}{_NOW}(?:从|在)(?P<value>.+?)毕业{_DONE}$", "graduated from", False),
    (rf"^{_WHO}{_NOW}(?:就读于|在)(?P<value>.+?{_SCHOOL})(?:读书|上学|学习|念书)$", "studied at", False),
    (rf"^{_WHO}{_NOW}就读于{_VALUE}", "studied at", False),
    (rf"^{_WHO}{_NOW}对(?P<value>.+?)过敏$", "allergic to", False),
    (rf"^{_WHO}{_NOW}(?:和|跟|与)(?P<value>.{{2,4}}?)结婚{_DONE}$", "married to", True),
    (rf"^{_WHO}{_NOW}嫁给了?(?P<value>.{{2,4}})$", "married to", True),
    (rf"^{_WHO}{_NOW}(?:是|担任)(?P<owner>[^的]{{2,12}})的{_POST}$", "post", True),
    (rf"^{_WHO}{_NOW}是(?:一名|一位|一个|名)(?P<value>.{{1,10}})$", "is a", False),
    (rf"^{_SYSTEM}{_NOW}依赖(?:于)?{_VALUE}", "depend on", False),
    (rf"^{_SYSTEM}{_NOW}是?(?:用|使用)(?P<value>[A-Za-z][\w.+# -]*?){_WRITTEN}$", "written in", False),
    (rf"^{_SYSTEM}{_NOW}(?:运行在|跑在)(?P<value>.+?)上?$", "run on", False),
    (rf"^{_SYSTEM}{_NOW}部署(?:在|到{_DONE})(?P<value>.+?)上?$", "deployed to", False),
    (rf"^{_MINE}的(?P<attribute>[{HAN}]{{1,6}}?){_COPULA}{_VALUE}", "attribute", True),
    (rf"^{_WHO}的(?P<attribute>最喜欢的[{HAN}]{{1,4}}|[{HAN}]{{1,6}}?){_COPULA}{_VALUE}", "attribute", True),
    (rf"^{_WHO}(?P<attribute>最喜欢的[{HAN}]{{1,4}}){_COPULA}{_VALUE}", "attribute", True),
    (rf"^(?:这个|那个|我们的)?(?P<attribute>[{HAN}]{{2,6}}?){_COPULA}{_VALUE}", "attribute", True),
)  # fmt: skip


@cache
def _shapes() -> tuple[tuple[re.Pattern[str], str, bool], ...]:
    return tuple((re.compile(rule), predicate, functional) for rule, predicate, functional in _RULES)
