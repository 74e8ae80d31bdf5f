"""Times in questions, in the words of people: what answers comes first, what lies elsewhere stays away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engram import Engram
from engram.testing import FakeClock
from tests.tables import every

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)  # a Monday
DIARY = {
    "2024-08-20": ["I moved to Malmö and got the keys to the flat"],
    "2025-02-11": ["I visited grandma in Lund and we baked cinnamon rolls"],
    "2025-04-05": ["I flew in a hot-air balloon for the first time"],
    "2025-07-12": ["We swam in the lake at Bosjökloster", "I bought a canoe from Per"],
    "2025-10-02": ["I visited grandma and repaired her radio"],
    "2025-11-27": ["We hosted dinner for Thanksgiving with the Millers"],
    "2026-01-09": ["The team shipped the billing service"],
    "2026-02-03": ["I had lunch with Omar at the noodle bar"],
    "2026-02-20": ["The team shipped the search page"],
    "2026-03-14": ["I visited grandma and we looked at old photographs"],
    "2026-04-02": ["I bought a rain jacket", "I read Middlemarch"],
    "2026-04-10": ["I renewed my passport"],
    "2026-04-22": ["I packed sunscreen and a hat", "I bought hiking boots"],
    "2026-04-28": ["My trip to Lisbon began with a long train ride"],
    "2026-05-04": ["I had lunch with Omar at the harbour", "I came home from Lisbon with a sunburn"],
    "2026-05-15": ["My thesis defense went well"],
    "2026-05-16": ["I slept until noon and ate pancakes"],
    "2026-05-20": ["I applied for a job at the museum"],
    "2026-06-01": ["I read The Leopard"],
    "2026-06-07": ["I flossed more than usual", "I cleaned the balcony"],
    "2026-06-08": ["The dentist filled a tooth", "I called Vera about the boat"],
    "2026-06-10": ["I argued with the landlord about the heating"],
    "2026-06-13": ["We picked strawberries with Lea"],
    "2026-06-14": ["I watered the tomatoes", "I called Vera about the wedding"],
    "2026-06-15": ["I ran five kilometres before breakfast"],
}
PLANS = {
    "2026-06-01": "The dance class meets on 19 June 2026",
    "2026-05-01": "My sister's wedding is on 18 July 2026",
}
STANDING = {"2026-04-01": "I live in a flat on Bergsgatan", "2026-03-01": "I work at the observatory"}
FIRST = {
    # days and weeks
    "What did I do yesterday?": "I watered the tomatoes",
    "Whom did I call yesterday?": "I called Vera about the wedding",
    "What happened the day before yesterday?": "We picked strawberries with Lea",
    "What did we do on Saturday?": "We picked strawberries with Lea",
    "What did I do today?": "I ran five kilometres before breakfast",
    "What did I argue about last week?": "I argued with the landlord about the heating",
    "What did I argue about the other day?": "I argued with the landlord about the heating",
    "Did I read anything at the beginning of June?": "I read The Leopard",
    "What was I doing five days ago?": "I argued with the landlord about the heating",
    "昨天我做了什么？": "I watered the tomatoes|I called Vera about the wedding",
    # months, quarters, seasons, holidays
    "What did I buy in April?": "I bought a rain jacket|I bought hiking boots",
    "Which book did I read in April?": "I read Middlemarch",
    "What did the team ship in Q1?": "The team shipped the billing service|The team shipped the search page",
    "What did the team ship in January?": "The team shipped the billing service",
    "What did I buy last summer?": "I bought a canoe from Per",
    "Where did we swim last summer?": "We swam in the lake at Bosjökloster",
    "Who came for dinner on Thanksgiving last year?": "We hosted dinner for Thanksgiving with the Millers",
    "What did I do in spring 2025?": "I flew in a hot-air balloon for the first time",
    # the last and the first
    "When did I last visit grandma?": "I visited grandma and we looked at old photographs",
    "When was the last time I visited grandma?": "I visited grandma and we looked at old photographs",
    "When did I visit grandma most recently?": "I visited grandma and we looked at old photographs",
    "When did I first visit grandma?": "I visited grandma in Lund and we baked cinnamon rolls",
    "When was the first time I visited grandma?": "I visited grandma in Lund and we baked cinnamon rolls",
    "When did I last have lunch with Omar?": "I had lunch with Omar at the harbour",
    "When did I have lunch with Omar for the first time?": "I had lunch with Omar at the noodle bar",
    "What is the last book I read?": "I read The Leopard",
    "When did I last call Vera?": "I called Vera about the wedding",
    "What did the team ship most recently?": "The team shipped the search page",
    # before and after an event
    "What did I buy the week before my trip to Lisbon?": "I bought hiking boots",
    "What did I pack in the week before my trip?": "I packed sunscreen and a hat",
    "What did I do the day before the dentist?": "I cleaned the balcony|I flossed more than usual",
    "What did I eat the day after my thesis defense?": "I slept until noon and ate pancakes",
    "Where did I apply for a job after my thesis defense?": "I applied for a job at the museum",
    "Which document did I renew before my trip to Lisbon?": "I renewed my passport",
    "Which boat have I bought since I moved to Malmö?": "I bought a canoe from Per",
    "Which book did I read after I came home from Lisbon?": "I read The Leopard",
    "Which book did I read before I came home from Lisbon?": "I read Middlemarch",
    "After my trip to Lisbon, whom did I have lunch with?": "I had lunch with Omar at the harbour",
    "Before my trip to Lisbon, where did I have lunch with Omar?": "I had lunch with Omar at the noodle bar",
    # now is no window
    "Where do I live now?": "I live in a flat on Bergsgatan",
    "Where do I live today?": "I live in a flat on Bergsgatan",
    "Where am I living these days?": "I live in a flat on Bergsgatan",
    "Where do I currently work?": "I work at the observatory",
    "Where do I work at the moment?": "I work at the observatory",
    # what is yet to come
    "What do I have on Friday?": "The dance class meets on 19 June 2026",
    "What is planned for Friday?": "The dance class meets on 19 June 2026",
    "Which wedding is coming up in July?": "My sister's wedding is on 18 July 2026",
}
ONLY = {
    "What did I do yesterday?": ("2026-06-14", "2026-06-14"),
    "Whom did I call yesterday?": ("2026-06-14", "2026-06-14"),
    "昨天我做了什么？": ("2026-06-14", "2026-06-14"),
    "What happened the day before yesterday?": ("2026-06-13", "2026-06-13"),
    "What did I do the day before the dentist?": ("2026-06-07", "2026-06-07"),
    "What did I buy the week before my trip to Lisbon?": ("2026-04-21", "2026-04-27"),
}


@pytest.fixture(scope="module")
def diary() -> Iterator[Engram]:
    with Engram.open(":memory:", clock=FakeClock(NOW), config={"timezone": "UTC"}) as memory:
        for day, contents in DIARY.items():
            for content in contents:
                memory.remember(content, event_time=f"{day}T09:00:00+00:00")
        for day, content in (PLANS | STANDING).items():
            memory.remember(content, event_time=f"{day}T09:00:00+00:00")
        yield memory


@every(("question", "answers"), FIRST.items())
def test_what_answers_comes_first(diary: Engram, question: str, answers: str) -> None:
    found = diary.recall(question, dry=True)

    assert found.hits, "nothing was found"
    assert found[0].memory.content in answers.split("|"), (
        [hit.memory.content for hit in found],
        found.plan.spans,
        found.plan.notes,
    )


@every(("question", "days"), ONLY.items())
def test_nothing_of_another_time_is_shown(diary: Engram, question: str, days: tuple[str, str]) -> None:
    found = diary.recall(question, dry=True)

    assert all(days[0] <= f"{hit.memory.happened_at:%Y-%m-%d}" <= days[1] for hit in found)


def test_the_scores_follow_the_order_of_time(diary: Engram) -> None:
    scores = [hit.score for hit in diary.recall("When did I last visit grandma?", dry=True)]

    assert scores == sorted(scores, reverse=True)


CHINESE = {
    "2025-01-10": "我和小林在老城吃了火锅",
    "2025-03-02": "我搬到了苏州",
    "2026-04-27": "我买了一双登山鞋",
    "2026-05-03": "我去云南旅行了",
    "2026-05-20": "我去看望了奶奶，一起包饺子",
    "2026-06-01": "我买了一个新水壶",
    "2026-06-09": "我去看望了奶奶，陪她散步",
    "2026-06-11": "我和小林在湖边吃了烤鱼",
}
IN_CHINESE = {
    "我上次去看望奶奶是什么时候？": "我去看望了奶奶，陪她散步",
    "我第一次去看望奶奶是什么时候？": "我去看望了奶奶，一起包饺子",
    "去云南旅行前一周我买了什么？": "我买了一双登山鞋",
    "去云南旅行之后我买了什么？": "我买了一个新水壶",
    "搬到苏州之后我和小林吃了什么？": "我和小林在湖边吃了烤鱼",
}


@every(("question", "answer"), IN_CHINESE.items())
def test_the_same_in_chinese(question: str, answer: str) -> None:
    with Engram.open(":memory:", clock=FakeClock(NOW), config={"timezone": "UTC"}) as memory:
        for day, content in CHINESE.items():
            memory.remember(content, event_time=f"{day}T09:00:00+00:00")
        found = memory.recall(question, dry=True)

    assert [hit.memory.content for hit in found][:1] == [answer], (found.plan.spans, found.plan.notes)


@every("question", ["anything about quantum physics now?", "Where do I live now?"])
def test_now_opens_no_window(diary: Engram, question: str) -> None:
    assert diary.recall(question, dry=True).plan.spans == ()


def test_an_event_that_is_only_told_of_before_the_question_is_no_anchor(diary: Engram) -> None:
    found = diary.recall("I slept badly after my trip to Lisbon. Where do I work?", dry=True)

    assert not any("Lisbon" in note for note in found.plan.notes)


def test_an_event_that_nobody_told_of_leaves_the_question_as_it_is(diary: Engram) -> None:
    found = diary.recall("What did I buy before the moon landing rehearsal?", dry=True)

    assert found.plan.spans == ()
    assert any("no memory tells when" in note for note in found.plan.notes)
    assert found.question.text == "What did I buy before the moon landing rehearsal?"
