"""A client for services with OpenAI's form of chat: a question goes out, an answer or a failure comes back.

The deadline is hard: it holds for retries, for a name that does not resolve, and for a server that sends a
byte now and then. So each try runs in a thread of its own that is left behind when time is up; closing its
connection ends it. A connection serves one question: a model takes seconds, connecting does not.

Nothing here writes a log, and no failure repeats a word of the prompt, of the answer or of the key.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from engram.llm import wire
from engram.llm.wire import Broken, Form, Question, Said
from engram.model.clock import Clock

if TYPE_CHECKING:
    import ssl

    import httpx

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 8.0
LONGEST_ANSWER: Final = 4_000_000
"""Bytes of a response that are read at most."""
OK: Final = 200
FOR_THE_MOMENT: Final = frozenset({408, 409, 425, 429})
SERVER_ERRORS: Final = 500
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


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    raw: bytes


class Client:
    """Asks one service. Keeps nothing open between questions; safe to share between threads."""

    def __init__(self, service: Service, clock: Clock, wait: Callable[[float], None] = time.sleep) -> None:
        self._service = service
        self._clock = clock
        self._wait = wait
        self._forms: dict[str, Form] = {}

    def ask(self, question: Question, deadline: float) -> Said | Failed:
        """The answer, or why there is none by the deadline (in the clock's monotonic seconds)."""
        form = self._forms.get(question.model, Form())
        tries, pause = 0, FIRST_WAIT
        while True:
            got = self._once(question, form, deadline)
            if isinstance(got, Form):
                form = got  # finding out what a service understands is no failed try
                continue
            if isinstance(got, Said):
                self._forms[question.model] = form
                return got
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

    def _once(self, question: Question, form: Form, deadline: float) -> Said | Failed | Form:
        left = self._left(deadline)
        if left <= 0:
            return Failed(self._says("did not answer in time"))
        got = self._within(left, "POST", "/chat/completions", wire.body(question, form))
        if isinstance(got, Failed):
            return got
        if got.status != OK:
            following = wire.simpler(form, got.status, got.raw.decode("utf-8", errors="replace"))
            return following or self._problem(got)
        said = wire.read(got.raw)
        return Failed(self._says(said.reason), again=True, worked=True) if isinstance(said, Broken) else said

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
        name = wire.error_code(got.raw)
        reason = self._says(f"answered {got.status}{f' ({name})' if name else ''}")
        again = got.status in FOR_THE_MOMENT or got.status >= SERVER_ERRORS
        return Failed(
            reason,
            again=again,
            rests=got.status not in THIS_QUESTION,
            everywhere=got.status in {401, 403},
            wait_s=self._asked_to_wait(got.headers) if again else 0.0,
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
