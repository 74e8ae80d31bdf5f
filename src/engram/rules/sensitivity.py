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
from engram.text.lexicon import Calls, needed, words_of


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
        if self.kind != "secret":
            return (whole,)
        last = _SAID.split(whole.rstrip(_QUOTES))[-1].strip(_QUOTES)
        bare = (last, last.rstrip(".,;!?)。，；！？"))
        return (whole, *(piece for piece in dict.fromkeys(bare) if len(piece) >= _LEAST_SECRET))


_LEAST_SECRET: Final = 4
_SAID: Final = re.compile(r"[\s:=：是为]+")
_QUOTES: Final = "\"'`:="
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
    for kind, find, least, _ in map(_DETECTORS.__getitem__, _called().of(lower)):
        for start, end in find(text) if digits >= least else ():
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
    "-----begin", "pass", "key", "token", "secret", "contra", "kennwort", "pwd", "pw", "mdp", "clave",
    "senha", "парол", "密码", "口令", "密钥", "令牌", "://",
)  # fmt: skip


def _is_suspect(text: str) -> bool:
    if _SIGN.search(text) is not None:
        return True
    lower = text.casefold()
    for word in _WORDS:  # noqa: SIM110 - asked of every text
        if word in lower:
            return True
    return False


def at_least(asked: Tier | None, needed: Tier) -> Tier:
    """The more secret of the two.

    >>> at_least(Tier.CLEAR, Tier.SENSITIVE)
    <Tier.SENSITIVE: 'sensitive'>
    """
    return max(asked or Tier.CLEAR, needed, key=_ORDER.index)


# ---------------------------------------------------------------- detectors

Spans = Iterator[tuple[int, int]]

# Signs that are written without spaces have no edge of a word: in 卡号4111 the number begins at the 4.
_SIGNS: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTER: Final = rf"[^\W{_SIGNS}]"
_START, _END = rf"(?<!{_LETTER})", rf"(?!{_LETTER})"
_EDGE = re.compile(_START)
# A sentence may end behind a number; a decimal goes on.
_NO_MORE: Final = rf"{_END}(?![.,:/-]\d)"
# What stands between a word for a secret and the secret: "is now", "has been changed to", "改成了".
_LINK: Final = (
    r"(?:\b(?:is|was|has|been|now|called|set|changed|with|to|number|lautet|ist|jetzt|nun|es|ahora|est|maintenant"
    r"|désormais|è|adesso|é|agora|теперь|сейчас)\b|\bc['’]est\b|,?\ it['’]s\b|['’]s\b"
    r"|现在|已经|改成|换成|改为|了|·\s*[\w ]{1,24}:|[:=：是为|—-])"
)
_SAYS: Final = rf"(?:\s*{_LINK}){{0,4}}\s*"
_STOP: Final = r"\s,;，。；、！？"
# Keys that are known by their shape.
_KEYS = re.compile(
    rf"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
        (?:[\s\S]*?-----END\ [A-Z ]*PRIVATE\ KEY-----|(?:\\n|[A-Za-z0-9+/=\s])*)
    | (?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{{16,}}
    | gh[pousr]_[A-Za-z0-9]{{30,}}
    | github_pat_[A-Za-z0-9_]{{40,}}
    | (?:glpat|npm|hf|pypi|dop_v1|shpat|SG|whsec|GOCSPX|ya29|ATATT3x)[-_.A-Z][A-Za-z0-9_.-]{{20,}}
    | dapi[0-9a-f]{{32}}
    | xox[abeprs]-[A-Za-z0-9-]{{10,}}
    | A[KS]IA[0-9A-Z]{{16}}{_END}
    | AIza[0-9A-Za-z_-]{{35}}
    | \d{{8,10}}:AA[A-Za-z0-9_-]{{32,}}
    | eyJ[A-Za-z0-9_-]{{10,}}\.eyJ[A-Za-z0-9_-]{{10,}}\.[A-Za-z0-9_-]{{10,}}
    | hooks\.slack\.com/services/[A-Za-z0-9/]{{20,}}
    | [a-z][a-z0-9+]*://[^\s/:@]+:[^\s/@]{{3,}}@
    | [Bb]earer\ (?=\S*\d)[A-Za-z0-9_.~+/-]{{20,}}=*
    """,
    re.VERBOSE,
)
_NAMED = re.compile(
    r"""(?i:password|passwd|passwort|kennwort|pwd|secret|token|credentials?
        |(?:api|access|private|account|auth|encryption|signing|master)[_-]?key)
        ["'`]?\s*(?:=>?|:)\s*["'`]?
        (?=[^\s"'`]*\d)(?=[^\s"'`]*[A-Za-z])[A-Za-z0-9+/_.~!@\#%^&*=-]{12,}(?![\w(])
      |(?i:\b(?:secret|token|key))\ (?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z0-9+/_=-]{32,}(?![\w(])
    """,
    re.VERBOSE,
)
_WHOSE = (
    r"(?:for|of|to|on|für|von|zum|vom|des|der|de|del|della|dello|di|do|da|dos|das|du|la|le|the|den|my|pour|para|per"
    r"|от|для)"
)
_SECRETS = re.compile(
    rf"""
      (?i:\b(?:password|passwd|pass(?:phrase|code)|wi-?fi\ key|api[ _-]?key|secret[ _-]?key|client[ _-]secret
        |(?:access|auth|bearer|refresh|api)[ _-]?token|token|密码|口令|密钥|令牌)
        (?:\s+(?:for|of|at|to|on)\s+(?:\S+\s+){{1,3}}?)?
        \s*(?:\bis(?:\ called|\ now)?\b\s*:?|[:=是为：])\s*["'`]?
        (?=\S*[\d!-/:-@_-]|correct|\w{{6,}}\s*$)(?!(?:not|hard|wrong|valid|the|a|an)\b)(?![\w.]+[(\[])\S{{6,}})
    | (?i:(?<![A-Za-z])(?:pin|puk|door\ code|alarm\ code|security\ code|access\ code
        |safe\ combination|cvv|code\ de\ (?:la\ )?carte(?:\ bleue)?|pin码|开门码|验证码)
        (?:\s+{_WHOSE}\s+(?:\S+\s+){{1,3}}?)?
        (?:(?:\s*{_LINK}){{1,4}}\s*["'`]?\d(?:[ -]?\d){{2,7}}|\s+\d{{4,8}})(?![\d:]|[.,]\d)[#*]?
        |\b\d{{4,8}}\ (?:as|is)\ (?:(?:the|my|our|a|new)\ ){{0,2}}pin\b)
    """,
    re.VERBOSE,
)
# A word for a secret, whatever stands between, and what cannot be a word: letters with digits or signs in it.
_ACCESS = (
    r"(?:alarm[ea]?|door|gate|garage|cellar|shed|safe|(?:pad)?lock(?:er)?|keypad|entry|entrance|office|house|building"
    r"|sim|gym|tresor|tür|haustür|coffre|porte|portail|immeuble|puerta|portal|caja\ fuerte|porta|cancello"
    r"|cassaforte|allarme|portão|cofre|домофон\w*|подъезд\w*|двер\w*|сейф\w*)"
)
_CODE = r"(?:(?:digi)?code|combination|combo|pin|kombination|código|codice|код)"
# Codes that open an account when its password is lost: groups of capitals and digits.
_RESERVE = (
    r"(?:(?:recovery|backup|back-up|rescue|unlock|2fa|one[ -]time|activation|wiederherstellungs|entsperr)"
    r"[ -]?(?:codes?|keys?)|puk(?:-?code)?|codes?\ de\ (?:secours|récupération)|códigos?\ de\ recuperación"
    r"|codic[ei]\ di\ recupero|código\ de\ recuperação)\b(?:\s+are\b|\s+sind\b|\s+son\b|\s+sont\b|\s+sono\b)?"
)
_GROUPS = r"(?=[A-Za-z0-9-]*\d)(?:[A-Z0-9]{2,4}-)?[A-Za-z0-9]{4,}(?:-[A-Za-z0-9]{3,})*"
_CREDENTIAL = re.compile(
    rf"""
      (?i:(?:\b(?:password|passwd|pwd?|pass(?:phrase|code)?|passwort|kennwort|mot\ de\ passe|mdp|contraseña
          |clave|parola\ d['’]ordine|senha)\b|парол\w*|密码|口令)
        (?:\s+(?:wi-?fi|wlan|vpn|router|admin|root|login|e-?mail))?
        (?:\s+{_WHOSE}(?:\s+[\w'’-]+){{1,3}}?)?
        {_SAYS})
        ["'`]?(?=[^{_STOP}]*[A-Za-zÀ-ÿЀ-ӿ])(?=[^{_STOP}]*[\d!#$%^&*_~@])[^{_STOP}]{{6,}}
    | (?i:(?:\b(?:password|passwort|kennwort|mot\ de\ passe|contraseña|clave|senha|парол\w*)\b|密码|口令)
        (?:\s+{_WHOSE}(?:\s+[\w'’-]+){{1,3}}?(?=\s*{_LINK}))?
        {_SAYS}(?<=[是为了：:\s]))(?:\d{{4,}}|\d{{2}}(?:[ -]\d{{2}}){{1,3}})(?!\d|[.,]\d)
    | (?i:\b(?:log-?in|credentials?|creds|zugangsdaten|identifiants|credenciales|credenziali)\b
        [^.\n:=]{{0,24}}?(?:\b(?:is|are|sind|sont|son|sono)\b|[:=])\s*[^\s/|]+(?:\s*[/|]\s*|,?\s(?:and|with|und|mit|et|y|e)\s))
        (?=[^{_STOP}]*[A-Za-zÀ-ÿЀ-ӿ])(?=[^{_STOP}]*\d)[^{_STOP}]{{6,}}
    """,
    re.VERBOSE,
)
_CODES = re.compile(
    rf"""
      (?i:\b{_RESERVE}{_SAYS})(?<=[\s:=-])(?:{_GROUPS}(?:(?:,|\ and|\ und|\ et|\ y|\ e)\ )?)+(?![\w.,]?\d)
    | (?i:\b(?:{_ACCESS}|schloss|fahrradschloss)\b[^.\n\d]{{0,24}}?)(?<![\d.-])\d(?:-\d){{3,7}}(?![\w-])
    | (?i:\bkeypad\b(?:\s+{_WHOSE}(?:\s+[\w'’-]+){{1,3}}?)?{_SAYS})(?<![\d.])\d{{4,8}}[#*]?(?![\d:]|[.,]\d)
    | (?i:\b{_ACCESS}\b[^.\n\d]{{0,24}}?\b(?:opens?|{_CODE})\b(?!\ review){_SAYS}
        |\b{_CODE}\b(?!\ review)[^.\n\d]{{0,24}}?\b{_ACCESS}\b(?:\s+[a-z]+)??{_SAYS})
        (?:(?<![\d.])\d{{2}}(?:[ -]\d{{2}}){{1,3}}(?![\d:])
          |(?<![\d.])(?=\d(?:[A-ZА-Я]?\d){{2}})[\dA-ZА-Я]{{4,8}}[#*]?(?![\w:]|[.,]\d))
    """,
    re.VERBOSE,
)
_AS_PASSWORD = re.compile(
    r" (?i:(?:as|als|comme|como|come) (?:(?:the|its|my|our|a|new|das|mein|le|la|mi|il) ){0,3}"
    r"(?:password|passphrase|passwort|kennwort|mot de passe|contraseña|senha)\b)"
)
_CARD = re.compile(rf"{_START}(?<![\d.-])\d(?:[ -]?\d){{12,18}}{_NO_MORE}")
_CARD_STARTS = ("3", "4", "5", "6", "2")
# It begins with a set of characters: a fast search.
_IBAN = re.compile(
    rf"[A-Z](?<!{_LETTER}[A-Z])[A-Z]\d{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,4}})?{_END}"
)
# Numbers of accounts that carry no check digits are known by the word beside them.
_ACCOUNT = re.compile(
    rf"""(?i:\b(?:(?:bank\ |checking\ |savings\ |current\ |giro)?(?:account|acct|a/c)
          (?:\ (?:number|num|no|nr)\b\.?|\ ?\#)?
        |routing(?:\ (?:number|no)\b\.?)?|sort\ code|konto(?:nummer|nr\.?)?|num[ée]ro\ de\ compte
        |(?:n[úu]mero\ de\ )?cuenta|numero\ (?:di\ )?conto|conta(?:\ corrente)?)\b
        |银行卡号|卡号|银行账[户号]|账号|帐号)
        (?:\s*(?:{_LINK}|[.\#])){{0,3}}\s*
        (?P<value>(?<![\d.])(?:\d{{2}}-\d{{2}}-\d{{2}}|\d(?:[ -]?\d){{6,18}}){_NO_MORE}
          (?!\ ?(?:%|€|\$|£|eur\b|usd\b|元|followers)))
    """,
    re.VERBOSE,
)
_EMAIL = re.compile(
    rf"{_START}(?<![.+-])(?:{_LETTER}|[.+-])+(?:@|%40)(?:{_LETTER}|-)+\.(?:{_LETTER}|[.-])*{_LETTER}"
)
_SSN = re.compile(rf"{_START}(?<!-)(?!000|666|9\d\d)\d{{3}}-(?!00)\d{{2}}-(?!0000)\d{{4}}{_END}(?!-)")
_PAPERS = {
    "passport": (
        r"passport|reisepass|pass(?=-?n(?:umme)?r)|passeport|pasaporte|passaporto|passaporte|паспорт\w*|护照"
    ),
    "licence": (
        r"driver'?s?'? licen[cs]e|driving licen[cs]e|licen[cs]e (?:number|no)|führerschein|permis de conduire"
        r"|carnet de conducir|patente di guida|carteira de motorista|cnh|驾照|驾驶证"
    ),
    "national number": (
        r"ssn|social security|(?:my|his|her) social|national id|national insurance|ni number|nino"
        r"|nhs number|identity (?:card|number)|id card|steuer-?id|steueridentifikations"
        r"|sozialversicherungs|personalausweis|dni|nie|nir|(?:numéro|n°) de sécu(?:rité sociale)?"
        r"|codice fiscale|carta d['’]identità|carte d['’]identité|cédula|curp|bsn|pesel|cpf|rg"
        r"|dowód(?: osobisty)?|aadhaar|pan (?:card|number)|medicare(?: number)?|nhi|personnummer"
        r"|fødselsnummer(?:et)?|cpr|tfn|ahv|снилс|инн|身份证|社保号|マイナンバー|個人番号"
    ),
}
_LICENCE_UK = re.compile(rf"{_START}[A-Z9]{{5}} ?\d{{6}} ?[A-Z9]{{2}}\d[A-Z]{{2}}{_END}")
_NUMBER = (
    r"(?:[ \w.:：é]{0,32}?[ :：.]|[号码是为：:はが\s]{1,6}|\s|(?<=[照证号]))\s*"
    r"(?P<value>(?=(?:[A-Z .-]*\d){3})[A-Z0-9](?:[ .-]?[A-Z0-9]){5,20})" + _END
)
_ADDRESS = re.compile(
    r"""
      \b\d{1,5}[A-Za-z]?\ (?:[A-ZÀ-Þ][\w'.-]*\ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr
        |Boulevard|Blvd|Parkway|Pkwy|Court|Ct|Square|Sq|Place|Pl|Terrace|Way|Close|Crescent)\b
    | \b[A-ZÄÖÜ][\wäöüß.-]*(?:straße|strasse|str\.|weg|allee|platz|gasse|damm|ufer)\ \d{1,4}[a-z]?\b
    | \b[A-ZÄÖÜ][\wäöüß]+\ (?:Straße|Strasse|Str\.|Chaussee)\ \d{1,4}[a-z]?\b
    | \b\d{1,4}(?:\ ?(?:bis|ter))?,?
        \ (?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Pp]lace|[Cc]hemin|[Aa]llée|[Ii]mpasse|[Qq]uai|[Cc]ours)
        \ (?:\w[\w'’-]*\ ?){1,5}
    | \b(?:[Cc]alle|[Cc]arrer|[Aa]v(?:enida|d?a?\.)|[Pp]la[zç]a|[Pp]aseo|[Cc]amino
        |[Vv]ia(?!\ (?:Highway|Route|Road)\b)|[Vv]iale|[Cc]orso|[Pp]iazza|[Vv]icolo|[Rr]ua
        |[Tt]ravessa|[Pp]raça|[Aa]lameda)
        \ ?(?:(?:de|del|della|dei|delle|la|las|los|el|do|da|dos|das)\ ){0,2}
        (?:[A-ZÀ-Þ0-9][\w.'’-]*\ ?){1,4},?\ ?(?:n[º°.o]\ ?)?\d{1,5}\b
    | \b(?:P\.?\ ?O\.?\ ?[Bb]ox|Postfach|[Bb]oîte\ postale|[Aa]partado(?:\ de\ correos)?)\ \d{2,6}\b
    | \b(?:[Уу]л(?:\.|ица)|[Пп]роспект|[Пп]р-т|[Пп]ереулок)\ [А-ЯЁ][\w.-]+(?:\ [\w.-]+)?,?
        \ (?:д(?:ом|\.)\ ?)?\d{1,4}
    | [\u4e00-\u9fff]{1,10}(?:市|省|区|县)[\u4e00-\u9fff]{1,15}(?:路|街|道|巷|弄|大街|大道)\d{1,5}[号弄]
    """,
    re.VERBOSE,
)
_STREETS: Final = frozenset({
    "street", "st", "avenue", "ave", "road", "rd", "lane", "ln", "drive", "dr", "boulevard", "blvd",
    "parkway", "pkwy", "court", "ct", "square", "sq", "place", "pl", "terrace", "way", "close", "crescent",
    "rue", "chemin", "impasse", "quai", "cours",
})  # fmt: skip
_BEFORE: Final = (
    "calle", "carrer", "av", "plaza", "paseo", "camino", "via", "corso", "piazza", "vicolo", "rua",
    "travessa", "alameda", "postfach", "apartado",
)  # fmt: skip
_BEHIND: Final = ("strasse", "str", "weg", "allee", "platz", "gasse", "damm", "ufer", "chaussee", "box")
"""Words of addresses in plain letters, how they begin and how they end."""
# A number of a house, five digits and a town; before it, whatever the street is called.
_TOWN = re.compile(r"\b\d{1,4}[a-z]?,\ \d{5}\ [A-ZÀ-Þ]\w+")
_STREET = re.compile(r"[A-ZÀ-Þ][\w.'’-]*\ (?:[\w.'’-]+\ ){0,4}$")
_STREET_LENGTH = 60
_PHONE_WORDS = re.compile(
    r"\b(?:phone|call|cell|mobile?|mobil|tel|number|ring|reach|whatsapp|sms|text me|portable|téléphone|handy"
    r"|telefon|anruf|n[úu]mero|m[óo]vil|teléfono|telefono|cellulare|celular|telefone|zap|ll[áa]ma|liga\b|chiama|appel|dial|rufe?\b"
    r"|номер|телефон|(?:по)?звони)"
    r"|fax|电话|手机|号码|座机|打给",
    re.IGNORECASE,
)
_NOT_PHONE = re.compile(
    r"\b(?:order|isbn|ticket|invoice|serial|version|article|pages?|room|model|timestamp|port)\b",
    re.IGNORECASE,
)
_PHONE = re.compile(
    rf"""{_START}(?<![\d.,/-])(?<!\d:)(?:
      (?:\+|00)[1-9]\d{{0,2}}[ .-]?(?:\(?\d{{1,4}}\)?[ ./-]?){{2,6}}\d{{2,4}}
    | \(\d{{2,5}}\)[ ./-]?\d{{3,5}}[ .-]?\d{{3,4}}
    | \d{{3}}[ .-]\d{{3}}[ .-]\d{{4}}
    | 0\d{{1,4}}(?:[ .-]|\ ?/\ ?)?\d{{2,4}}(?:[ .-]?\d{{2,4}}){{1,4}}
    | 1[3-9]\d[ -]?\d{{4}}[ -]?\d{{4}}
    | 8[ -]?\(?9\d\d\)?[ -]?\d{{3}}[ -]?\d\d[ -]?\d\d
    | \d{{10,11}}
    )(?!(?!x\d){_LETTER}|-(?=\w)|[.,:/]\d)""",
    re.VERBOSE,
)
# A number as people group theirs: only right behind a word that says what it is.
_TOLD_PHONE = re.compile(
    rf"""(?i:\b(?:(?:phone|cell|mobile|telephone|contact)(?:\ number)?|tel|(?:my|new|his|her|their)\ number
        |whatsapp(?:\ me)?|(?:call|ring|dial|text)(?:\ \w+)?|handy(?:nummer)?|telefon(?:nummer)?|mobilnummer
        |ruf\w*|anrufen|portable|téléphone|appel\w+|m[óo]vil|celular|teléfono|ll[áa]ma\w*
        |n[úu]mero\ (?:nuevo|de\ tel\w*)|mi\ n[úu]mero
        |cellulare|telefono|chiama\w*|telefone|liga\w*|meu\ n[úu]mero|номер|телефон|(?:по)?звони\w*)\b
        |电话|手机号?|座机)
        [^\d\n.!?+(]{{0,28}}?(?P<value>(?<![\d.,/€$£+-])\(?\d{{1,4}}\)?(?:[ .-]?\(?\d{{2,5}}\)?){{1,5}})
        {_NO_MORE}(?!\ ?(?:%|€|\$|£|euros?\b|eur\b|usd\b))
    """,
    re.VERBOSE,
)
# What looks like a number of a phone and is a day or a span of years.
_DAYS = re.compile(
    r"\d{1,2}[ ./-]\d{1,2}[ ./-](?:19|20)?\d\d|(?:19|20)\d\d([ ./-])(?:\d\d\1\d\d|(?:19|20)\d\d)"
)
_BARE = re.compile(r"\d{10,11}")
_MOBILE_CN = re.compile(r"1[3-9]\d[ -]?\d{4}[ -]?\d{4}")
_LEAST_DIGITS, _MOST_DIGITS = 7, 15


def _by(pattern: re.Pattern[str], group: str | int = 0) -> Callable[[str], Spans]:
    def find(text: str) -> Spans:
        return (match.span(group) for match in pattern.finditer(text))

    return find


def _keys(text: str) -> Spans:
    """Looking behind each sign for an edge would take longer than to look behind what was found."""
    for match in _KEYS.finditer(text):
        if _EDGE.match(text, match.start()):
            yield match.span()


def _told_first(text: str) -> Spans:
    """A word with letters and digits before "as the password"."""
    for match in _AS_PASSWORD.finditer(text):
        start = text.rfind(" ", 0, match.start()) + 1
        if _MIXED.fullmatch(text, start, match.start()):
            yield start, match.start()


_MIXED = re.compile(r"(?=\S*[^\W\d_])(?=\S*\d)\S{6,}")


def _cards(text: str) -> Spans:
    for match in _CARD.finditer(text):
        if match.group().startswith(_CARD_STARTS) and passes_luhn(match.group()):
            yield match.span()


def _accounts(text: str) -> Spans:
    for match in _IBAN.finditer(text):
        if passes_iban(match.group()):
            yield match.span()


def _addresses(text: str) -> Spans:
    # Most numbers stand in no address: a look at the words saves trying all its forms at each letter.
    words = words_of(text.lower())
    plain = text.isascii() and _STREETS.isdisjoint(words)
    if not plain or any(word.startswith(_BEFORE) or word.endswith(_BEHIND) for word in words):
        for match in _ADDRESS.finditer(text):
            yield match.span()
    for match in _TOWN.finditer(text):
        before = max(match.start() - _STREET_LENGTH, 0)
        if street := _STREET.search(text[before : match.start()]):
            yield before + street.start(), match.end()


def _papers(words: str) -> Callable[[str], Spans]:
    end = "(?:(?<=[照证号])|(?![a-zA-Z]))"
    pattern = re.compile(rf"(?i:(?<![a-zA-Z])(?:{words})(?:s?-?(?:nummer|nr))?{end}){_NUMBER}")

    return _by(pattern, "value")


def _nationals(text: str) -> Spans:
    """Numbers that pass the checks of a country, where the library that knows them is there."""
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _CANDIDATE.finditer(text):
        if _FISCAL.fullmatch(match.group()) or any(check(match.group()) for check in _checks()):
            yield match.span()


_FISCAL = re.compile(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]")
"""Like nothing else, with or without the right letter at its end."""
_CANDIDATE = re.compile(
    rf"{_START}(?<![.-])(?:\d{{17}}[\dXx]|[A-Z]{{6}}\d{{2}}[A-Z]\d{{2}}[A-Z]\d{{3}}[A-Z]|[XYZ]?\d{{7,8}}-?[A-Z]"
    rf"|\d{{3}}\.\d{{3}}\.\d{{3}}-\d{{2}}){_END}(?!-)"
)


@cache
def _checks() -> tuple[Callable[[str], bool], ...]:
    try:
        from stdnum.br import cpf
        from stdnum.cn import ric
        from stdnum.es import dni, nie
    except ImportError:
        return ()
    return tuple(module.is_valid for module in (ric, cpf, dni, nie))


def _phones(text: str) -> Spans:
    """Numbers in the shape of a phone number; ten bare digits only where something says that they are one."""
    said = _PHONE_WORDS.search(text) is not None
    if _NOT_PHONE.search(text) and not said:
        return
    for match in _PHONE.finditer(text):
        piece = match.group()
        bare = _BARE.fullmatch(piece) is not None and _MOBILE_CN.fullmatch(piece) is None
        if (not bare or said) and _is_phone(piece):
            yield match.span()
    for match in _TOLD_PHONE.finditer(text) if said else ():
        if _is_phone(match["value"]):
            yield match.span("value")


def _is_phone(piece: str) -> bool:
    """Whether it is as long as one; with a country code, if the library is there, whether it fits there."""
    if not _LEAST_DIGITS <= len(_DIGIT.findall(piece)) <= _MOST_DIGITS or _DAYS.fullmatch(piece):
        return False
    if not piece.startswith(("+", "00")):
        return True
    try:
        import phonenumbers
    except ImportError:
        return True
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(re.sub("^00", "+", piece)))
    except phonenumbers.NumberParseException:
        return False


_DETECTORS: Final[tuple[tuple[str, Callable[[str], Spans], int, tuple[str, ...]], ...]] = (
    ("secret", _keys, 0, (LONG, "-----begin")),
    ("secret", _by(_NAMED), 1, ("pass", "kennwort", "pwd", "secret", "token", "credential", "key")),
    ("secret", _by(_SECRETS), 0,
     ("pass", "key", "token", "secret", "pin", "puk", "code", "cvv", "combination", "密码", "口令",
      "密钥", "令牌", "码")),
    ("secret", _by(_CREDENTIAL), 0,
     ("pass", "pw", "kennwort", "mdp", "contrase", "clave", "parola", "senha", "парол", "密码", "口令",
      "login", "log-in", "creden", "creds", "zugangsdaten", "identifiants")),
    ("secret", _told_first, 1, ("pass", "kennwort", "contrase", "senha")),
    ("secret", _by(_CODES), 4,
     ("open", "code", "combination", "combo", "pin", "kombination", "código", "codic", "код", "puk", "key",
      "lock", "schloss", "safe")),
    ("card", _cards, 13, ()),
    ("account", _accounts, 2, ()),
    ("account", _by(_ACCOUNT, "value"), 6,
     ("account", "acct", "a/c", "routing", "sort code", "konto", "compte", "cuenta", "conto", "conta", "卡号",
      "账", "帐号")),
    *((kind, _papers(words), 3, needed(words)) for kind, words in _PAPERS.items()),
    ("licence", _by(_LICENCE_UK), 6, ()),
    ("national number", _nationals, 7, ()),
    ("e-mail", _by(_EMAIL), 0, ("@", "%40")),
    ("address", _addresses, 1, ()),
    ("phone", _phones, _LEAST_DIGITS, ()),
)  # fmt: skip
"""In the order of what tells more: a card is no phone number. Each with how many digits a text has at least
that it finds something in, and pieces of which it holds one, if it needs any."""


@cache
def _called() -> Calls:
    return Calls([pieces for *_, pieces in _DETECTORS])


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
