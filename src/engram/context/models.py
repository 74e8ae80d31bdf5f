"""Models: a name comes in, what that model can take comes out. An unknown one is taken for a small one.

The registry is `data/models.toml`. A user's own file of the same shape comes on top of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from engram.errors import ConfigError
from engram.model.language_model import LanguageModel
from engram.text import tokens

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
