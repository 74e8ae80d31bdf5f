"""What goes over the wire: a question becomes a request body, a response body becomes what was said.

Services differ in what they take: some know no JSON schema, some want the limit under another name. `Form` is
how one is spoken to, and `simpler` the next form to try when a service says that it does not know something.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

SCHEMA, OBJECT, PLAIN = "json_schema", "json_object", "plain"
UNKNOWN_PARAMETER: Final = frozenset({400, 404, 415, 422, 501})
"""Statuses with which services refuse a parameter they do not know."""
MOST_TOKENS: Final = 10_000_000
"""A service that reports more than this has miscounted."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a model."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked, and in which shape it should answer."""

    model: str
    messages: tuple[Message, ...]
    name: str
    schema: Mapping[str, Any]
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class Form:
    """How a service is spoken to."""

    structure: str = SCHEMA
    limit: str = "max_tokens"
    tempered: bool = True
    """Whether it lets the temperature be set."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said. Token counts are None when the service did not report them."""

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """A response that is no answer; the reason names no word of it."""

    reason: str


def body(question: Question, form: Form) -> dict[str, Any]:
    """The request in a service's form."""
    request: dict[str, Any] = {
        "model": question.model,
        "messages": [{"role": said.role, "content": said.content} for said in question.messages],
        "stream": False,
    }
    if form.limit:
        request[form.limit] = question.answer_tokens
    if form.tempered:
        request["temperature"] = 0
    if form.structure == SCHEMA:
        wanted = {"name": question.name, "schema": question.schema, "strict": True}
        request["response_format"] = {"type": SCHEMA, "json_schema": wanted}
    elif form.structure == OBJECT:
        request["response_format"] = {"type": OBJECT}
    return request


def simpler(form: Form, status: int, complaint: str) -> Form | None:
    """The form to try next when a service complains about a parameter; None when that is not its trouble.

    >>> simpler(Form(), 400, "unknown field response_format").structure
    'json_object'
    >>> simpler(Form(), 400, "'max_tokens' is not supported, use 'max_completion_tokens'").limit
    'max_completion_tokens'
    >>> simpler(Form(), 400, "the context is too long") is None
    True
    """
    if status not in UNKNOWN_PARAMETER:
        return None
    said = complaint.lower()
    if any(word in said for word in ("response_format", "json_schema", "json schema", "json_object")):
        following = {SCHEMA: OBJECT, OBJECT: PLAIN}.get(form.structure)
        return replace(form, structure=following) if following else None
    if "max_completion_tokens" in said and form.limit == "max_tokens":
        return replace(form, limit="max_completion_tokens")
    if "max_tokens" in said and form.limit:
        return replace(form, limit="")
    if "temperature" in said and form.tempered:
        return replace(form, tempered=False)
    return None


def read(raw: bytes) -> Said | Broken:
    """What a response of status 200 says: one JSON object, or a stream of events nobody asked for."""
    text = raw.decode("utf-8", errors="replace").strip()
    if text.startswith(("data:", "event:", ":")):
        return _stream(text)
    answer = parsed(text)
    if not isinstance(answer, dict):
        return Broken("answered with something that is no JSON")
    choice = _first_choice(answer)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict):
        return Broken("answered without a message")
    filtered = choice.get("finish_reason") == "content_filter"
    return Said(
        words(message.get("content")),
        *_usage(answer),
        refused=filtered or bool(words(message.get("refusal"))),
    )


def error_code(raw: bytes) -> str:
    """The short name a service gives its error, if it is one: never a sentence, which may repeat the prompt.

    >>> error_code(b'{"error": {"code": "model_not_found", "message": "no such model: x"}}')
    'model_not_found'
    """
    answer = parsed(raw.decode("utf-8", errors="replace"))
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return ""
    names = (error.get("code"), error.get("type"))
    return next((n for n in names if isinstance(n, str) and n.isidentifier() and len(n) <= 40), "")  # noqa: PLR2004


def parsed(text: str) -> Any:
    """The JSON value of a text; None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def words(content: Any) -> str:
    """A message's content as text: a string, or a list of parts with text in them.

    >>> words([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), words(None)
    ('ab', '')
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(words(part.get("text")) for part in content if isinstance(part, dict))
    return ""


def _stream(text: str) -> Said | Broken:
    """A stream is whole only when it says so: by its last event, or by a reason for its end."""
    pieces: list[str] = []
    usage: tuple[int | None, int | None] = (None, None)
    whole = refused = False
    for event in _events(text):
        if event == "[DONE]":
            whole = True
            continue
        part = parsed(event)
        if not isinstance(part, dict) or "error" in part:
            return Broken("broke off its answer")
        usage = _usage(part) if part.get("usage") else usage
        choice = _first_choice(part) or {}
        delta = choice.get("delta")
        if isinstance(delta, dict):
            pieces.append(words(delta.get("content")))
            refused = refused or bool(words(delta.get("refusal")))
        whole = whole or bool(choice.get("finish_reason"))
        refused = refused or choice.get("finish_reason") == "content_filter"
    return Said("".join(pieces), *usage, refused=refused) if whole else Broken("broke off its answer")


def _events(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("data:"):
            yield line.removeprefix("data:").strip()


def _first_choice(answer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    choices = answer.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return None


def _usage(answer: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return None, None
    return _tokens(usage.get("prompt_tokens")), _tokens(usage.get("completion_tokens"))


def _tokens(value: Any) -> int | None:
    """A count that can be believed; a service that counts nothing is estimated instead."""
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS
    return value if plausible else None
