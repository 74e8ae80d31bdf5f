"""A client for services with OpenAI's form of chat: a question goes out, an answer or a failure comes back.

The deadline is hard: it holds for retries, for a name that does not resolve, and for a server that sends a
byte now and then. So each try runs in a thread of its own that is left behind when time is up; closing its
connection ends it. A connection serves one question: a model takes seconds, connecting does not.

Nothing here writes a log, and no failure repeats a word of the prompt, of the answer or of the key.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from engram.errors import EngramError
from engram.lazily import dataclass
from engram.model.clock import Clock

if TYPE_CHECKING:
    import ssl

    import httpx

    from engram.ports import Spending


# ---------------------------------------------------------------- wire
# What goes over the wire: a question becomes a request body, a response body becomes what was said.
#
# Services differ in what they take: some know no JSON schema, some want the limit under another name.
# `Form` is how one is spoken to, and `simpler` the next form to try when a service says that it does not
# know something, or fails at it. What was found out is kept in the file.

SCHEMA, OBJECT_SCHEMA, OBJECT, PLAIN = "json_schema", "json_object_schema", "json_object", "plain"
STRUCTURES: Final = (SCHEMA, OBJECT_SCHEMA, OBJECT, PLAIN)
"""How an answer's shape is asked for, the strictest first; `plain` only in the words of the prompt."""
STRUCTURE_WORDS: Final = (
    "response_format", "response format", "json_schema", "json schema", "json_object", "json mode",
    "structured output", "grammar", "guided",
)  # fmt: skip
"""What a service complains of when it cannot be asked for a shape."""
UNKNOWN_PARAMETER: Final = frozenset({400, 404, 415, 422, 501})
"""Statuses with which services refuse a parameter they do not know."""
MOST_TOKENS: Final = 10_000_000
"""A service that reports more than this has miscounted."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message to a model."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked, and in which shape it should answer."""

    model: str
    messages: tuple[ChatMessage, ...]
    name: str
    schema: Mapping[str, Any]
    answer_tokens: int
    once: bool = False
    """Whether somebody waits: no second try in another form when the service stumbles."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a service is spoken to."""

    structure: str = SCHEMA
    limit: str = "max_tokens"
    tempered: bool = True
    """Whether it lets the temperature be set."""

    def __str__(self) -> str:
        return f"{self.structure} {self.limit or '-'} {'tempered' if self.tempered else '-'}"

    @classmethod
    def of(cls, text: str) -> Form:
        """The form that was written down; the usual one when nobody wrote one that is known.

        >>> Form.of(str(Form("plain", "", tempered=False))) == Form("plain", "", tempered=False)
        True
        >>> Form.of("") == Form.of("xml - -") == Form()
        True
        """
        match text.split():
            case [structure, limit, tempered] if structure in STRUCTURES:
                return cls(structure, limit.removeprefix("-"), tempered == "tempered")
        return cls()


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model said. Token counts are None when the service did not report them."""

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    refused: bool = False


def body(question: ModelRequest, form: Form) -> dict[str, Any]:
    """The request in a service's form."""
    request: dict[str, Any] = {
        "model": question.model,
        "messages": [{"role": message.role, "content": message.content} for message in question.messages],
        "stream": False,
    }
    if form.limit:
        request[form.limit] = question.answer_tokens
    if form.tempered:
        request["temperature"] = 0
    if form.structure == SCHEMA:
        wanted = {"name": question.name, "schema": question.schema, "strict": True}
        request["response_format"] = {"type": SCHEMA, "json_schema": wanted}
    elif form.structure == OBJECT_SCHEMA:
        request["response_format"] = {"type": OBJECT, "schema": question.schema}
    elif form.structure == OBJECT:
        request["response_format"] = {"type": OBJECT}
    return request


def simpler(form: Form, status: int, complaint: str) -> Form | None:
    """The form to try next when a service complains about a parameter; None when that is not its trouble.

    >>> simpler(Form(), 400, "unknown field response_format").structure
    'json_object_schema'
    >>> simpler(Form(), 400, "'max_tokens' is not supported, use 'max_completion_tokens'").limit
    'max_completion_tokens'
    >>> simpler(Form(), 400, "the context is too long") is None
    True
    """
    if status not in UNKNOWN_PARAMETER:
        return None
    words = complaint.lower()
    if any(word in words for word in STRUCTURE_WORDS):
        return looser(form)
    if "max_completion_tokens" in words and form.limit == "max_tokens":
        return replace(form, limit="max_completion_tokens")
    if "max_tokens" in words and form.limit:
        return replace(form, limit="")
    if "temperature" in words and form.tempered:
        return replace(form, tempered=False)
    return None


def looser(form: Form) -> Form | None:
    """The form that asks less strictly for a shape; None when it is asked for in words already."""
    place = STRUCTURES.index(form.structure)
    return replace(form, structure=STRUCTURES[place + 1]) if form.structure != PLAIN else None


def read(raw: bytes) -> ModelReply | str:
    """What a response of status 200 says; where it says nothing, what the service did; no word of it."""
    answer = parsed(raw.decode("utf-8", errors="replace").strip())
    if not isinstance(answer, dict):
        return "answered with something that is no JSON"
    choice = _first_choice(answer)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict):
        return "answered without a message"
    filtered = choice.get("finish_reason") == "content_filter"
    return ModelReply(
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


FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 8.0
LONGEST_ANSWER: Final = 4_000_000
"""Bytes of a response that are read at most."""
OK: Final = 200
FOR_THE_MOMENT: Final = frozenset({408, 409, 425, 429})
SERVER_ERRORS: Final = 500
BROKEN: Final = frozenset({500, 501})
"""Statuses of a service that stumbled over the question; 502 and up are of one that is not there."""
THIS_QUESTION: Final = frozenset({400, 413, 422})
"""The service works and will not take this question: others may fare better."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Service:
    """Which service, and how patient to be with it."""

    base_url: str
    api_key: str = ""
    retries: int = 1

    @property
    def root(self) -> str:
        """The address that paths are added to; without a path of its own it is `/v1`, as everywhere.

        >>> Service("http://localhost:11434").root, Service("https://x.example/api/").root
        ('http://localhost:11434/v1', 'https://x.example/api')
        """
        plain = self.base_url.strip().rstrip("/")
        return plain if _split(plain).path else f"{plain}/v1"

    @property
    def place(self) -> str:
        """Where it is, without a password that may stand in the address."""
        return _split(self.base_url).netloc.rpartition("@")[2]

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine."""
        return _split(self.base_url).hostname in LOOPBACK


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url.strip())
    except ValueError:  # no address at all: asking it says so
        return SplitResult("", "", "", "", "")


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer, and why."""

    reason: str
    again: bool = False
    """Whether it may go better in a moment."""
    rests: bool = True
    """Whether the model should be left alone for a while."""
    everywhere: bool = False
    """Whether the whole service is out of reach, not one model of it."""
    worked: bool = False
    """Whether the service may have worked on the question, and will charge for it."""
    wait_s: float = 0.0
    """How long the service asks to be left alone."""
    at_work: bool = False
    """Whether the service failed while it worked on the question."""


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    raw: bytes


class ChatClient:
    """Asks one service. Keeps nothing open between questions; safe to share between threads."""

    def __init__(
        self,
        service: Service,
        clock: Clock,
        wait: Callable[[float], None] = time.sleep,
        spending: Spending | None = None,
    ) -> None:
        self._service = service
        self._clock = clock
        self._wait = wait
        self._spending = spending
        self._forms: dict[str, Form] = {}
        """How each model is spoken to; only what has worked."""
        self._stumbled: set[str] = set()
        """Models whose service has failed at a stricter form once: it may have been chance."""

    def form(self, model: str) -> Form | None:
        """How a model is spoken to, once that is known."""
        if model not in self._forms and self._spending is not None:
            with suppress(EngramError):  # what was found out before is a help, no more
                if stored := self._spending.form(self._known_as(model)):
                    self._forms[model] = Form.of(stored)
        return self._forms.get(model)

    def ask(self, question: ModelRequest, deadline: float) -> ModelReply | Failed:
        """The answer, or why there is none by the deadline (in the clock's monotonic seconds)."""
        form = self.form(question.model) or Form()
        tries, pause = 0, FIRST_WAIT
        stumbled = False
        while True:
            got = self._once(question, form, deadline)
            if isinstance(got, Form):
                form = got  # finding out what a service understands is no failed try
                continue
            if isinstance(got, ModelReply):
                if not stumbled or question.model in self._stumbled:
                    self._learn(question.model, form)
                if stumbled:
                    self._stumbled.add(question.model)
                return got
            unknown = question.model not in self._forms and not question.once
            less = looser(form) if got.at_work and unknown else None
            if less is not None and self._left(deadline) > 0:
                # Some servers die of a form they do not know instead of saying so.
                stumbled, form = True, less
                continue
            wait = max(pause, got.wait_s)
            tries += 1
            if not got.again or tries > self._service.retries or wait >= self._left(deadline):
                return got
            self._wait(wait)
            pause = min(2 * pause, LONGEST_WAIT)

    def probe(self, seconds: float) -> Failed | None:
        """None when the service answers at all; asks for its list of models, which costs nothing."""
        got = self._within(seconds, "GET", "/models", None)
        if isinstance(got, Failed):
            return got
        # A service that lists no models is there all the same.
        if got.status < SERVER_ERRORS and got.status not in {401, 403}:
            return None
        return self._problem(got)

    def _learn(self, model: str, form: Form) -> None:
        if self._forms.get(model) != form:
            self._forms[model] = form
            if self._spending is not None:
                with suppress(EngramError):
                    self._spending.keep_form(self._known_as(model), str(form))

    def _known_as(self, model: str) -> str:
        return f"{self._service.place} {model}"

    def _once(self, question: ModelRequest, form: Form, deadline: float) -> ModelReply | Failed | Form:
        left = self._left(deadline)
        if left <= 0:
            return Failed(self._says("did not answer in time"))
        got = self._within(left, "POST", "/chat/completions", body(question, form))
        if isinstance(got, Failed):
            return got
        if got.status != OK:
            following = simpler(form, got.status, got.raw.decode("utf-8", errors="replace"))
            return following or self._problem(got)
        reply = read(got.raw)
        if isinstance(reply, str):
            return Failed(self._says(reply), again=True, worked=True)
        if not reply.text.strip() and not reply.refused and question.model not in self._forms:
            return looser(form) or reply  # what asks for a shape and gets nothing was not understood
        return reply

    def _within(
        self, seconds: float, method: str, path: str, content: Mapping[str, object] | None
    ) -> _Response | Failed:
        """One request that ends when its time is up, whatever the server does."""
        import httpx

        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="engram-model")
        http: httpx.Client | None = None
        try:
            http = self._http(seconds)
            return worker.submit(self._send, http, method, path, content).result(timeout=seconds)
        except (TimeoutError, httpx.TimeoutException) as error:
            unconnected = isinstance(error, httpx.ConnectTimeout)
            return Failed(
                self._says("did not answer in time"), everywhere=unconnected, worked=not unconnected
            )
        except httpx.ConnectError:
            return Failed(self._says("cannot be reached"), again=True, everywhere=True)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL, UnicodeError):
            return Failed(f"The address or the key of the model service ({self._service.place}) is no good.")
        except (httpx.HTTPError, OSError):
            return Failed(self._says("broke off its answer"), again=True, worked=True)
        except RuntimeError:  # no thread starts any more while the program ends
            return Failed("No model is asked while the program ends.", rests=False)
        finally:
            if http is not None:
                http.close()
            worker.shutdown(wait=False)

    def _send(
        self, http: httpx.Client, method: str, path: str, content: Mapping[str, object] | None
    ) -> _Response | Failed:
        with http.stream(method, self._service.root + path, json=content) as response:
            raw = bytearray()
            for piece in response.iter_bytes():
                raw += piece
                if len(raw) > LONGEST_ANSWER:
                    return Failed(self._says("sent an answer without end"), worked=True)
            return _Response(response.status_code, response.headers, bytes(raw))

    def _http(self, seconds: float) -> httpx.Client:
        import httpx

        key = self._service.api_key
        return httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=seconds,
            verify=_certificates(),
            # A proxy of the environment is for the outside, not for a server on this machine.
            trust_env=not self._service.is_here,
        )

    def _problem(self, got: _Response) -> Failed:
        """What a status other than 200 means."""
        name = error_code(got.raw)
        reason = self._says(f"answered {got.status}{f' ({name})' if name else ''}")
        again = got.status in FOR_THE_MOMENT or got.status >= SERVER_ERRORS
        return Failed(
            reason,
            again=again,
            rests=got.status not in THIS_QUESTION,
            everywhere=got.status in {401, 403},
            wait_s=self._asked_to_wait(got.headers) if again else 0.0,
            at_work=got.status in BROKEN,
        )

    def _asked_to_wait(self, headers: Mapping[str, str]) -> float:
        """Seconds in Retry-After, which is a number or a date; 0 when there is none that makes sense."""
        asked = headers.get("retry-after", "")
        try:
            seconds = float(asked)
        except ValueError:
            try:
                seconds = (parsedate_to_datetime(asked) - self._clock.now()).total_seconds()
            except (ValueError, TypeError, OverflowError):
                return 0.0
        return seconds if 0 < seconds < float("inf") else 0.0

    def _left(self, deadline: float) -> float:
        return deadline - self._clock.monotonic()

    def _says(self, what: str) -> str:
        return f"The model service at {self._service.place} {what}."


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the certificates takes longer than everything else here: once is enough."""
    import httpx

    return httpx.create_ssl_context()
