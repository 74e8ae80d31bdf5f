"""What a model may cost: every call is a row, and the daily limit holds."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import pytest

from engram.model.clock import EPOCH
from engram.model.knowledge import CallOutcome, Comparison
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import Reply, fails, says, says_json
from tests.llm.settings import Account, advisor, statement, turn
from tests.tables import every

BERLIN = turn("I moved to Berlin last week", speaker="Anna")
GOOD = says_json({"statements": [statement("Anna moved to Berlin.")]})
SAME = says('{"relation": "same"}', prompt_tokens=300, answer_tokens=100)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(":memory:", FakeClock())) as opened:
        yield opened


def test_a_call_is_accounted_for_as_the_service_counts_it() -> None:
    account, clock = Account(), FakeClock()
    good = says('{"relation": "same"}', prompt_tokens=1_000, answer_tokens=50)
    with ScriptedServer(good) as server:
        advisor(server.url, account, clock, model="gpt-4o-mini").compare("a b", "a b")

    (call,) = account.calls
    assert (call.component, call.model, call.prompt_tokens, call.answer_tokens) == (
        "compare", "gpt-4o-mini", 1_000, 50,
    )  # fmt: skip
    assert call.at == clock.now()
    assert call.cost == pytest.approx((1_000 * 0.15 + 50 * 0.60) / 1_000_000)
    assert call.outcome is CallOutcome.ANSWERED


@every("usage", [None, {"prompt_tokens": -5}, {"prompt_tokens": "many"}, {"prompt_tokens": 10**20}, 7])
def test_a_count_that_cannot_be_believed_is_estimated(usage: object) -> None:
    account = Account()
    body = json.loads(GOOD.body) | {"usage": usage}
    with ScriptedServer(Reply(json.dumps(body).encode())) as server:
        advisor(server.url, account, prompt_price=2.0, answer_price=10.0).extract([BERLIN])

    (call,) = account.calls
    assert 300 < call.prompt_tokens < 3_000
    assert 10 < call.answer_tokens < 200
    assert call.cost == pytest.approx((call.prompt_tokens * 2 + call.answer_tokens * 10) / 1_000_000)


def test_the_daily_limit_holds_and_ends_at_midnight() -> None:
    account, clock = Account(), FakeClock(datetime(2024, 1, 1, 23, 0, tzinfo=UTC))
    good = says('{"relation": "same"}', prompt_tokens=300, answer_tokens=100)
    with ScriptedServer(good) as server:
        asked = advisor(server.url, account, clock, daily_tokens=3_000, answer_tokens=100)
        for _ in range(20):
            asked.compare("a b", "a b")

        assert 1_000 <= account.tokens_since(datetime(2024, 1, 1, tzinfo=UTC)) <= 3_000
        calls = len(server.requests)
        assert asked.compare("a b", "a b") is None
        assert len(server.requests) == calls, "nobody is asked any more"

        clock.advance(hours=2)
        assert asked.compare("a b", "a b") is Comparison.SAME


def test_the_daily_limit_holds_when_many_ask_at_once(store: SqliteStore) -> None:
    gate = threading.Barrier(8)
    with ScriptedServer(SAME) as server:
        asked = advisor(server.url, store.spending, daily_tokens=5_000, answer_tokens=100)

        def ask() -> None:
            gate.wait()
            for _ in range(3):
                asked.compare("a b", "a b")

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        (spent,) = store.spending.summary(EPOCH)
        assert spent.calls == len(server.requests)
        assert 2_000 <= spent.prompt_tokens + spent.answer_tokens <= 5_000


def test_every_round_is_a_row_in_the_file(store: SqliteStore) -> None:
    with ScriptedServer(says("no"), says('{"merged": "Anna has 2 cats"}'), SAME, fails(404)) as server:
        asked = advisor(server.url, store.spending)
        assert asked.merge("Anna has cats", "Anna has 2 cats") == "Anna has 2 cats"
        assert asked.compare("a b", "a b") is Comparison.SAME
        assert asked.compare("a b", "a b") is None

    rows = [(row.component, row.model, row.calls, row.failed) for row in store.spending.summary(EPOCH)]
    assert rows == [("merge", "large", 2, 1), ("compare", "large", 2, 1)]


def test_a_limit_that_cannot_be_checked_is_kept_by_asking_nobody(store: SqliteStore) -> None:
    store.close()
    with ScriptedServer(SAME) as server:
        asked = advisor(server.url, store.spending)

        assert asked.compare("a b", "a b") is None
        assert not asked.health().ok
        assert server.requests == []


def test_an_answer_is_of_use_even_when_its_cost_cannot_be_written_down(store: SqliteStore) -> None:
    store.close()
    with ScriptedServer(SAME) as server:
        assert advisor(server.url, store.spending, daily_tokens=0).compare("a b", "a b") is Comparison.SAME


def test_a_spent_day_is_said_by_the_health() -> None:
    account = Account()
    with ScriptedServer(says('{"relation": "same"}', prompt_tokens=5_000)) as server:
        asked = advisor(server.url, account, daily_tokens=5_000)
        asked.compare("a", "b")

        assert asked.health().detail == "The 5,000 tokens of a day (llm.daily_tokens) are used up."
