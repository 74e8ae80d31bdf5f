"""The remote embedder against a real server on loopback: good, slow, broken, lying and dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from engram.embed.remote import DIALECTS, RemoteEmbedder, Server
from engram.errors import EmbedderDown, EmbedderMismatch, EmbedderRefused
from engram.model.memory import Space
from engram.testing import FakeClock
from tests.embed.embedding_server import (
    EmbeddingServer,
    Reply,
    Script,
    as_ollama,
    as_openai,
    lengths,
    serving,
)
from tests.tables import every


@contextmanager
def remote(
    script: Script, kind: str = "openai", *, clock: FakeClock | None = None, waits: list[float] | None = None,
    timeout_s: float = 5.0, batch: int = 64,
) -> Iterator[tuple[EmbeddingServer, RemoteEmbedder]]:  # fmt: skip
    with serving(script) as server:
        embedder = RemoteEmbedder(
            DIALECTS[kind],
            Server("tiny", server.url, api_key="secret", timeout_s=timeout_s, batch=batch),
            monotonic=(clock or FakeClock()).monotonic,
            sleep=(waits if waits is not None else []).append,
        )
        try:
            yield server, embedder
        finally:
            embedder.close()


def good(request: dict[str, object]) -> Reply:
    return as_openai(lengths(request))


def in_turn(*replies: Reply | Callable[[dict[str, object]], Reply]) -> Script:
    """The first reply to the first request, and so on; the last one for ever."""
    left = list(replies)

    def script(request: dict[str, object]) -> Reply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, Reply) else reply(request)

    return script


def test_vectors_come_in_the_order_of_the_texts_and_have_unit_length() -> None:
    with remote(good) as (server, embedder):
        space, vectors = embedder.embed(["a", "four", "a longer one"])

    assert space == Space("openai:tiny", 3)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert list(np.argsort(vectors[:, 0])) == [0, 1, 2]
    assert server.paths == ["/embeddings"]
    assert server.keys == ["Bearer secret"]
    assert server.asked == [{"model": "tiny", "input": ["a", "four", "a longer one"]}]


def test_ollama_is_asked_in_its_own_form() -> None:
    with remote(lambda request: as_ollama(lengths(request)), "ollama") as (server, embedder):
        space, vector = embedder.embed_query("where?")

    assert space.model == "ollama:tiny"
    assert vector.shape == (3,)
    assert server.paths == ["/api/embed"]


def test_many_texts_go_in_batches() -> None:
    with remote(good, batch=2) as (server, embedder):
        _, vectors = embedder.embed(["a", "b", "c", "d", "e"])

    assert vectors.shape == (5, 3)
    assert [len(request["input"]) for request in server.asked] == [2, 2, 1]


def test_no_texts_give_no_rows() -> None:
    with remote(good) as (_, embedder):
        space, vectors = embedder.embed([])

    assert vectors.shape == (0, space.dims)


@every("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_after_a_growing_wait(status: int) -> None:
    waits: list[float] = []
    with remote(in_turn(Reply(status), Reply(status), good), waits=waits) as (server, embedder):
        _, vectors = embedder.embed(["again"])

    assert len(server.asked) == 3
    assert waits == [0.5, 1.0]
    assert vectors.shape == (1, 3)


def test_a_server_may_say_how_long_to_wait_within_reason() -> None:
    waits: list[float] = []
    patient = in_turn(
        Reply(429, headers={"Retry-After": "3"}), Reply(429, headers={"Retry-After": "9999"}), good
    )
    with remote(patient, waits=waits) as (_, embedder):
        embedder.embed(["again"])

    assert waits == [3.0, 8.0]


def test_a_server_that_stays_broken_is_given_up() -> None:
    with remote(in_turn(Reply(500))) as (server, embedder):
        with pytest.raises(EmbedderDown, match="answered 500"):
            embedder.embed(["again"])

        assert len(server.asked) == 3
        assert not embedder.health().ok


def test_a_refusal_is_not_repeated_and_says_why() -> None:
    with remote(in_turn(Reply(401, b"no such key"))) as (server, embedder):
        with pytest.raises(EmbedderDown, match="401: no such key"):
            embedder.embed(["hello"])

        assert len(server.asked) == 1


def test_a_slow_server_is_left_after_the_timeout() -> None:
    with serving(good) as server:
        server.script = lambda request: (server.release.wait(10), good(request))[1]
        embedder = RemoteEmbedder(DIALECTS["openai"], Server("tiny", server.url, timeout_s=0.1))
        with pytest.raises(EmbedderDown, match=r"within 0\.1 s"):
            embedder.embed(["hello"])
        embedder.close()

        assert len(server.asked) == 1


def test_a_dead_server_is_down() -> None:
    with serving(good) as server:
        url = server.url
    waits: list[float] = []
    embedder = RemoteEmbedder(DIALECTS["openai"], Server("tiny", url), sleep=waits.append)
    with pytest.raises(EmbedderDown, match="cannot be reached"):
        embedder.embed(["hello"])
    embedder.close()

    assert waits == [0.5, 1.0]


@every("body", [b"<html>", b"", b"[]", b'{"data": 7}', b'{"data": [{"index": 0}]}', b"\xff\xfe"])
def test_garbage_is_no_answer(body: bytes) -> None:
    with (
        remote(in_turn(Reply(body=body))) as (_, embedder),
        pytest.raises(EmbedderDown, match="no list of vectors"),
    ):
        embedder.embed(["hello"])


@every(
    ("rows", "what"),
    [
        ([[1.0, 2.0]], "shape"),
        ([[1.0, 2.0], [1.0]], "different lengths"),
        ([["a", "b"], ["c", "d"]], "no numbers"),
        ([[], []], "shape"),
        ([[1.0, float("nan")], [1.0, 2.0]], "not finite"),
    ],
)
def test_vectors_of_a_wrong_form_are_refused(rows: list[list[float]], what: str) -> None:
    with remote(in_turn(as_openai(rows))) as (_, embedder), pytest.raises(EmbedderMismatch, match=what):
        embedder.embed(["one", "two"])


def test_a_server_that_changed_its_model_is_found_out() -> None:
    with remote(in_turn(good, as_openai([[1.0, 2.0]]))) as (_, embedder):
        embedder.embed(["before"])
        with pytest.raises(EmbedderMismatch, match="2 numbers where it gave 3"):
            embedder.embed(["after"])

        assert not embedder.health().ok


def test_health_is_asked_at_most_every_half_minute() -> None:
    clock = FakeClock()
    with remote(in_turn(Reply(500), good), clock=clock) as (server, embedder):
        assert not embedder.health().ok
        clock.advance(seconds=29)
        assert not embedder.health().ok
        assert len(server.asked) == 1

        clock.advance(seconds=1)
        assert embedder.health().ok
        assert embedder.health().detail == f"tiny at {server.url}"
        assert len(server.asked) == 2


def test_a_server_that_was_down_is_left_alone_for_half_a_minute() -> None:
    clock = FakeClock()
    with remote(in_turn(Reply(401, b"no"), good), clock=clock) as (server, embedder):
        for _ in range(3):
            with pytest.raises(EmbedderDown):
                embedder.embed(["tea"])
        assert len(server.asked) == 1
        clock.advance(seconds=31)
        assert embedder.embed(["tea"])[1].shape[0] == 1


def test_a_refused_text_says_nothing_about_the_server() -> None:
    with remote(in_turn(Reply(400, b"too long"), good)) as (_, embedder):
        with pytest.raises(EmbedderRefused, match="too long"):
            embedder.embed(["tea"])
        assert embedder.embed(["tea"])[1].shape[0] == 1
        assert embedder.health().ok
