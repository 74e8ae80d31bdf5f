"""Budget: a model and what each section needs come in; what each gets comes out, before anything is made.

    window − reply − system prompt and message = free; then shares of what is free

A section cannot take another's share. What one leaves goes to what is recalled, then to the history, then to
whoever still lacks something. When a share is too small to show anything at all, sections are given up for it
in a fixed order: guidelines, roster, today, skills, schemas, history, recalled, identity; never what is on
the mind.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from engram.config import ContextConfig
from engram.errors import ConfigError
from engram.model.context import SECTIONS, LanguageModel
from engram.text import tokens

SHARES: Final[Mapping[str, float]] = MappingProxyType(
    {
        "identity": 0.08,  # who the agent is
        "working": 0.15,  # what is held in mind
        "history": 0.45,  # the conversation so far
        "recalled": 0.12,  # what is remembered
        "schemas": 0.05,  # patterns
        "skills": 0.08,  # skills
        "today": 0.04,  # notes of today
        "roster": 0.03,  # other agents
    }
)
"""What each section takes of the free tokens; guidelines have none and live on what others leave."""
UNCERTAINTY = 0.05  # share of a window kept free where tokens are estimated, not counted (measured)

# ---------------------------------------------------------------- models
# Models: a name comes in, what that model can take comes out. An unknown one is taken for a small one.
#
# The registry is `data/models.toml`. A user's own file of the same shape comes on top of it.


UNKNOWN: Final = LanguageModel("")
"""What is assumed of a model that nobody knows: 32 K to read, 4 K to write."""

Parts = tuple[str, ...]


def find(name: str, own: str = "") -> LanguageModel:
    """What a model can take, by the longest known name that it begins with; `own` is a user's file.

    >>> find("claude-opus-4-6-20260205").window, find("openrouter/openai/gpt-4o-2024-08-06").tokenizer
    (1000000, 'o200k')
    >>> find("my-own-model").window, find("").output
    (32000, 4000)
    """
    parts = _parts(name)
    for entries in (_own(own), _shipped()):
        for start in range(len(parts)):
            found = _longest(parts[start:], entries)
            if found is not None:
                return replace(found, name=name)
    return replace(UNKNOWN, name=name)


def known(own: str = "") -> tuple[LanguageModel, ...]:
    """Every entry, those of a user first."""
    return (*_own(own).values(), *_shipped().values())


_DOTTED = re.compile(r"(?<=\d)p(?=\d)")
_PART = re.compile(r"[a-z]+|\d+")


def _parts(name: str) -> Parts:
    """A name as it is compared: its words and numbers, however they are joined.

    >>> _parts("Llama-3.3-70B"), _parts("llama3.3:70b"), _parts("glm-5p2")
    (('llama', '3', '3', '70', 'b'), ('llama', '3', '3', '70', 'b'), ('glm', '5', '2'))
    """
    return tuple(_PART.findall(_DOTTED.sub(".", name.casefold())))


def _longest(parts: Parts, entries: Mapping[Parts, LanguageModel]) -> LanguageModel | None:
    found = (entries.get(parts[:length]) for length in range(len(parts), 0, -1))
    return next((one for one in found if one is not None), None)


@cache
def _shipped() -> Mapping[Parts, LanguageModel]:
    from importlib.resources import files  # a slow import, needed only now

    text = (files("engram.context") / "data" / "models.toml").read_text(encoding="utf-8")
    return dict(_entries(tomllib.loads(text), "the registry of models"))


@cache
def _own(file: str) -> Mapping[Parts, LanguageModel]:
    """A user's own entries. Raises ConfigError, saying what is wrong with the file."""
    if not file:
        return {}
    try:
        tree = tomllib.loads(Path(file).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        message = f"The file of models {file} cannot be read: {error.strerror}."
        raise ConfigError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"The file of models {file} is not valid TOML: {error}."
        raise ConfigError(message) from error
    return dict(_entries(tree, f"the file of models {file}"))


def _entries(tree: Mapping[str, Any], where: str) -> Iterator[tuple[Parts, LanguageModel]]:
    for provider, models in tree.items():
        if not isinstance(models, dict):
            message = f"In {where} {provider} must be a table of models."
            raise ConfigError(message)
        for_all = models.get("all", {})
        for name, given in models.items():
            if name != "all":
                yield _parts(name), _entry(provider, name, for_all | given, where)


_TYPES: Final[Mapping[str, type]] = {
    "window": int, "output": int, "tools": bool, "vision": bool, "thinking": bool, "tokenizer": str,
    "caution": float,
}  # fmt: skip


def _entry(provider: str, name: str, given: Mapping[str, Any], where: str) -> LanguageModel:
    for key, value in given.items():
        kind = _TYPES.get(key)
        if kind is None or not isinstance(value, kind | int if kind is float else kind):
            message = f"In {where} {name} has {key} = {value!r}; known are: {', '.join(_TYPES)}."
            raise ConfigError(message)
    if given.get("tokenizer", "o200k") not in tokens.families() or min(_sizes(given)) < 1:
        message = f"In {where} {name} needs sizes above zero and one of: {', '.join(tokens.families())}."
        raise ConfigError(message)
    own = {key: value for key, value in given.items() if key in {f.name for f in fields(LanguageModel)}}
    return LanguageModel(name, provider=provider, family=name, **own)


def _sizes(given: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(given[key] for key in ("window", "output", "caution") if key in given) or (1,)


# ---------------------------------------------------------------- ruler
# The ruler: texts come in, what they cost a model comes out. One ruler measures all of a prompt.


MESSAGE: Final = 4
"""What a message costs beside its words: its role and its ends."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Counts as one family of models counts."""

    family: str
    caution: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether tokens are counted, not estimated."""
        return self.caution == 1.0 and tokens.is_exact(self.family)

    def text(self, text: str) -> int:
        """What a text costs."""
        return ceil(_counted(text, self.family) * self.caution)

    def line(self, text: str) -> int:
        """What a line costs among others: at least what it adds to a text."""
        return self.text(f"{text}\n") + (0 if self.exact else 1)

    def message(self, text: str) -> int:
        """What a message costs; none costs nothing."""
        return self.text(text) + MESSAGE if text else 0


@lru_cache(maxsize=1 << 12)
def _counted(text: str, family: str) -> int:
    """Kept for a while: the same memories stand in one prompt after the other."""
    return tokens.count(text, family)


THINKING: Final = 4
"""A reply of a model that thinks first takes so many times as much."""
AVERAGE: Final = 45
"""About the least tokens that a memory takes in a prompt: how many are asked for follows from it."""
FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class Need:
    """What a section would take, and the least with which it can show anything."""

    wanted: int = 0
    least: int = 0


def reserve_of(model: LanguageModel, settings: ContextConfig) -> int:
    """Tokens kept free for the reply: never more than a quarter of the window.

    >>> reserve_of(LanguageModel("", window=8_192, output=4_096), ContextConfig())
    2048
    """
    wanted = settings.reply_tokens * (THINKING if model.thinking else 1)
    return min(model.output, wanted, model.window // 4)


def budget_of(model: LanguageModel, settings: ContextConfig, asked: int | None, *, exact: bool) -> int:
    """Tokens that a prompt may have; what a caller asks for, if the model has so much."""
    most = model.window - reserve_of(model, settings)
    if not exact:
        most -= ceil(most * UNCERTAINTY)
    return most if asked is None else min(asked, most)


def memories_for(room: int, settings: ContextConfig) -> int:
    """How many memories to ask for: twice as many as may find room, so that there is a choice.

    >>> memories_for(50, ContextConfig()), memories_for(700, ContextConfig())
    (3, 31)
    >>> memories_for(200_000, ContextConfig())
    500
    """
    return min(settings.most_memories, max(FEWEST, 2 * room // AVERAGE))


def allot(free: int, needs: Mapping[str, Need]) -> dict[str, int]:
    """What each section gets; together never more than is free.

    >>> needs = {"history": Need(900, 10), "recalled": Need(300, 10), "roster": Need(5, 5)}
    >>> {name: got for name, got in allot(1000, needs).items() if got}
    {'recalled': 300, 'history': 695, 'roster': 5}
    """
    free = max(0, free)
    given = {
        name: min(needs[name].wanted, int(free * SHARES.get(name, 0.0))) if name in needs else 0
        for name in SECTIONS
    }
    for name in SECTIONS:
        need = needs.get(name, Need())
        if given[name] < min(need.least, need.wanted):
            _rescue(name, need, given, free)
    spare = free - sum(given.values())
    for name in ("recalled", "history", *SECTIONS):
        need = needs.get(name, Need())
        more = min(spare, need.wanted - given[name])
        if given[name] + more >= min(need.least, need.wanted):
            given[name] += more
            spare -= more
    return given


def _rescue(name: str, need: Need, given: dict[str, int], free: int) -> None:
    """Give a section its least by giving up others, the least important first; or give it up itself."""
    behind = SECTIONS[SECTIONS.index(name) + 1 :]
    lacking = min(need.least, need.wanted) - given[name] - (free - sum(given.values()))
    if lacking > sum(given[other] for other in behind):
        given[name] = 0
        return
    for other in reversed(behind):
        if lacking <= 0:
            break
        lacking -= given[other]
        given[other] = 0
    given[name] = min(need.least, need.wanted)
