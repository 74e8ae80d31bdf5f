"""A model service on this machine that answers as it is told to: good, slow, wrong, or dying on the way.

It speaks OpenAI's form of chat over a real socket, so the whole way to a model is tested and not a stand-in
for it. Replies go out in order and the last one for ever; or a function chooses one for each request.

>>> import json, urllib.request
>>> with ScriptedServer(says('{"statements": []}'), too_many_requests(retry_after=2)) as server:
...     body = json.dumps({"model": "small", "messages": [{"role": "user", "content": "hi"}]}).encode()
...     with urllib.request.urlopen(f"{server.url}/chat/completions", body) as response:
...         answer = json.load(response)
>>> answer["choices"][0]["message"]["content"], server.requests[0].model, server.requests[0].prompt
('{"statements": []}', 'small', 'hi')
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from engram.lazily import dataclass

END_OF_STREAM = "data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request. `says`, `fails`, `drips` and the like make them."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Seconds before the first byte; ended early when the server closes."""
    drip_s: float = 0.0
    """Seconds between two bytes; 0 sends all at once."""
    drips_headers: bool = False
    """Whether even the head of the response comes byte by byte."""
    dies_after: int | None = None
    """Bytes of the body after which the connection is torn down."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]
    """With names in lower case."""
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """All messages, one after the other."""
        return "\n".join(str(message.get("content", "")) for message in self.body.get("messages", ()))


Script = Callable[[Request], Reply]


def says(text: str, *, prompt_tokens: int | None = None, answer_tokens: int = 20) -> Reply:
    """An answer in good form, with the tokens it used if they are given."""
    message = {"role": "assistant", "content": text}
    answer: dict[str, Any] = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if prompt_tokens is not None:
        answer["usage"] = {"prompt_tokens": prompt_tokens, "completion_tokens": answer_tokens}
    return Reply(json.dumps(answer).encode())


def says_json(value: Any) -> Reply:
    """An answer whose text is a value as JSON."""
    return says(json.dumps(value, ensure_ascii=False))


def refuses(why: str = "I'm sorry, but I can't help with that.") -> Reply:
    """A model that says in words that it will not answer."""
    return says(why)


def filters() -> Reply:
    """A service whose content filter swallows the answer."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None},
        "finish_reason": "content_filter",
    }
    return Reply(json.dumps({"choices": [choice]}).encode())


def fails(status: int = 500, code: str = "server_error", message: str = "something went wrong") -> Reply:
    """An error in OpenAI's form."""
    return Reply(json.dumps({"error": {"code": code, "message": message}}).encode(), status)


def too_many_requests(retry_after: float | str | None = None) -> Reply:
    """Status 429, with a Retry-After of seconds or a date if one is given."""
    reply = fails(429, "rate_limit_exceeded", "slow down")
    return reply if retry_after is None else replace(reply, headers={"Retry-After": str(retry_after)})


def knows_no(parameter: str) -> Reply:
    """Status 400, for a parameter that the service does not know."""
    return fails(400, "unsupported_parameter", f"Unknown parameter: '{parameter}'.")


def stalls(seconds: float = 60.0) -> Reply:
    """Nothing at all for a while, then an answer that nobody waits for any more."""
    return replace(says("{}"), delay_s=seconds)


def drips(text: str = "{}", every_s: float = 0.05, *, headers_too: bool = False) -> Reply:
    """A byte now and then: each read succeeds, and the answer never ends."""
    return replace(says(text + " " * 10_000), drip_s=every_s, drips_headers=headers_too)


def dies(text: str = '{"statements": []}', after: int = 20) -> Reply:
    """The connection is lost in the middle of the body."""
    return replace(says(text), dies_after=after)


def streams(text: str, *, pieces: int = 3, ends: bool = True) -> Reply:
    """A stream of events, though nobody asked for one; without its end it was broken off."""
    size = max(1, -(-len(text) // pieces))
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    events = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + (END_OF_STREAM if ends else "")
    return Reply(body.encode(), headers={"Content-Type": "text/event-stream"})


def dies_mid_stream(text: str = '{"statements": []}', after: int = 70) -> Reply:
    """A stream whose connection is lost after some bytes."""
    return replace(streams(text), dies_after=after)


class ScriptedServer:
    """A model service for tests: follows its script and keeps what it was asked. Use it in a `with`.

    Runs in threads of its own on a free port; `url` is what belongs into `llm.base_url`. The list of models
    (`/models`, which a health check asks for) answers with `models_status`.
    """

    def __init__(self, *replies: Reply | Script, models_status: int = 200) -> None:
        self._script = list(replies)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, name="scripted-model"
        )
        self.models_status = models_status
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self.requests: list[Request] = []
        """Questions to a model, in the order they came."""

    def then(self, *replies: Reply | Script) -> None:
        """Forget what is left of the script and go on with these."""
        with self._lock:
            self._script = list(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def reply_to(self, request: Request) -> Reply:
        """The reply that comes next."""
        if request.path.endswith("/models"):
            return Reply(b'{"data": []}', self.models_status)
        with self._lock:
            self.requests.append(request)
            if not self._script:
                return fails(500, "no_script", "the script has no replies")
            item = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        return item if isinstance(item, Reply) else item(request)

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server lives."""
        if seconds > 0:
            self._closing.wait(seconds)

    @property
    def is_closing(self) -> bool:
        """Whether slow replies should give up."""
        return self._closing.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: ScriptedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up on a slow answer is what such a test is about; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._send(self.server.owner.reply_to(Request(self.path, self._names(), {})))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        self._send(self.server.owner.reply_to(Request(self.path, self._names(), json.loads(raw))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it inherits
        """Tests are quiet."""

    def _names(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _send(self, reply: Reply) -> None:
        self.server.owner.pause(reply.delay_s)
        head = self._head(reply)
        if reply.drips_headers:
            self._drip(head, reply.drip_s)
        else:
            self.wfile.write(head)
        body = reply.body if reply.dies_after is None else reply.body[: reply.dies_after]
        self._drip(body, reply.drip_s)
        if reply.dies_after is not None:
            self._hang_up()

    def _head(self, reply: Reply) -> bytes:
        headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body))}
        lines = [f"{name}: {value}" for name, value in (headers | dict(reply.headers)).items()]
        return "\r\n".join([f"HTTP/1.0 {reply.status} Scripted", *lines, "", ""]).encode()

    def _drip(self, data: bytes, every_s: float) -> None:
        if every_s <= 0:
            self.wfile.write(data)
            return
        for place in range(len(data)):
            if self.server.owner.is_closing:
                return
            self.wfile.write(data[place : place + 1])
            self.server.owner.pause(every_s)

    def _hang_up(self) -> None:
        """Tear the connection down without a word: a reset, not an orderly end."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
