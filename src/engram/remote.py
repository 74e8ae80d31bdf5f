"""A memory behind a server: the same verbs as `Engram`, carried out over REST.

    with engram.connect("http://127.0.0.1:3917", token) as memory:
        memory.remember("My editor is Helix")
        memory.recall("which editor do I use?", limit=3).hits

Each verb is made from its operation: what it is called with goes where the first address of the operation
wants it, and what comes back is the value that the verb of the library gives. An error of the server is
raised as the error that it was there.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar, get_args, get_type_hints
from urllib.parse import quote

import httpx
import msgspec

from engram.errors import EngramError, NotFound, UnknownEntity
from engram.model.capture import Receipt, Refusal
from engram.model.memory import UNSEALED, Forms, SealedWords
from engram.model.plain import plain
from engram.model.recall import Hit, Recall
from engram.operations import OPERATIONS, Operation
from engram.operations.operation import NOUNS, PLACED, verb_of
from engram.operations.values import differing, encoded
from engram.text.forms import FormsOnDemand

TIMEOUT_S = 300.0
IN_ADDRESS = frozenset({"GET", "DELETE"})
ABSENT = {"get": NotFound, "entities.get": UnknownEntity}
"""Verbs that give None for what is not there, where REST says that it is not found."""


def connect(url: str, token: str = "", *, timeout: float = TIMEOUT_S) -> RemoteEngram:
    """A memory that a server has open. Nothing is asked of it yet; close it, or use it in a `with` block.

    `token` is one of `engram server token create`, or the secret of the owner. Verbs raise what the library
    raises, and ConnectionError when the server cannot be reached.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return RemoteEngram(httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout))


class RemoteNoun:
    """A noun of a memory behind a server: `memory.facts`. Safe to use from many threads."""

    def __init__(self, http: httpx.Client, noun: str = "") -> None:
        self._http = http
        self._noun = noun

    def __getattr__(self, name: str) -> Any:
        """A verb, or a noun. Raises AttributeError for what no operation is."""
        path = f"{self._noun}.{name}".lstrip(".")
        if path in OPERATIONS and OPERATIONS[path].addresses:
            return _verb(self._http, OPERATIONS[path])
        if path in NOUNS:
            return RemoteNoun(self._http, path)
        raise AttributeError(f"A memory behind a server has no {path!r}.")

    def __dir__(self) -> list[str]:
        """What can be done here."""
        noun = f"{self._noun}." if self._noun else ""
        own = [
            operation.action
            for operation in OPERATIONS.values()
            if operation.noun == self._noun and operation.addresses
        ]
        return sorted({*own, *(() if noun else (name for name in NOUNS if name))})


class RemoteEngram(RemoteNoun):
    """A memory behind a server. Safe to use from many threads; `close` lets go of its connections."""

    def remember_many(
        self, drafts: Sequence[Mapping[str, Any] | str], *, partial: bool = False
    ) -> list[Receipt | Refusal]:
        """Keep many statements: all or none; with `partial` each good one, and a refusal for each other."""
        answer = _asked(self._http, "POST", "/v1/memories", {}, {"memories": drafts, "partial": partial})
        receipts = map(bytes, msgspec.json.decode(answer, type=dict[str, list[msgspec.Raw]])["receipts"])
        return [_read(Refusal if b'"index"' in receipt[:20] else Receipt, receipt) for receipt in receipts]

    def export(self, **given: Any) -> Iterator[dict[str, Any]]:
        """Every memory in every status as plain data, newest first, with its relations."""
        with self._http.stream("GET", "/v1/export", params=_query(given)) as answer:
            if answer.is_error:
                answer.read()
                raise _error(answer)
            yield from (json.loads(line) for line in answer.iter_lines())

    def upload(self, path: str | Path, **given: Any) -> Any:
        """Take in a file of this machine; it is sent to the server."""
        file = Path(path)
        asked = _query({"name": file.name, **given})
        answer = self._http.post("/v1/sources/file", params=asked, content=file.read_bytes())
        if answer.is_error:
            raise _error(answer)
        return _read(OPERATIONS["sources.upload"].result, answer.content)

    def close(self) -> None:
        """Let go of the connections. Safe to call twice."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _verb(http: httpx.Client, operation: Operation) -> Callable[..., Any]:
    served = operation.addresses[0].partition(" as ")[0]
    method, _, path = served.partition(" ")
    local = _local(operation.name)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = _named(local, args, kwargs)
        placed = {name: quote(str(given.pop(name)), safe="") for name in PLACED.findall(path)}
        where = PLACED.sub(lambda part: placed[part[1]], path)
        in_address = method in IN_ADDRESS
        try:
            answer = _asked(http, method, where, given if in_address else {}, None if in_address else given)
        except EngramError as error:
            if isinstance(error, ABSENT.get(operation.name, ())):
                return None
            raise
        return _answer(operation, local, answer)

    call.__name__, call.__doc__ = operation.action, operation.sentence
    return call


@cache
def _local(name: str) -> Callable[..., Any]:
    """The verb of the library, whose signature and result the remote one has."""
    try:
        return verb_of(name)
    except AttributeError:
        return OPERATIONS[name].call


def _named(local: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name; those that are left out stay so, and how far it has come nobody can be told."""
    bound = inspect.signature(local).bind(None, *args, **kwargs).arguments
    bound.pop(next(iter(bound)))
    more = {name: bound.pop(name) for name in ("given", "changes", "options") if name in bound}
    named = {**bound, **next(iter(more.values()), {})}
    return {name: value for name, value in named.items() if value is not None and name != "progress"}


def _asked(
    http: httpx.Client, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
) -> bytes:
    content = None if body is None else encoded(body)
    try:
        answer = http.request(method, path, params=_query(query), content=content)
    except httpx.TransportError as error:
        raise ConnectionError(f"The server at {http.base_url} cannot be reached: {error}") from error
    if answer.is_error:
        raise _error(answer)
    return answer.content


def _query(given: Mapping[str, Any]) -> dict[str, str]:
    """Arguments as an address spells them: lists with commas, a value such as filters part by part."""
    words: dict[str, str] = {}
    for name, value in given.items():
        if is_dataclass(value) and not isinstance(value, type):
            words |= _query(differing(value))
        elif isinstance(value, bool):
            words[name] = "true" if value else "false"
        else:
            plain_value = plain(value)
            items = plain_value if isinstance(plain_value, list) else [plain_value]
            words[name] = ",".join(map(str, items))
    return words


def _answer(operation: Operation, local: Callable[..., Any], answer: bytes) -> Any:
    hint = get_type_hints(local).get("return", Any)
    if hint is type(None):
        return None
    if not operation.gives:
        return _read(hint, answer)
    return _read(hint, bytes(msgspec.json.decode(answer, type=dict[str, msgspec.Raw])[operation.gives]))


def _read(hint: Any, answer: bytes) -> Any:
    """A value of the model from JSON; where its type cannot be told from the text, plain data."""
    try:
        value = msgspec.json.decode(answer, type=hint, dec_hook=_unknown, strict=False)
    except TypeError:  # a choice of several kinds
        return msgspec.json.decode(answer)
    if isinstance(value, Recall):
        return replace(value, hits=tuple(map(_with_forms, value.hits)))
    return _with_forms(value) if isinstance(value, Receipt) else value


_OfMemory = TypeVar("_OfMemory", Hit, Receipt)


def _with_forms(hit: _OfMemory) -> _OfMemory:
    """The same, its memory works its shorter forms out by itself: an answer leaves them out."""
    memory = hit.memory
    if memory.forms != Forms():
        return hit
    return replace(hit, memory=replace(memory, forms=FormsOnDemand(memory.content)))


def _unknown(kind: type, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, EngramError):
        return _raised(value["code"], value["message"], {})
    if kind is SealedWords:  # the server tells only whether there is something
        return SealedWords(b"?") if value else UNSEALED
    return tuple(value) if get_args(kind) else value


def _error(answer: httpx.Response) -> EngramError:
    """What went wrong on the server, as the error it was there."""
    try:
        problem = answer.json()
        return _raised(problem["code"], problem["detail"], problem.get("facts", {}))
    except (ValueError, KeyError, TypeError):
        return EngramError(f"The server answered {answer.status_code}: {answer.text[:200]}")


def _raised(code: str, message: str, facts: Mapping[str, Any]) -> EngramError:
    kind = next((kind for kind in _kinds(EngramError) if kind.code == code), EngramError)
    error = kind.__new__(kind)
    vars(error).update(facts, message=message)
    return error


def _kinds(root: type[EngramError]) -> Iterator[type[EngramError]]:
    for kind in root.__subclasses__():
        yield from _kinds(kind)
    yield root
