"""The whole way to a model and back, over a real socket: good, malformed, slow, refusing, limited, dying."""

from __future__ import annotations

import logging
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engram.config import LlmConfig
from engram.llm import open_advisor
from engram.model.clock import SystemClock
from engram.model.knowledge import CallOutcome, Comparison
from engram.ports import NoAdvisor
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import (
    Reply,
    Request,
    dies,
    dies_mid_stream,
    drips,
    fails,
    filters,
    knows_no,
    refuses,
    says,
    says_json,
    stalls,
    streams,
    too_many_requests,
)
from tests.llm.settings import Account, advisor, statement, turn
from tests.tables import every

if TYPE_CHECKING:
    import pytest

ANSWERED, REPAIRED, UNUSABLE, REFUSED, FAILED = CallOutcome
BERLIN = turn("I moved to Berlin last week", speaker="Anna")
GOOD = says_json({"statements": [statement("Anna moved to Berlin.")]})
GARBAGE = says("Here you go: moved to Berlin!")


def contents(found: tuple[object, ...] | None) -> list[str] | None:
    return None if found is None else [getattr(item, "content", "") for item in found]


def test_a_good_answer_becomes_statements_with_the_keys_of_their_turns() -> None:
    with ScriptedServer(GOOD) as server:
        found = advisor(server.url).extract([BERLIN])

    assert found is not None
    assert [(item.content, item.turns, item.category) for item in found] == [
        ("Anna moved to Berlin.", (7,), "fact")
    ]


def test_two_statements_are_compared_and_merged() -> None:
    with ScriptedServer(
        says('{"relation": "replaces"}'), says('{"merged": "Anna has 2 cats, Tom and Bo"}')
    ) as server:
        asked = advisor(server.url)

        assert asked.compare("Anna lives in Rome", "Anna lives in Berlin now") is Comparison.REPLACES
        assert asked.merge("Anna has 2 cats", "Anna's cats are Tom and Bo") == "Anna has 2 cats, Tom and Bo"


def test_a_malformed_answer_is_mended_once_and_the_model_sees_its_mistake() -> None:
    account = Account()
    with ScriptedServer(GARBAGE, GOOD) as server:
        found = advisor(server.url, account).extract([BERLIN])
        shown = server.requests[1].body["messages"]

    assert contents(found) == ["Anna moved to Berlin."]
    assert [message["role"] for message in shown] == ["system", "user", "assistant", "user"]
    assert shown[2]["content"] == "Here you go: moved to Berlin!"
    assert 'no JSON object with a list "statements"' in shown[3]["content"]
    assert [outcome for _, _, outcome in account.outcomes] == [UNUSABLE, REPAIRED]


def test_an_answer_malformed_twice_is_given_up() -> None:
    account = Account()
    with ScriptedServer(GARBAGE) as server:
        assert advisor(server.url, account).extract([BERLIN]) is None
        assert len(server.requests) == 2

    assert [outcome for _, _, outcome in account.outcomes] == [UNUSABLE, UNUSABLE]


@every(
    "reply",
    [stalls(), drips(every_s=0.02), drips(every_s=0.02, headers_too=True)],
)
def test_the_deadline_holds_against_a_server_that_is(reply: Reply) -> None:
    account = Account()
    with ScriptedServer(reply) as server:
        begun = time.monotonic()
        found = advisor(server.url, account, SystemClock(), timeout_s=0.3, retries=5).extract([BERLIN])
        took = time.monotonic() - begun

    assert found is None
    assert took < 30, "dripping to the end would take minutes"
    assert [outcome for _, _, outcome in account.outcomes] == [FAILED]
    assert account.calls[0].prompt_tokens > 0, "the service worked on it and will charge"


@every("reply", [refuses(), filters(), says("抱歉，我不能回答。")])
def test_a_model_that_refuses_is_not_pressed(reply: Reply) -> None:
    account = Account()
    with ScriptedServer(reply) as server:
        assert advisor(server.url, account).extract([BERLIN]) is None
        assert len(server.requests) == 1

    assert [outcome for _, _, outcome in account.outcomes] == [REFUSED]


@every(
    ("asked", "waited"),
    [(2, [2.0]), ("0.1", [0.5]), (None, [0.5]), ("Mon, 01 Jan 2024 12:00:03 GMT", [3.0]), ("soon", [0.5])],
)
def test_a_limited_service_is_asked_again_after_the_time_it_names(
    asked: float | str | None, waited: list[float]
) -> None:
    waits: list[float] = []
    with ScriptedServer(too_many_requests(asked), GOOD) as server:
        found = advisor(server.url, wait=waits.append).extract([BERLIN])

    assert contents(found) == ["Anna moved to Berlin."]
    assert waits == waited


def test_a_wait_beyond_the_deadline_is_not_begun_and_the_service_rests_as_long_as_it_asked() -> None:
    waits: list[float] = []
    clock = FakeClock()
    with ScriptedServer(too_many_requests(120), GOOD) as server:
        asked = advisor(server.url, clock=clock, wait=waits.append, rest_s=30)

        assert asked.extract([BERLIN]) is None
        clock.advance(seconds=119)
        assert asked.extract([BERLIN]) is None
        assert len(server.requests) == 1
        clock.advance(seconds=2)
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]

    assert waits == []


def test_a_service_limited_for_good_is_given_up_after_the_configured_tries() -> None:
    account, waits = Account(), list[float]()
    with ScriptedServer(too_many_requests()) as server:
        assert advisor(server.url, account, wait=waits.append, retries=2).extract([BERLIN]) is None
        assert len(server.requests) == 3

    assert waits == [0.5, 1.0]
    assert [(call.outcome, call.prompt_tokens) for call in account.calls] == [(FAILED, 0)]


@every("broken", [fails(500), fails(503), dies(), dies_mid_stream(), streams('{"statements": [', ends=False)])
def test_what_breaks_for_a_moment_is_tried_again(broken: Reply) -> None:
    with ScriptedServer(broken, GOOD) as server:
        assert contents(advisor(server.url).extract([BERLIN])) == ["Anna moved to Berlin."]


@every("broken", [fails(500), dies(), dies_mid_stream(), fails(401), fails(404)])
def test_what_stays_broken_is_no_answer_and_rests(broken: Reply) -> None:
    clock = FakeClock()
    with ScriptedServer(broken) as server:
        asked = advisor(server.url, clock=clock, rest_s=30)
        assert asked.extract([BERLIN]) is None
        tries = len(server.requests)

        clock.advance(seconds=29)
        assert asked.compare("a", "b") is None
        assert len(server.requests) == tries, "it is left alone"
        assert not asked.health().ok

        server.then(GOOD)
        clock.advance(seconds=2)
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
        assert asked.health().ok


def test_a_question_the_service_will_not_take_does_not_make_it_rest() -> None:
    with ScriptedServer(fails(400, "context_length_exceeded", "too long"), GOOD) as server:
        asked = advisor(server.url)

        assert asked.extract([BERLIN]) is None
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]


def test_nobody_listens_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    account = Account()
    asked = advisor(f"http://127.0.0.1:{port}/v1", account)

    assert asked.extract([BERLIN]) is None
    assert asked.health().detail == f"The model service at 127.0.0.1:{port} cannot be reached."
    assert [(call.outcome, call.prompt_tokens) for call in account.calls] == [(FAILED, 0)]


@every("url", ["nonsense", "ftp://127.0.0.1/v1", "http://[bad", "http://127.0.0.1:99999/v1"])
def test_an_address_that_is_none_breaks_nothing(url: str) -> None:
    asked = advisor(url)

    assert asked.extract([BERLIN]) is None
    assert not asked.health().ok


@every("key", ["ключ", "two\nlines"])
def test_a_key_that_is_none_breaks_nothing_and_is_not_shown(key: str) -> None:
    with ScriptedServer(GOOD) as server:
        asked = advisor(server.url, api_key=key)

        assert asked.extract([BERLIN]) is None
        assert key not in asked.health().detail


def test_a_service_without_schemas_is_asked_more_simply_and_that_is_remembered() -> None:
    def old_service(request: Request) -> Reply:
        return knows_no("response_format") if "response_format" in request.body else GOOD

    with ScriptedServer(old_service) as server:
        asked = advisor(server.url)
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
        forms = [request.body.get("response_format", {}).get("type") for request in server.requests]
        asked.extract([BERLIN])

        assert forms == ["json_schema", "json_object", "json_object", None]
        assert len(server.requests) == 5


def _form(request: Request) -> str:
    wanted = request.body.get("response_format", {})
    return str(wanted.get("type", "plain")) + (" with a schema" if "schema" in wanted else "")


def test_a_server_that_dies_of_a_form_is_asked_in_another_and_that_is_kept_for_the_next_process() -> None:
    def llama(request: Request) -> Reply:
        """As llama.cpp's Python server: `json_schema` is an internal error, `json_object` takes a schema."""
        return fails(500) if _form(request) == "json_schema" else GOOD

    account = Account()
    with ScriptedServer(llama) as server:
        asked = advisor(server.url, account)
        for _ in range(3):
            assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
        assert [_form(request) for request in server.requests] == [
            "json_schema", "json_object with a schema",  # it may have been chance
            "json_schema", "json_object with a schema",
            "json_object with a schema",
        ]  # fmt: skip

        advisor(server.url, account).extract([BERLIN])
        assert len(server.requests) == 6


def test_a_server_that_answers_nothing_to_a_form_is_asked_in_another() -> None:
    def silent(request: Request) -> Reply:
        return GOOD if _form(request) == "plain" else says("")

    with ScriptedServer(silent) as server:
        assert contents(advisor(server.url).extract([BERLIN])) == ["Anna moved to Berlin."]
        assert [_form(request) for request in server.requests][-1] == "plain"


def test_a_server_that_fails_in_every_form_says_why_and_nothing_is_learned() -> None:
    account = Account()
    with ScriptedServer(fails(500, "out_of_memory")) as server:
        assert advisor(server.url, account).extract([BERLIN]) is None
        assert account.forms == {}
        assert "answered 500 (out_of_memory)" in account.calls[-1].reason


def test_a_service_with_other_names_for_its_limits_is_understood() -> None:
    def new_service(request: Request) -> Reply:
        if "max_tokens" in request.body:
            return fails(400, "unsupported_parameter", "'max_tokens': use 'max_completion_tokens' instead.")
        if "temperature" in request.body:
            return fails(400, "unsupported_value", "'temperature' does not support 0 with this model.")
        return GOOD

    with ScriptedServer(new_service) as server:
        assert contents(advisor(server.url).extract([BERLIN])) == ["Anna moved to Berlin."]
        assert server.requests[-1].body["max_completion_tokens"] == 2_000


def test_small_questions_go_to_the_small_model_and_the_key_goes_along() -> None:
    def by_model(request: Request) -> Reply:
        return GOOD if request.model == "large" else says('{"relation": "same"}')

    with ScriptedServer(by_model) as server:
        asked = advisor(server.url, small_model="small", api_key="k-123")
        asked.extract([BERLIN])
        asked.compare("a b", "a b")

        assert [request.model for request in server.requests] == ["large", "small"]
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer k-123"}


def test_the_fall_back_model_is_asked_when_the_first_one_fails_and_alone_while_that_rests() -> None:
    def first_is_gone(request: Request) -> Reply:
        return GOOD if request.model == "spare" else fails(404, "model_not_found")

    account = Account()
    with ScriptedServer(first_is_gone) as server:
        asked = advisor(server.url, account, fallback_model="spare")
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
        health = asked.health()

    assert [(model, outcome) for _, model, outcome in account.outcomes] == [
        ("large", FAILED), ("spare", ANSWERED), ("spare", ANSWERED),
    ]  # fmt: skip
    assert health.ok
    assert "spare" in health.detail
    assert "model_not_found" in health.detail


def test_a_first_model_that_needs_too_long_leaves_time_for_the_fall_back() -> None:
    def by_model(request: Request) -> Reply:
        return GOOD if request.model == "spare" else too_many_requests(retry_after=4)

    waits: list[float] = []
    with ScriptedServer(by_model) as server:
        asked = advisor(server.url, wait=waits.append, fallback_model="spare", timeout_s=5.0)

        assert contents(asked.extract([BERLIN])) == ["Anna moved to Berlin."]
    assert waits == [], "four of five seconds would have been too many"


@every("settings", [{"level": "off"}, {"base_url": ""}, {"model": " "}])
def test_without_a_model_or_with_level_off_rules_decide_alone(settings: dict[str, Any]) -> None:
    config = replace(LlmConfig(base_url="http://127.0.0.1:1", model="m"), **settings)

    assert isinstance(open_advisor(config, Account(), FakeClock()), NoAdvisor)


def test_with_level_off_nobody_is_asked() -> None:
    account = Account()
    with ScriptedServer(GOOD) as server:
        asked = advisor(server.url, account, level="off")

        assert (asked.extract([BERLIN]), asked.merge("a", "b"), asked.compare("a", "b")) == (None, None, None)
        assert asked.health().ok
        assert server.requests == []
    assert account.calls == []


def test_nothing_to_extract_asks_nobody() -> None:
    with ScriptedServer(GOOD) as server:
        assert advisor(server.url).extract([]) == ()
        assert server.requests == []


@every(("status", "ok"), [(200, True), (404, True), (401, False), (500, False)])
def test_the_health_of_a_service_nobody_asked_yet(status: int, ok: bool) -> None:
    with ScriptedServer(GOOD, models_status=status) as server:
        assert advisor(server.url).health().ok is ok
        assert server.requests == [], "asking for its health costs nothing"


def test_no_log_repeats_the_prompt_the_answer_or_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(GARBAGE, fails(500, message="bad key k-123 for Berlin"), GOOD) as server:
        asked = advisor(server.url, api_key="k-123")
        asked.extract([BERLIN])
        told = caplog.text + asked.health().detail

    assert "HTTP/1.0" in told, "the library under it does write a log"
    assert not [word for word in ("Berlin", "k-123", "statement") if word in told]


def test_the_address_is_shown_without_the_password_in_it() -> None:
    asked = advisor("http://user:hush@127.0.0.1:1/v1")
    asked.extract([BERLIN])

    assert "hush" not in asked.health().detail


def test_a_summary_is_believed_only_when_the_memories_say_it() -> None:
    told = ["The build broke on Friday", "The build broke again after the merge"]
    with ScriptedServer(
        says('{"summary": "The build broke on Friday and again"}'),
        says('{"summary": "Anna broke the build 7 times"}'),
        says('{"summary": "The build was broken by Anna"}'),
    ) as server:
        asked = advisor(server.url)
        assert asked.summarize(told, 20) == "The build broke on Friday and again"
        assert asked.summarize(told, 20) is None
        assert asked.summarize([], 20) is None
