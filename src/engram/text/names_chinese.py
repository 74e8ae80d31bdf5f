"""Chinese names in a text: people by surname and what stands around, places and organizations by list.

Nothing parts Chinese words, so a person is found only where a surname begins a word and a verb, a title or
a mark follows; what only looks so ("高兴的", "周末去") is listed.
"""

from __future__ import annotations

import re
from functools import cache

from engram.text import lexicon
from engram.text.phrases import Phrases, listed


def names(text: str) -> list[tuple[str, str]]:
    """Names with their types.

    >>> names("李雷和王老师在华为工作，住在上海")
    [('华为', 'organization'), ('上海', 'location'), ('李雷', 'person'), ('王老师', 'person')]
    """
    found = []
    rest = text
    for match in _FIRM.finditer(text) if _FIRM_SIGN.search(text) else ():
        if match["name"][0] not in _POINTING:
            found.append((match["name"], "organization"))
            rest = rest.replace(match["name"], "∎")
    found += [(rest[start:end], type_) for start, end, type_ in _well_known().within(rest) if type_]
    for match in _person().finditer(rest):
        if match.group()[:2] not in lexicon.words("not_surnames"):
            found.append((match.group(), "person"))
    return found


_FIRM_SIGN = re.compile("[司学团行院所馆](?<=公司|大学|集团|银行|医院|学院|究所|究院|中学|小学|务所|物馆)")
_FIRM = re.compile(
    r"(?:^|(?<=[，。！？；：、\s在去到从进是叫于入上和给了过往职做]))"
    r"(?P<name>(?:(?![在去到从进是叫于入和给了过往职的我你他她有只就做参])[一-鿿]){2,8}?"
    r"(?:有限公司|公司|大学|集团|银行|医院|学院|研究[所院]|中学|小学|事务所|博物馆)(?![历生位习期]))"
)
_POINTING = frozenset("一这那我你他她它某每各两几哪同大小新老本该贵其在去到从进是叫和给上很有没不")
_GIVEN = "(?![的了在是不有和说去来要会也都就我你他她它这那个们吗呢吧很还又与跟着过把被让从到为以及或])[一-鿿]"
_TITLE = "(?:老师|先生|女士|小姐|经理|医生|教授|总监|主任|师傅|同学|阿姨|叔叔|律师|博士|大夫)"
_BEFORE = "(?:(?<![一-鿿].)|(?<=[和跟与叫给找问约见陪请让对由天晚午末].))"
_AFTER = "(?=说|在|的|是|和|跟|住|喜欢|告诉|问|去|来|要|想|会|有|今天|昨天|明天|[，,。：:])"
_SPEAKS = "(?=说|和|跟|住|喜欢|告诉|问|去|来|今天|昨天|明天)"


@cache
def _person() -> re.Pattern[str]:
    """A surname with a title, a surname with a given name before a verb or a mark, "小李" before a verb.

    It begins with a set of characters and looks back only then: a fast search.
    """
    single, double = lexicon.lines("surnames")
    pairs = double.split()
    surname = "|".join([f"(?<=[{single}])", *(f"(?<={pair[0]}){pair[1]}" for pair in pairs)])
    named = f"(?:{surname})(?:(?:{_GIVEN}){{0,2}}?{_TITLE}|(?:{_GIVEN}){{1,2}}?{_AFTER})"
    first = single + "小老阿" + "".join(pair[0] for pair in pairs)
    return re.compile(f"[{first}]{_BEFORE}(?:{named}|(?<=[小老阿])[{single}]{_SPEAKS})")


@cache
def _well_known() -> Phrases[str]:
    """The listed names; one marked with ! holds a name and is none: 大理石 is no place."""
    lists = (("location", "places"), ("organization", "organizations"))
    found = {name: type_ for type_, file in lists for name, _ in listed(file, "chinese")}
    return Phrases({name.removeprefix("!"): "" if name[0] == "!" else type_ for name, type_ in found.items()})
