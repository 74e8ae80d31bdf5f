"""Promises in words: what is plainly promised, done or waited for is seen; nothing else is."""

from __future__ import annotations

from datetime import datetime

from engram.text import lexicon
from engram.text.signals import done, is_promise, keeps, promised, waiting_on
from tests.tables import every

NOW = datetime(2026, 3, 2)  # noqa: DTZ001 - words about days know no zone

KEPT = [
    ("I sent the report", "I'll send the report by Friday"),
    ("I've just sent the report to Anna.", "I will send the report to Anna"),
    ("We finished the slides yesterday", "We have to finish the slides by Monday"),
    ("I already paid the rent", "Remember to pay the rent"),
    ("I called the bank on Tuesday", "Call the bank"),
    ("Anna wrote the summary", "Anna will write the summary"),
    ("I renewed my passport", "I need to renew my passport before June"),
    ("I booked the flight to Oslo!", "I'm going to book the flight to Oslo tomorrow"),
]
NOT_KEPT = [
    ("I sent the report to Bob", "I'll send the report to Anna"),
    ("I sent the invoice", "I'll send the report"),
    ("I wrote the report", "I'll send the report"),
    ("I never sent the report", "I'll send the report"),
    ("I haven't sent the report", "I'll send the report"),
    ("I almost sent the report", "I'll send the report"),
    ("I tried to send the report", "I'll send the report"),
    ("I sent half of the report", "I'll send the report"),
    ("Did I send the report?", "I'll send the report"),
    ("I will send the report", "I'll send the report"),
    ("Bob sent the report", "I'll send the report"),
    ("I sent the report. Or so I thought.", "I'll send the report"),
    ("I sent", "I'll send the report"),
    ("The report is late", "I'll send the report"),
]


@every(("statement", "promise"), KEPT)
def test_a_promise_is_kept_by_saying_that_just_this_was_done(statement: str, promise: str) -> None:
    assert keeps(statement, promise, NOW)


@every(("statement", "promise"), NOT_KEPT)
def test_what_is_not_certain_keeps_no_promise(statement: str, promise: str) -> None:
    assert not keeps(statement, promise, NOW)


@every(
    ("text", "whom"),
    [
        ("Waiting for Anna to sign the contract", "Anna"),
        ("We are still waiting on the supplier's quote.", "the supplier's quote"),
        ("The release is blocked by legal, as ever", "legal"),
        ("Awaiting approval since Monday", "approval"),
        ("我在等张三的回复", "张三"),
        ("I'll call Anna", ""),
        ("The waiter was kind", ""),
    ],
)
def test_whom_a_text_waits_for(text: str, whom: str) -> None:
    assert waiting_on(text) == whom


def test_a_story_promises_nothing() -> None:
    assert promised("I'll send it. Then we will see. " * 20, NOW) is None
    assert done("I sent the report " + "and more " * 100, NOW) is None


@every("part", ["idle", "reminders", "owed", "deeds", "announced", "later"])
def test_each_part_finds_its_examples_and_no_others(part: str) -> None:
    found, not_found = lexicon.examples("promises", part)

    assert [line for line in found if not lexicon.found("promises", line, under=part)] == []
    assert [line for line in not_found if lexicon.found("promises", line, under=part)] == []


@every(
    ("text", "is_one"),
    [
        ("I'll send the report by Friday", True),
        ("User will send the quarterly report by Friday 6 March 2026.", True),
        ("We promised Anna a new bike", True),
        ("It was fun. I need to call the bank.", True),
        ("My dentist appointment is on Thursday at 3", True),
        ("Waiting for legal to sign", True),
        ("我会在周五前发报告", True),
        ("I'll send the report", True),
        ("I ran a race on Saturday", False),
        ("She will always remember the trip of 2022", False),
        ("His goal is to run a marathon", False),
        ("I'm excited to see where it leads", False),
        ("Do I need to call the bank?", False),
        ("I was flying to Oslo in 2019", False),
    ],
)
def test_wishes_and_stories_are_no_promises(text: str, is_one: bool) -> None:
    assert is_promise(text, NOW) is is_one
