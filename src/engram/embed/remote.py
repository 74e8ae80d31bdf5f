"""An embedding server over HTTP: OpenAI's form of request, or Ollama's.

Texts go out in batches; what comes back is checked and brought to unit length. A refused connection,
429 and 5xx are tried again a few times; a slow answer is not: waiting twice is worse than searching by
text.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from engram.embed.static import unit_rows
from engram.errors import EmbedderDown, EmbedderError, EmbedderMismatch, EmbedderRefused
from engram.lazily import dataclass
from engram.model.memory import Space
from engram.ports import HEALTH_SECONDS, Health

if TYPE_CHECKING:
    import httpx

    from engram.ports import Floats

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 8.0
TOO_MANY_REQUESTS: Final = 429
SERVER_ERRORS: Final = 500
REFUSALS: Final = frozenset({400, 413, 422})
"""The server works and will not take this text: others may fare better."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of server is spoken to."""

    kind: str
    path: str
    model: str
    base_url: str
    read: Callable[[Any], list[Any]]
    """The rows in its answer, in the order of the texts. A wrong shape raises KeyError or TypeError."""


DIALECTS: Final = {
    "openai": Dialect(
        kind="openai",
        path="/embeddings",
        model="text-embedding-3-small",
        base_url="https://api.openai.com/v1",
        read=lambda answer: [
            row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))
        ],
    ),
    "ollama": Dialect(
        kind="ollama",
        path="/api/embed",
        model="nomic-embed-text",
        base_url="http://localhost:11434",
        read=lambda answer: list(answer["embeddings"]),
    ),
}


@dataclass(frozen=True, slots=True)
class Server:
    """Which server and model, and how patient to be with it."""

    model: str
    base_url: str
    api_key: str = ""
    timeout_s: float = 10.0
    batch: int = 64
    query_prefix: str = ""
    document_prefix: str = ""


class RemoteEmbedder:
    """Vectors from a server. Owns one connection pool, opened at first use; safe to share between threads."""

    def __init__(
        self,
        dialect: Dialect,
        server: Server,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._dialect = dialect
        self._server = server
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None
        self._dims = 0
        self._health: tuple[float, Health] | None = None

    @property
    def space(self) -> Space:
        """The space of the server's model; the first call asks the server how long its vectors are."""
        if not self._dims:
            self._vectors(["length"], ATTEMPTS)
        # Vectors made with another prefix lie elsewhere, so the prefix is part of the space.
        prefix = self._server.document_prefix
        version = hashlib.sha256(prefix.encode()).hexdigest()[:12] if prefix else "1"
        return Space(f"{self._dialect.kind}:{self._server.model}", self._dims, version)

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row of unit length each."""
        import numpy as np

        if not texts:
            return self.space, np.zeros((0, self.space.dims), dtype=np.float32)
        size, prefix = self._server.batch, self._server.document_prefix
        texts = [prefix + text for text in texts]
        parts = [self._vectors(texts[i : i + size], ATTEMPTS) for i in range(0, len(texts), size)]
        return self.space, np.concatenate(parts)

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector."""
        vector = self._vectors([self._server.query_prefix + text], ATTEMPTS)[0]
        return self.space, vector

    def health(self) -> Health:
        """What the last call showed; after half a minute, one short question finds out."""
        last = self._health
        if last is None or self._monotonic() - last[0] >= HEALTH_SECONDS:
            with contextlib.suppress(EmbedderError):  # the reason stands in the health it leaves
                self._vectors(["health"], attempts=1)
        return self._health[1] if self._health else Health(ok=False)

    def close(self) -> None:
        """Close the connections. A later call opens them again."""
        with self._lock:
            if self._http is not None:
                self._http.close()
                self._http = None

    def _vectors(self, texts: Sequence[str], attempts: int) -> Floats:
        last = self._health
        # A server that was down a moment ago is not tried again: nobody should wait for it at every call.
        if last and not last[1].ok and self._monotonic() - last[0] < HEALTH_SECONDS:
            raise EmbedderDown(last[1].detail)
        try:
            vectors = self._checked(self._answer(texts, attempts), len(texts))
        except EmbedderRefused:
            raise
        except EmbedderError as error:
            self._health = (self._monotonic(), Health(ok=False, detail=error.message))
            raise
        well = Health(ok=True, detail=f"{self._server.model} at {self._server.base_url}")
        self._health = (self._monotonic(), well)
        return vectors

    def _answer(self, texts: Sequence[str], attempts: int) -> list[Any]:
        """The rows of one request, tried again while that may help."""
        import httpx

        wait, problem = FIRST_WAIT, ""
        for attempt in range(attempts):
            if attempt:
                self._sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
            try:
                response = self._client().post(
                    self._dialect.path.lstrip("/"), json={"model": self._server.model, "input": list(texts)}
                )
            except httpx.TimeoutException as error:
                raise self._down(f"did not answer within {self._server.timeout_s:g} s") from error
            except httpx.TransportError as error:
                problem = f"cannot be reached ({error})"
                continue
            if response.status_code != TOO_MANY_REQUESTS and response.status_code < SERVER_ERRORS:
                return self._rows(response)
            problem = f"answered {response.status_code}"
            wait = min(max(wait, _asked_to_wait(response)), LONGEST_WAIT)
        raise self._down(problem)

    def _rows(self, response: httpx.Response) -> list[Any]:
        if response.status_code in REFUSALS:
            raise EmbedderRefused(
                f"The embedding server at {self._server.base_url} refused these texts: {response.text[:200]}"
            )
        if not response.is_success:
            raise self._down(f"refused with {response.status_code}: {response.text[:200]}")
        try:
            return self._dialect.read(response.json())
        except (ValueError, KeyError, TypeError) as error:
            raise self._down("answered with something that is no list of vectors") from error

    def _checked(self, rows: list[Any], expected: int) -> Floats:
        """The rows as an array of unit vectors of this space, or the error that says what is wrong."""
        import numpy as np

        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise self._mismatch("vectors of different lengths, or no numbers") from error
        if vectors.ndim != 2 or len(vectors) != expected or not vectors.size:  # noqa: PLR2004 - rows and columns
            raise self._mismatch(f"an array of shape {vectors.shape} for {expected} texts")
        if not np.isfinite(vectors).all():
            raise self._mismatch("numbers that are not finite")
        with self._lock:
            self._dims = self._dims or vectors.shape[1]
        if vectors.shape[1] != self._dims:
            raise self._mismatch(f"vectors of {vectors.shape[1]} numbers where it gave {self._dims} before")
        return unit_rows(vectors)

    def _client(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._http is None:
                key = self._server.api_key
                self._http = httpx.Client(
                    base_url=self._server.base_url,
                    headers={"Authorization": f"Bearer {key}"} if key else {},
                    timeout=self._server.timeout_s,
                    # A proxy of the environment is for the outside, not for a server on this machine.
                    trust_env=urlsplit(self._server.base_url).hostname not in LOOPBACK,
                )
            return self._http

    def _down(self, what: str) -> EmbedderDown:
        return EmbedderDown(f"The embedding server at {self._server.base_url} {what}.")

    def _mismatch(self, what: str) -> EmbedderMismatch:
        return EmbedderMismatch(f"The embedding server at {self._server.base_url} sent {what}.")


def _asked_to_wait(response: httpx.Response) -> float:
    """Seconds in the answer's Retry-After, if it has any."""
    try:
        return float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
