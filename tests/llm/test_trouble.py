"""A model that is misconfigured says so: to whoever is heard, to the doctor, in the health of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.config import ServerConfig
from engram.server.host import MemoryHost, check_health
from engram.testing import HashEmbedder, ScriptedServer
from engram.testing.model_server import Reply, Request, fails, says, says_json, stalls
from tests.llm.settings import statement

SAID = "I moved to Berlin last week and I love it."
GOOD = says_json({"statements": [statement("The user moved to Berlin.")]})


def opened(file: Path, url: str) -> Engram:
    config = {"llm": {"level": "auto", "base_url": url, "model": "large", "retries": 0, "rest_s": 0}}
    return Engram.open(file, config=config, embedder=HashEmbedder())


def only_chats(reply: Reply) -> Any:
    """A service that lists its models, and answers chats in one way."""
    return lambda request: reply if request.path.endswith("/chat/completions") else says("{}")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (fails(404, "model_not_found"), "answered 404 (model_not_found)"),
        (fails(401, "invalid_api_key"), "answered 401 (invalid_api_key)"),
        (says(""), "failed"),
    ],
)
def test_every_place_that_leans_on_the_model_tells_that_it_fails_and_why(
    tmp_path: Path, reply: Reply, told: str
) -> None:
    file = tmp_path / "m.db"
    with ScriptedServer(only_chats(reply)) as service, opened(file, service.url) as memory:
        heard = [memory.observe(SAID), memory.flush()]
        (trouble,) = {one.trouble for one in heard if one.trouble}
        assert told in trouble
        assert trouble.startswith(("the last call to large failed", "each of the last "))
        assert {one.by for one in heard} == {"rules"}

    with ScriptedServer(only_chats(reply)) as service, opened(file, service.url) as memory:
        (found,) = [one for one in memory.doctor() if one.name == "model"]
        assert not found.ok
        assert told in found.detail, "remembered in the file"
        house = MemoryHost(lambda: memory, ServerConfig())
        house.open()
        health = check_health(house)
        assert health.status == "degraded"
        assert any(told in one for one in health.advice), health
        house.close()


def test_a_model_that_works_again_is_well(tmp_path: Path) -> None:
    answers = [fails(503), GOOD]

    def choose(request: Request) -> Reply:
        if not request.path.endswith("/chat/completions"):
            return says("{}")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    with ScriptedServer(choose) as service, opened(tmp_path / "m.db", service.url) as memory:
        memory.observe(SAID)
        memory.flush()
        assert "answered 503" in memory.model_trouble
        memory.observe("I moved to Rome today, remember that please.")
        heard = memory.flush()

        assert heard.trouble == memory.model_trouble == ""
        assert all(one.ok for one in memory.doctor() if one.name == "model")


def test_no_model_no_trouble(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        memory.observe(SAID)
        assert memory.flush().trouble == memory.model_trouble == ""


@pytest.mark.parametrize(("reply", "well"), [(says_json({"relation": "same"}), True), (fails(500), False)])
def test_the_doctor_tries_out_a_model_that_was_never_asked(
    tmp_path: Path, reply: Reply, *, well: bool
) -> None:
    with ScriptedServer(only_chats(reply)) as service, opened(tmp_path / "m.db", service.url) as memory:
        (found,) = [one for one in memory.doctor() if one.name == "model"]

        assert found.ok is well
        assert service.requests
        asked = len(service.requests)
        memory.doctor()
        assert len(service.requests) == asked, "once is enough"


@pytest.mark.parametrize("fallback", ["", "spare"])
def test_what_happened_last_is_told_and_not_the_failure_before_it(tmp_path: Path, fallback: str) -> None:
    replies = [fails(500), stalls()]

    def stumbles_and_hangs(request: Request) -> Reply:
        if not request.path.endswith("/chat/completions"):
            return says("{}")
        return replies.pop(0) if len(replies) > 1 else replies[0]

    llm = {"model": "large", "retries": 0, "timeout_s": 0.5, "fallback_model": fallback}
    with ScriptedServer(stumbles_and_hangs) as service:
        config = {"llm": {"level": "auto", "base_url": service.url, **llm}}
        with Engram.open(tmp_path / "m.db", config=config, embedder=HashEmbedder()) as memory:
            memory.observe(SAID)
            memory.flush()
            (found,) = [one for one in memory.doctor() if one.name == "model"]

            for told in (memory.model_trouble, found.detail):
                assert "did not answer in time" in told
                assert "500" not in told


def test_the_trouble_of_a_model_that_one_task_has_alone_is_told(tmp_path: Path) -> None:
    def gone(request: Request) -> Reply:
        if not request.path.endswith("/chat/completions"):
            return says("{}")
        return fails(404, "model_not_found") if request.model == "reader" else GOOD

    with ScriptedServer(gone) as service:
        config = {"llm": {"base_url": service.url, "model": "large", "models": "extract=reader", "rest_s": 0}}
        with Engram.open(tmp_path / "m.db", config=config, embedder=HashEmbedder()) as memory:
            memory.observe(SAID)
            memory.flush()

            assert "the last call to the models failed" in memory.model_trouble
            assert "model_not_found" in memory.model_trouble
