"""Names in a text, by rules: people, places, organizations, technologies, files, addresses, versions.

A capital inside a sentence makes a name; at its start only when a known first name, a verb of people or a
possessive says so. What stands around a name tells its type; without such a sign it is `unknown`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.kinds import known, mentioned
from engram.text.lexicon import Phrases, listed
from engram.text.reading import read_once
from engram.text.sentences import sentences
from engram.text.words import compatible

# ---------------------------------------------------------------- name types
# What a name names: the name and the words around it come in, its type comes out.
#
# Well-known places, peoples and organizations are listed; for the rest the words before and after a name
# and its own last word tell: "works at X", "X said", "X University". Without such a sign the type is
# `unknown`.


UNKNOWN: Final = "unknown"


def type_of(name: str, before: str, after: str) -> str:
    """The type of `name` between `before` and `after`.

    >>> type_of("Globex", "I work at ", " with Zelda"), type_of("Zelda", "I talked to ", " about it")
    ('organization', 'person')
    >>> type_of("Apollo", "We ship project ", " soon"), type_of("Foo Bar", "", "")
    ('project', 'unknown')
    """
    own = by_its_words(name)
    if own:
        return own
    led, strong = led_by(_last_words(before))
    followed = followed_by(after)
    if strong or not followed:
        somebody = _is_somebody(before, after) or _TWO_NAMES.fullmatch(name) is not None
        return led or ("person" if somebody else UNKNOWN)
    return followed


def listed_as(name: str) -> tuple[str, bool]:
    """The type of a well-known name, and whether it is a plain word as well; ('', False) for others.

    >>> listed_as("Berlin"), listed_as("Apple"), listed_as("Zelda")
    (('location', False), ('organization', True), ('', False))
    """
    return _well_known().get(name.lower(), ("", False))


def by_its_words(name: str) -> str:
    """The type that the first or the last word of a longer name gives.

    >>> by_its_words("Acme Inc."), by_its_words("Lake Garda"), by_its_words("Dr. Kim"), by_its_words("Park")
    ('organization', 'location', 'person', '')
    """
    first, space, rest = name.lower().partition(" ")
    if not space:
        return ""
    if first.endswith(".") and first[:-1] in _TITLES:
        return "person"
    last = rest.rpartition(" ")[2].rstrip(".")
    return _cues("endings").get(last, "") or _cues("beginnings").get(first, "")


@lru_cache(maxsize=1 << 12)
def led_by(words: str) -> tuple[str, bool]:
    """The type that the words before a name announce, and whether more than one word does.

    >>> led_by("I moved to"), led_by("give that to"), led_by("it was")
    (('location', True), ('location', False), ('', False))
    """
    held = words.lower().replace(".", "").split(" ")
    cues = _cues("before")
    for size in (3, 2, 1):
        found = cues.get(" ".join(held[-size:])) if len(held) >= size else None
        if found:
            return found, size > 1 or held[-1] in _TITLES
    if len(held) > 1 and held[-1] in {"is", "was", "are"} and _is_role(held[-2]):
        return "person", True
    return "", False


def followed_by(after: str) -> str:
    """The type that the word after a name gives.

    >>> followed_by(" said hello"), followed_by(" API."), followed_by(", said")
    ('person', 'service', '')
    """
    if after[:1] != " ":
        return ""
    return _cues("after").get(after[1:].split(" ", 1)[0].rstrip(".,;:!?").lower(), "")


def leads_to(before: str) -> tuple[str, bool]:
    """As `led_by`, for the whole text before a name."""
    return led_by(_last_words(before))


@cache
def openers() -> frozenset[str]:
    """Verbs that begin an order and stand before a name."""
    return frozenset(word for row in lexicon.parts("name_cues")["openers"] for word in row.split())


_TITLES: Final = frozenset(
    "mr mrs ms dr prof rev sr sra srta dra mme mlle capt sgt sir uncle aunt".split()  # noqa: SIM905 - a list
)
_CALL: Final = 20
_ENDS: Final = frozenset({"!", "?", ".", ""})
_REACH: Final = 40


def _last_words(before: str) -> str:
    """The last three words, when nothing but a space or an opening mark parts them from the name."""
    near = before[-_REACH:].rstrip("\"'“‘(*_")
    near = near.removesuffix("the ")
    return " ".join(near.rsplit(" ", 4)[-4:-1]) if near.endswith(" ") else ""


def _is_somebody(before: str, after: str) -> bool:
    """Whether a name is called ("Wow, Anna!"), owns something, or is told to be somebody ("is my sister")."""
    if after.startswith("'s"):
        return True
    # In "Rome, Oslo, Zelda." the name is one of a row; after a plain word it calls somebody.
    alone = len(before) < _CALL or before[:-2].rpartition(" ")[2].islower()
    called = alone and before.endswith(", ") and after[:1] in _ENDS
    in_a_row = _BESIDE_ANOTHER.match(after) is not None  # "Thandiwe and Kofi are getting married"
    return called or in_a_row or _is_told_to_be_somebody(after)


_SOMEBODY = re.compile(
    r" (?:is|was) (?:my|our|his|her|their|the user's) (?:new |old |former |best |ex-)?(?P<role>[a-z-]+)"
)


def _is_told_to_be_somebody(after: str) -> bool:
    """Whether it goes on as "is my sister", "is our notary" do."""
    match = _SOMEBODY.match(after)
    if match is None:
        return False
    return _is_role(match["role"])


def _is_role(word: str) -> bool:
    if _cues("before").get(word) == "person" or word.endswith(_OF_PEOPLE):
        return True
    return word in lexicon.words("roles") or word in lexicon.words("kin")


_OF_PEOPLE: Final = (
    "er", "or", "ist", "ian", "ant", "ary", "mate", "man", "woman", "lady", "lord", "friend", "in-law", "ee",
)  # fmt: skip


@cache
def _cues(part: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for words, type_ in listed("name_cues", part):
        found.setdefault(words, type_)
    return found


@cache
def _well_known() -> dict[str, tuple[str, bool]]:
    lists = (
        ("concept", "places", "peoples"),
        ("location", "places", "countries"),
        ("location", "places", "cities"),
        ("organization", "organizations", "english"),
    )
    return {
        name.removeprefix("~").lower(): (type_, name.startswith("~"))
        for type_, file, part in lists
        for name, _ in listed(file, part)
    }


# ---------------------------------------------------------------- names chinese
# Chinese names in a text: people by surname and what stands around, places and organizations by list.
#
# Nothing parts Chinese words, so a person is found only where a surname begins a word and a verb, a title
# or a mark follows; what only looks so ("高兴的", "周末去") is listed.


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
    found += [
        (rest[start:end], type_) for start, end, type_ in _well_known_names_chinese().within(rest) if type_
    ]
    for match in _CALLED.finditer(rest):
        if not any(name == match["name"] for name, _ in found):
            found.append((match["name"], "person"))
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
_TITLE = (
    "(?:老师|先生|女士|小姐|经理|医生|教授|总监|主任|师傅|同学|阿姨|叔叔|律师|博士|大夫"
    "|总(?![结是共部体之得算统理数值]))"
)
_KIN_WORDS = (
    "老婆|老公|妻子|丈夫|儿子|女儿|妈妈|爸爸|哥哥|弟弟|姐姐|妹妹|朋友|同事|老板|室友|邻居|房东|导师|教练|秘书|"
    "同学|闺蜜|男友|女友|表哥|表姐|表弟|表妹|堂哥|堂弟|堂妹|舅舅|叔叔|阿姨|姑姑|经理|上司|客户|助理|师傅"
)
_BEFORE = f"(?:(?<![一-鿿].)|(?<=[和跟与叫给找问约见陪请让对由天晚午末是].)|(?<=(?:{_KIN_WORDS}).))"
_AFTER = (
    "(?=说|在|的|是|和|跟|住|喜欢|告诉|问|去|来|要|想|会|有|今天|昨天|明天|一起|一块|都|也|刚|吃|打|给|送|请|帮|结婚|"
    "生病|搬|做|当|教|最近|上周|下周|今年|明年|去年|调到|调去|出差|辞职|跳槽|升职|怀孕|离职|换了|回国|考上|毕业"
    "|[，,。：:！!？?])"
)
_CALLED = re.compile(
    "(?:名字?叫|叫做?|名字是|取名)(?P<name>(?![我你他她它什啥作做人])[一-鿿]{2,3})(?=[，。,！!；;、]|$)"
)
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
def _well_known_names_chinese() -> Phrases[str]:
    """The listed names; one marked with ! holds a name and is none: 大理石 is no place."""
    lists = (("location", "places"), ("organization", "organizations"))
    found = {name: type_ for type_, file in lists for name, _ in listed(file, "chinese")}
    return Phrases({name.removeprefix("!"): "" if name[0] == "!" else type_ for name, type_ in found.items()})


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name and what it names.

    Types: person, location, organization, project, technology, service, concept, file, url, email, handle,
    version, unknown.
    """

    name: str
    type: str


def entities(text: str) -> list[FoundName]:
    """The entities that `text` names, once each: what has a fixed form first, then technologies, then names.

    >>> entities("Anna moved to Berlin with Bob Smith; see src/auth.ts")
    [FoundName(name='src/auth.ts', type='file'), FoundName(name='Anna', type='person'),
     FoundName(name='Berlin', type='location'), FoundName(name='Bob Smith', type='person')]
    """
    return list(_entities(text))


@read_once
def _entities(text: str) -> tuple[FoundName, ...]:
    plain = compatible(text).replace("’", "'")
    found: dict[str, FoundName] = {}
    rest = plain
    for kind, pattern in _FIXED if _has_fixed_form(plain) else ():
        for match in pattern.finditer(rest):
            name = match.group().rstrip(".,;:!?)'\"")
            found.setdefault(name.lower(), FoundName(name, kind))
            service = service_of(name) if kind == "url" else ""
            if service:
                found.setdefault(service.lower(), FoundName(service, "service"))
        rest = pattern.sub(" ∎ ", rest)
    for tech in mentioned(rest):
        found.setdefault(tech.name.lower(), FoundName(tech.name, "technology"))
    for entity in _people_and_places(rest):
        found.setdefault(entity.name.lower(), entity)
    return tuple(found.values())


def service_of(url: str) -> str:
    """The well-known service behind an address, by its host; "" for others.

    >>> service_of("https://gist.github.com/anna/1"), service_of("https://example.org")
    ('GitHub', '')
    """
    host = url.lower().partition("://")[2] or url.lower()
    host = re.split(r"[/:?#]", host.rpartition("@")[2] if "@" in host.split("/")[0] else host, maxsplit=1)[0]
    labels = host.split(".")
    tails = (".".join(labels[at:]) for at in range(len(labels) - 1))
    return next((_services()[tail] for tail in tails if tail in _services()), "")


def cue_words(text: str, *, speaker: str | None = None, when: datetime | None = None) -> list[str]:
    """Words to find the text by that it does not hold: its speaker, its date, days it speaks of, full names.

    >>> cue_words("I went to the zoo yesterday", speaker="Anna", when=datetime(2023, 5, 8))
    ['Anna', '2023-05-08', '8 May 2023', 'Monday', '2023-05-07', '7 May 2023', 'Sunday']
    """
    cues = [speaker] if speaker else []
    if when is not None:
        today = when.toordinal()
        near = (today + shift for shift in (0, *_shifts(text)))
        days = [date.fromordinal(day) for day in near if 1 <= day <= date.max.toordinal()]
        cues += [cue for day in days for cue in spelled(day)]
    lower = text.lower()
    cues += [tech.name for tech in mentioned(text) if tech.name.lower() not in lower]
    return list(dict.fromkeys(cues))


@cache
def _services() -> dict[str, str]:
    rows = (row.partition(" = ") for row in lexicon.lines("services"))
    return {host: name for host, _, name in rows}


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHIFTS: Final = (
    (re.compile(r"\byesterday\b|\blast night\b|昨[天晚]", re.IGNORECASE), -1),
    (re.compile(r"\btomorrow\b|明[天早晚]", re.IGNORECASE), 1),
    (re.compile(r"\bday before yesterday\b|前天", re.IGNORECASE), -2),
    (re.compile(r"\bday after tomorrow\b|后天", re.IGNORECASE), 2),
)


def spelled(day: date) -> tuple[str, str, str]:
    """A day as people write it; memories of a day are found by these words.

    Names are spelled here: `strftime` would follow the machine's language.
    """
    spoken = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{day.year:04}-{day.month:02}-{day.day:02}", spoken, _WEEKDAYS[day.weekday()]


def _shifts(text: str) -> list[int]:
    lower = text.lower()
    if text.isascii() and not any(word in lower for word in ("yesterday", "tomorrow", "last night")):
        return []
    return [days for pattern, days in _SHIFTS if pattern.search(text)]


_URL = r"\b(?:https?://|ftp://|www\.)[^\s<>\"'`)\]}，。；、]+"
_EMAIL = r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"
_HANDLE = r"(?<![\w@./])@[A-Za-z]\w[\w-]*"
_HASHTAG = r"(?<![\w&/#])#(?![0-9a-fA-F]{3,8}\b)[^\W\d_][\w-]{1,40}"  # no colour
_FILE = (
    r"(?<![\w/.-])(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+)+/?"
    r"|(?<![\w/.-])[\w.-]+(?:/[\w.@-]+)*/[\w@-]+\.\w{1,8}\b"
    r"|(?<![\w/.-])[\w-]+\.(?:pyi?|tsx?|jsx?|mjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sql|toml"
    r"|ya?ml|jsonl?"
    r"|md|txt|csv|html?|s?css|sh|ps1|ini|cfg|conf|lock|env|ipynb|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|gif"
    r"|log|xml|proto"
    r"|tf|vue|svelte|gradle|lua|exs?|zip|gz|tar)\b|(?<![\w/.-])\.(?:env|gitignore|bashrc|zshrc|vimrc)\b"
    r"|\b(?:Makefile|Dockerfile|README|LICENSE)\b|\b[A-Za-z]:\\[\w\\. -]*\w"
)
_RELEASE = r"(?<![\w.])v\d+(?:\.\d+)*(?:-[\w.]+)?\b|(?<![\w.$€£])\d+\.\d+\.\d+(?:-[\w.]+)?\b(?!\.\d)"
# Nearly every text has none of them: one quick look saves all the others.
_FIXED_SIGN = re.compile(r"[/@\\.v#](?:(?<=[/@\\])|(?<=[.#])\w|(?<=v)\d)")
_FIXED_NAME = re.compile("[MDRL](?:akefile|ockerfile|EADME|ICENSE)")
_FIXED: Final = (
    ("url", re.compile(_URL, re.IGNORECASE)),
    ("email", re.compile(_EMAIL, re.ASCII)),
    ("handle", re.compile(_HANDLE, re.ASCII)),
    ("concept", re.compile(_HASHTAG)),
    ("file", re.compile(_FILE, re.ASCII)),
    ("version", re.compile(_RELEASE, re.ASCII)),
)


def _has_fixed_form(plain: str) -> bool:
    """Whether there is a sign of an address, a file or a version; it may be wrong only by saying yes."""
    return _FIXED_SIGN.search(plain) is not None or _FIXED_NAME.search(plain) is not None


_LARGE: Final = "A-Z" + "".join(
    char
    for char in map(chr, (*range(0xC0, 0x180), *range(0x386, 0x3AC), *range(0x400, 0x430)))
    if char.isupper()
)
_CAPITAL = rf"[{_LARGE}][^\W\d_]*(?:['-][{_LARGE}]?[^\W\d_]+)*"
# A set of characters first: a fast search.
_FIRST = _CAPITAL.replace(f"[{_LARGE}]", rf"[{_LARGE}](?<!\w[{_LARGE}])", 1)
_PARTICLES = r"(?:de|del|della|di|da|dos|van|von|der|den|ter|la|le|bin|bint|ibn|al|el|of|the)"
# A title cut short belongs to the name: "Prof. Dr. Weber".
_TITLED = rf"(?:[{_LARGE}](?<!\w[{_LARGE}])[^\W\d_]{{0,4}}\.\s)"
_NAME = re.compile(rf"{_TITLED}{{0,2}}{_FIRST}(?:-\d[\d.]*\b)?(?:\s(?:{_PARTICLES}\s){{0,2}}{_CAPITAL})*")
_UPPER = re.compile(f"[{_LARGE}]")
_MODEL = re.compile(r"[A-Z]{2,}\w*-\d[\d.]*")
_JOINED: Final = frozenset({", ", " and ", ", and ", " & ", " or ", "/"})


def _people_and_places(text: str) -> Iterator[FoundName]:
    if not text.isascii():
        yield from (FoundName(name, type_) for name, type_ in names(text))
    for sentence in sentences(text) if _UPPER.search(text) else ():
        if sentence.isupper() or sentence.startswith("```"):
            continue
        end, last = 0, ""
        for match in _NAME.finditer(sentence):
            found = _named(match, sentence)
            if found is None:
                continue
            if found.type == UNKNOWN and last and sentence[end : match.start()] in _JOINED:
                found = FoundName(found.name, last)  # "Berlin and Foo": one of a row is like the one before
            end, last = match.end(), found.type
            yield found


def _named(match: re.Match[str], sentence: str) -> FoundName | None:
    name, start = _without_opener(match.group(), match.start())
    name = name.removesuffix("'s")
    while ". " in name and not _begins_with_title(name):
        start += name.index(" ") + 1
        name = name.partition(" ")[2]
    if not name or _is_common(name) or known(name) or name in _NO_NAMES or name.lower() in _TITLES:
        return None
    before, after = sentence[:start], sentence[match.end() :]
    if match.group().endswith("'s"):
        after = "'s" + after
    if _MODEL.fullmatch(name):
        return FoundName(name, "technology")
    if _plain(name.split(" ", 1)[0]) in lexicon.words("first_names"):
        return FoundName(name, _type_of_first_name(name, before))
    listed, ambiguous = listed_as(name)
    if listed and not ambiguous:
        return FoundName(name, _type_of_listed(listed, before, after))
    opens = not before.strip(" \"'“‘([*-")
    if opens and " " not in name and not _acts(name, after):
        return None
    return FoundName(name, _type_of_listed(listed, before, after) if listed else type_of(name, before, after))


def _begins_with_title(name: str) -> bool:
    """Whether a name begins with what is cut short before names, or with an initial."""
    first = name.partition(". ")[0]
    return len(first) == 1 or first.lower() in lexicon.words("titles")


_NO_NAMES: Final = frozenset({"API", "APIs", "URL", "UI", "UX", "ID", "PR", "PC", "TV", "HR", "FAQ", "PDF"})
_BESIDE_ANOTHER = re.compile(rf" and [{_LARGE}]\w+ (?:are|were|have|had|both|got|want|live|met)\b")
_TWO_NAMES = re.compile(rf"[{_LARGE}][a-zà-ÿ]+-[{_LARGE}][a-zà-ÿ]+")


def _plain(word: str) -> str:
    """A word in lower case without its accents."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.lower())
    return "".join(char for char in parts if not unicodedata.combining(char))


_ACTORS: Final = frozenset({"person", "organization"})
_NO_NOUN: Final = ("ing", "ed", "ly")


def _acts(name: str, after: str) -> bool:
    """Whether the first word of a sentence acts as a name does: "Zelda's cat", "Zelda said".

    "Music's amazing" and "Running helps" begin with plain words.
    """
    if after.startswith("'s"):
        owned = after[2:].strip().split(" ", 1)[0].rstrip(".,;:!?").lower()
        return bool(owned) and owned not in lexicon.words("stop_words") and not owned.endswith(_NO_NOUN)
    if name.endswith("ing"):
        return False
    if followed_by(after) in _ACTORS or _TWO_NAMES.fullmatch(name):
        return True
    return _BESIDE_ANOTHER.match(after) is not None or _is_told_to_be_somebody(after)


def _type_of_first_name(name: str, before: str) -> str:
    """A first name is a person's, unless it is part of a firm's name or stands where a place is meant."""
    own = by_its_words(name)
    place = own == "location" or listed_as(name)[0] == "location"
    if own == "organization" or (place and leads_to(before)[0] == "location"):
        return own or "location"
    return "person"


def _type_of_listed(listed: str, before: str, after: str) -> str:
    """A well-known name is what the list says, unless the words around it clearly say otherwise."""
    led, strong = leads_to(before)
    if (strong and led in _ACTORS) or (followed_by(after) == "person" and led == "person"):
        return led
    return listed


def _without_opener(name: str, start: int) -> tuple[str, int]:
    """A name without the words before it that only carry the sentence's capital: "Yesterday Anna" is Anna."""
    words = name.split(" ")
    while words and _is_opener(words):
        start += len(words.pop(0)) + 1
    while words and _is_common(words[-1]):
        words.pop()
    return " ".join(words), start


def _is_opener(words: list[str]) -> bool:
    alone = len(words) == 1
    if _is_common(words[0]):
        return alone or words[0] not in {"New", "Old", "Great", "Big"}
    return not alone and words[0].lower() in openers()


@lru_cache(maxsize=1 << 12)
def _is_common(name: str) -> bool:
    plain = name.lower().removesuffix("'s")
    if len(plain) < 2 or ("'" in plain and plain in lexicon.words("stop_words")):  # noqa: PLR2004 - a lone capital names nothing
        return True
    listed = plain in lexicon.words("stop_words") or plain in lexicon.words("openers")
    return listed or plain in _CALENDAR or lexicon.pattern("times").fullmatch(plain) is not None


_CALENDAR: Final = frozenset(
    [
        *(month.lower() for month in _MONTHS),
        *(day.lower() for day in _WEEKDAYS),
        "christmas",
        "easter",
        "i'm",
        "i've",
        "i'd",
        "i'll",
    ]
)
