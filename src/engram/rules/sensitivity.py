"""Sensitive data: a text comes in; what in it is sensitive, and the tier it needs at least, come out.

Credentials, payment cards, accounts and numbers of state papers make a memory confidential; ways to reach a
person make it sensitive. A caller may raise the tier, never lower it below this.

Numbers with check digits are checked. With the extra `vault`, `phonenumbers` says what a phone number is
anywhere in the world and `stdnum` what a national number is; without it patterns and words beside it must do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from engram.lazily import dataclass
from engram.model.memory import Tier
from engram.text import re


@dataclass(frozen=True, slots=True)
class SensitivePart:
    """A piece of a text that is sensitive."""

    kind: str
    """secret, card, account, national number, passport, licence, phone, e-mail or address."""
    start: int
    end: int

    @property
    def tier(self) -> Tier:
        """How secret it makes the text."""
        return Tier.SENSITIVE if self.kind in _REACHES else Tier.CONFIDENTIAL

    def pieces(self, text: str) -> tuple[str, ...]:
        """What of a text it is; of "password is x" also the bare x, which nothing else would tell."""
        whole = text[self.start : self.end]
        last = whole.split()[-1].strip("\"'`:=") if self.kind == "secret" else ""
        return (whole, last) if len(last) >= _LEAST_SECRET else (whole,)


_LEAST_SECRET: Final = 4
_SHOWN: Final = 2
_ORDER: Final = tuple(Tier)
_REACHES: Final = frozenset({"phone", "e-mail", "address"})


def tier_of(text: str) -> Tier:
    """The least secrecy this text needs.

    >>> tier_of("my card is 4111 1111 1111 1111"), tier_of("write to anna@example.org"), tier_of("I like tea")
    (<Tier.CONFIDENTIAL: 'confidential'>, <Tier.SENSITIVE: 'sensitive'>, <Tier.CLEAR: 'clear'>)
    """
    return max((part.tier for part in sensitive_parts(text)), key=_ORDER.index, default=Tier.CLEAR)


def sensitive_parts(text: str) -> list[SensitivePart]:
    """What in a text is sensitive, in its order.

    >>> [part.kind for part in sensitive_parts("Anna: anna@example.org, DE89 3704 0044 0532 0130 00")]
    ['e-mail', 'account']
    """
    if not _is_suspect(text):
        return []
    found: list[SensitivePart] = []
    lower, digits = text.casefold(), len(_DIGIT.findall(text))
    if max(map(len, text.split()), default=0) >= _KEY:
        lower += LONG
    for kind, find, least, pieces in _DETECTORS:
        if digits < least or not any(piece in lower for piece in pieces):
            continue
        for start, end in find(text):
            if not any(start < other.end and other.start < end for other in found):
                found.append(SensitivePart(kind, start, end))
    return sorted(found, key=lambda part: part.start)


def redacted(text: str) -> str:
    """The text with a word for what each sensitive part is in its place.

    >>> redacted("Anna: anna@example.org"), redacted("I like tea")
    ('Anna: [e-mail]', 'I like tea')
    """
    left, end = [], 0
    for part in sensitive_parts(text):
        left += [text[end : part.start], f"[{part.kind}]"]
        end = part.end
    return "".join((*left, text[end:])) if left else text


def without_values(text: str) -> str:
    """The text without what holds a digit: what a secret is about, by which it is found, and not the secret.

    >>> without_values("My IBAN is DE89370400440532013000"), without_values("4711")
    ('My IBAN is', '4711')
    """
    return " ".join(word for word in text.split() if not any(map(str.isdigit, word))) or text


def masked(text: str) -> str:
    """The text with the last signs alone of each sensitive part: enough to know which is meant.

    >>> masked("Anna: +49 171 2345678")
    'Anna: [phone …78]'
    """
    left, end = [], 0
    for part in sensitive_parts(text):
        left += [text[end : part.start], f"[{part.kind} …{text[part.end - _SHOWN : part.end]}]"]
        end = part.end
    return "".join((*left, text[end:]))


def label(tier: Tier, parts: Sequence[SensitivePart]) -> str:
    """What stands for a text that keeps no word.

    >>> label(Tier.CONFIDENTIAL, sensitive_parts("my card is 4111 1111 1111 1111"))
    '(confidential: card)'
    """
    kinds = ", ".join(dict.fromkeys(part.kind for part in parts))
    return f"({tier}: {kinds})" if kinds else f"({tier})"


_DIGIT: Final = re.compile(r"\d")
_KEY: Final = 15
"""Characters without a space of the shortest key that is known by its shape."""
LONG: Final = "\x00"
"""Stands for such a run among the pieces of a text."""
# Nearly every text is harmless: without a digit, an at sign or one of these words none of the rules can fire.
_SIGN = re.compile(r"[\d@]")
_WORDS = (
    "-----begin",
    "pass",
    "key",
    "token",
    "secret",
    "contra",
    "парол",
    "密码",
    "口令",
    "密钥",
    "令牌",
    "://",
)


def _is_suspect(text: str) -> bool:
    lower = text.casefold()
    return _SIGN.search(text) is not None or any(word in lower for word in _WORDS)


def at_least(asked: Tier | None, needed: Tier) -> Tier:
    """The more secret of the two.

    >>> at_least(Tier.CLEAR, Tier.SENSITIVE)
    <Tier.SENSITIVE: 'sensitive'>
    """
    return max(asked or Tier.CLEAR, needed, key=_ORDER.index)


# ---------------------------------------------------------------- detectors

Spans = Iterator[tuple[int, int]]

# What stands between a word for a secret and the secret: "is now", "has been changed to", "改成了".
_LINK: Final = (
    r"(?:\b(?:is|was|has|been|now|called|set|changed|with|to|number|lautet|ist|jetzt|nun|es|ahora|est|maintenant"
    r"|désormais|теперь|сейчас)\b|现在|已经|改成|换成|改为|了|[:=：是为—-])"
)
_SAYS: Final = rf"(?:\s*{_LINK}){{0,4}}\s*"
_SECRETS = re.compile(
    rf"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
    | \b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{{16,}}
    | \bgh[pousr]_[A-Za-z0-9]{{30,}}
    | \bgithub_pat_[A-Za-z0-9_]{{40,}}
    | \b(?:glpat|npm|hf|pypi|dop_v1|shpat|SG)[-_.][A-Za-z0-9_.-]{{20,}}
    | \bxox[abeprs]-[A-Za-z0-9-]{{10,}}
    | \bA[KS]IA[0-9A-Z]{{16}}\b
    | \bAIza[0-9A-Za-z_-]{{35}}
    | \beyJ[A-Za-z0-9_-]{{10,}}\.eyJ[A-Za-z0-9_-]{{10,}}\.[A-Za-z0-9_-]{{10,}}
    | \b[a-z][a-z0-9+]*://[^\s/:@]+:[^\s/@]{{3,}}@
    | (?i:\b(?:password|passwd|pass(?:phrase|code)|wi-?fi\ key|api[ _-]?key|secret[ _-]?key|client[ _-]secret
        |(?:access|auth|bearer|refresh|api)[ _-]?token|token|密码|口令|密钥|令牌)
        (?:\s+(?:for|of|at|to|on)\s+(?:\S+\s+){{1,3}}?)?
        \s*(?:\bis(?:\ called|\ now)?\b\s*:?|[:=是为：])\s*["'`]?
        (?=\S*[\d!-/:-@_-]|correct|\w{{6,}}\s*$)(?!(?:not|hard|wrong|valid|the|a|an)\b)\S{{6,}})
    | (?i:(?<![A-Za-z])(?:pin|door\ code|alarm\ code|security\ code|access\ code
        |safe\ combination|cvv|pin码|开门码|验证码)
        (?:\s+(?:for|of|on)\s+(?:\S+\s+){{1,3}}?)?
        (?:(?:\s*{_LINK}){{1,4}}\s*["'`]?\d(?:[ -]?\d){{2,7}}|\s+\d{{4,6}})(?![\d:]|[.,]\d)[#*]?
        |\b\d{{4,8}}\ (?:as|is)\ (?:(?:the|my|our|a|new)\ ){{0,2}}pin\b)
    """,
    re.VERBOSE,
)
# A word for a secret, whatever stands between, and what cannot be a word: letters with digits or signs in it.
_ACCESS = (
    r"(?:alarm|door|gate|garage|safe|lock(?:er)?|entry|entrance|office|house|building|sim|gym|tresor|tür"
    r"|coffre|puerta)"
)
_CODE = r"(?:code|combination|combo|pin|kombination|código)"
_CREDENTIAL = re.compile(
    rf"""
      (?i:(?:\b(?:password|passwd|pwd|pass(?:phrase|code)?|passwort|kennwort|mot\ de\ passe|contraseña)\b
        |парол\w*|密码|口令)
        (?:\s+(?:for|of|to|on|für|von|zum|vom|de|del|du|la|le|the|den|das|my|от|для)(?:\s+[\w'-]+){{1,3}}?)?
        {_SAYS})
        ["'`]?(?=[^\s,;]*[A-Za-zÀ-ÿЀ-ӿ])(?=[^\s,;]*[\d!#$%^&*_~@])[^\s,;]{{6,}}
    | (?i:\b(?:password|passwort|kennwort|contraseña|парол\w*)\b|密码|口令)
        {_SAYS}(?<=[是为：:\s])\d{{4,}}(?![\d.,])
    | (?i:\b{_ACCESS}\b[^.\n\d]{{0,16}}?\b(?:opens?|{_CODE})\b(?!\ review){_SAYS}
        |\b{_CODE}\b(?!\ review)[^.\n\d]{{0,24}}?\b{_ACCESS}\b(?:\s+[a-z]+)?{_SAYS})
        (?:(?<![\d.])\d{{2}}(?:[ -]\d{{2}}){{1,3}}(?![\d:])|(?<![\d.])\d{{4,8}}[#*]?(?![\d:]|[.,]\d))
    """,
    re.VERBOSE,
)
_CARD = re.compile(r"(?<![\d.\w-])\d(?:[ -]?\d){12,18}(?![\d.\w]|-\d)")
_CARD_STARTS = ("3", "4", "5", "6", "2")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_PAPERS = {
    "passport": r"passport|reisepass|passeport|pasaporte|passaporto|护照",
    "licence": (
        r"driver'?s?'? licen[cs]e|driving licen[cs]e|licen[cs]e (?:number|no)|führerschein|permis de conduire"
        r"|驾照|驾驶证"
    ),
    "national number": (
        r"ssn|social security|national id|national insurance|nino|identity (?:card|number)|id card|steuer-?id"
        r"|personalausweis|dni|nie|nir|numéro de sécurité|codice fiscale|bsn|pesel|cpf|aadhaar|personnummer"
        r"|身份证|社保号"
    ),
}
_NUMBER = (
    r"(?:[ \w.:：é]{0,22}?[ :：.]|[号码是为：:\s]{1,6}|\s)\s*"
    r"(?P<value>(?=(?:[A-Z .-]*\d){4})[A-Z0-9](?:[ .-]?[A-Z0-9]){5,20})(?![\w])"
)
_ADDRESS = re.compile(
    r"""
      \b\d{1,5}[A-Za-z]?\ (?:[A-ZÀ-Þ][\w'.-]*\ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr
        |Boulevard|Blvd|Parkway|Pkwy|Court|Ct|Square|Sq|Place|Pl|Terrace|Way|Close|Crescent)\b
    | \b[A-ZÄÖÜ][\wäöüß.-]*(?:straße|strasse|str\.|weg|allee|platz|gasse|damm|ring|ufer)\ \d{1,4}[a-z]?\b
    | \b\d{1,4}(?:\ ?(?:bis|ter))?,?\ (?:rue|avenue|boulevard|place|chemin|allée|impasse|quai)
        \ (?:\w[\w'’-]*\ ?){1,5}
    | \b(?:calle|avenida|plaza|paseo|via|piazza)\ (?:[A-ZÀ-Þ]\w+\ ?){1,3},?\ \d{1,4}\b
    | [\u4e00-\u9fff]{1,10}(?:市|省|区|县)[\u4e00-\u9fff]{1,15}(?:路|街|道|巷|弄|大街|大道)\d{1,5}号
    """,
    re.VERBOSE,
)
_PHONE_WORDS = re.compile(
    r"\b(?:phone|call|cell|mobile?|mobil|tel|number|ring|reach|whatsapp|sms|text me|portable|téléphone|handy)"
    r"|fax|电话|手机|号码",
    re.IGNORECASE,
)
_NOT_PHONE = re.compile(
    r"\b(?:order|isbn|ticket|invoice|serial|version|article|pages?|room|model|timestamp|port)\b",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"""(?<![\w.,/:-])(?:
      \+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ ./-]?){2,5}\d{2,4}
    | \(\d{2,5}\)[ ./-]?\d{3,4}[ .-]?\d{3,4}
    | \d{3}[ .-]\d{3}[ .-]\d{4}
    | 0\d{1,4}[ /.-]?\d{2,4}(?:[ .-]?\d{2,4}){1,4}
    | 1[3-9]\d[ -]?\d{4}[ -]?\d{4}
    | \d{10,11}
    )(?![\w-]|[.,:/]\d)""",
    re.VERBOSE,
)
_BARE = re.compile(r"\d{10,11}")
_MOBILE_CN = re.compile(r"1[3-9]\d[ -]?\d{4}[ -]?\d{4}")
_LEAST_DIGITS = 7


def _by(pattern: re.Pattern[str]) -> Callable[[str], Spans]:
    def find(text: str) -> Spans:
        return (match.span() for match in pattern.finditer(text))

    return find


def _cards(text: str) -> Spans:
    for match in _CARD.finditer(text):
        if match.group().startswith(_CARD_STARTS) and passes_luhn(match.group()):
            yield match.span()


def _accounts(text: str) -> Spans:
    for match in _IBAN.finditer(text):
        if passes_iban(match.group()):
            yield match.span()


def _papers(words: str) -> Callable[[str], Spans]:
    # Signs that stand without spaces have no edge of a word.
    pattern = re.compile(rf"(?i:(?<![a-zA-Z])(?:{words})(?![a-zA-Z])){_NUMBER}")

    def find(text: str) -> Spans:
        return (match.span("value") for match in pattern.finditer(text))

    return find


def _nationals(text: str) -> Spans:
    """Numbers that pass the checks of a country, where the library that knows them is there."""
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _CANDIDATE.finditer(text):
        if any(check(match.group()) for check in _checks()):
            yield match.span()


_CANDIDATE = re.compile(
    r"(?<![\w.-])(?:\d{17}[\dXx]|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|[XYZ]?\d{7,8}-?[A-Z]"
    r"|\d{3}\.\d{3}\.\d{3}-\d{2})(?![\w-])"
)


@cache
def _checks() -> tuple[Callable[[str], bool], ...]:
    try:
        from stdnum.br import cpf
        from stdnum.cn import ric
        from stdnum.es import dni, nie
        from stdnum.it import codicefiscale
    except ImportError:
        return ()
    return tuple(module.is_valid for module in (ric, cpf, dni, nie, codicefiscale))


def _phones(text: str) -> Spans:
    """Numbers in the shape of a phone number; ten bare digits only where something says that they are one."""
    said = _PHONE_WORDS.search(text) is not None
    if _NOT_PHONE.search(text) and not said:
        return
    for match in _PHONE.finditer(text):
        piece = match.group()
        bare = _BARE.fullmatch(piece) is not None and _MOBILE_CN.fullmatch(piece) is None
        if (not bare or said) and sum(sign.isdigit() for sign in piece) >= _LEAST_DIGITS and _is_phone(piece):
            yield match.span()


def _is_phone(piece: str) -> bool:
    """Whether a number with a country code may be one; where the library is not there, any may."""
    if not piece.startswith("+"):
        return True
    try:
        import phonenumbers
    except ImportError:
        return True
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(piece))
    except phonenumbers.NumberParseException:
        return False


_DETECTORS: Final[tuple[tuple[str, Callable[[str], Spans], int, tuple[str, ...]], ...]] = (
    ("secret", _by(_SECRETS), 0, ("pass", "key", "token", "secret", "pin", "code", "cvv", "combination",
                                  "密码", "口令", "密钥", "令牌", "码", LONG)),
    ("secret", _by(_CREDENTIAL), 0, ("pass", "pwd", "kennwort", "contrase", "парол", "密码", "口令", "open",
                                     "code", "combination", "combo", "pin", "kombination", "código")),
    ("card", _cards, 13, ("",)),
    ("account", _accounts, 2, ("",)),
    *((kind, _papers(words), 4, ("",)) for kind, words in _PAPERS.items()),
    ("national number", _nationals, 7, ("",)),
    ("e-mail", _by(_EMAIL), 0, ("@",)),
    ("address", _by(_ADDRESS), 1, ("",)),
    ("phone", _phones, _LEAST_DIGITS, ("",)),
)  # fmt: skip
"""In the order of what tells more: a card is no phone number. Each with how many digits a text has at least
that it finds something in, and pieces of which it holds one."""


_IBAN_MODULUS = 97


def passes_luhn(number: str) -> bool:
    """Whether the last digit is the check digit that payment cards carry.

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in reversed(number) if c.isdigit()]
    doubled = (2 * d - 9 * (d > 4) for d in digits[1::2])  # noqa: PLR2004 - doubling 5 or more gives two digits
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def passes_iban(number: str) -> bool:
    """Whether the check digits of an international account number fit."""
    compact = number.replace(" ", "")
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % _IBAN_MODULUS == 1
