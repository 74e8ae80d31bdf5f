"""Commitments where people make them: what is to be done is found with its day, and closed when done."""

from __future__ import annotations

from datetime import UTC, datetime

from engram import Engram
from engram.testing import FakeClock
from tests.tables import every

MONDAY = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)

# Who says it, what, and how the day begins by which it is due; None where nobody names one.
UNDERTAKEN = [
    ("user", "Remind me to water the plants on Thursday.", "2026-03-06"),
    ("user", "can you remind me to call the dentist tomorrow morning?", "2026-03-03"),
    ("user", "I'll send it Friday.", "2026-03-07"),
    ("user", "I'll get back to Priya with the numbers by end of week.", "2026-03-0"),
    ("user", "Don't forget we need to renew the car insurance before the 15th.", "2026-03-1"),
    ("user", "I owe Tom 40 euros for the concert tickets.", None),
    ("user", "I promised my daughter we'd go to the zoo this Saturday.", "2026-03-08"),
    ("user", "need to pick up the dry cleaning tmrw", "2026-03-0"),
    ("user", "note to self: cancel the gym membership", None),
    ("user", "I still have to file my expense report.", None),
    ("user", "I told Lena I'd review her thesis draft by the 20th.", "2026-03-2"),
    ("user", "gotta return that library book", None),
    ("user", "Please remember that I have to take the cat to the vet on Wednesday at 3pm.", "2026-03-04"),
    ("user", "We agreed that I'd handle the catering.", None),
    ("user", "My rent is due on the 5th.", "2026-03-0"),
    ("user", "Let me get you that contract next week.", "2026-03"),
    ("user", "The tax return has to be in by 31 May.", "2026-06-01|2026-05-31"),
    ("user", "I said I'd bring dessert to Anna's party.", None),
    ("user", "i should really book those flights before prices go up", None),
    ("user", "ping me about the invoice on monday", "2026-03-"),
    ("assistant", "I'll send you a first version by Wednesday.", "2026-03-05"),
    ("assistant", "I will refactor auth.py tomorrow and open a pull request.", "2026-03-0"),
    ("assistant", "Sure, I'll remind you on Friday to call the bank.", "2026-03-07"),
    ("assistant", "I'll keep an eye on the build and let you know when it's green.", None),
    ("user", "提醒我周四给植物浇水。", "2026-03-06"),
    ("user", "别忘了明天下午三点的会议。", "2026-03-03"),
    ("user", "我答应妈妈这周末回家吃饭。", "2026-03-0"),
    ("user", "我还欠小王两百块钱。", None),
    ("user", "我周五之前把报告发给你。", "2026-03-0"),
    ("user", "记得帮我续签护照。", None),
    ("assistant", "我明天把初稿发给您。", "2026-03-0"),
    ("user", "房租5号要交。", "2026-03-0"),
    ("user", "Could you nudge me about the visa application in two weeks?", "2026-03-1"),
    ("user", "Just so you know I'm picking my mum up from the airport on Sunday at noon.", "2026-03-08"),
    ("user", "I told my boss I'd have the slides done by tomorrow evening.", "2026-03-0"),
    ("user", "Oh, and I need to get my winter tyres changed.", None),
    ("user", "Marek and I agreed to split the bill, so I owe him 25 quid.", None),
    ("user", "remember to buy oat milk", None),
    ("user", "My passport expires in June so I have to renew it soon.", "2026-07-01"),
    ("user", "I've got to hand in my thesis on the 30th of April.", "2026-0"),
    ("user", "We're meeting the landlord on Wednesday.", "2026-03-0"),
    ("user", "Tomorrow I'll call the insurance company.", "2026-03-0"),
    ("user", "i'll drop the keys off at yours tonight", "2026-03-0"),
    ("user", "Put 'renew domain' on my todo list please.", None),
    ("user", "I volunteered to organise the summer party.", None),
    ("user", "The library books are due back next Tuesday.", "2026-03-04"),
    ("user", "I swore to my wife that I'd fix the tap this weekend.", "2026-03-0"),
    ("user", "Make sure I don't miss the webinar on Thursday at 5pm.", "2026-03-0"),
    ("user", "I have a job interview next Monday.", "2026-03-"),
    ("user", "Let's not forget to invite Carla.", None),
    ("user", "I'm supposed to send the deposit before Friday.", "2026-03-0"),
    ("user", "One more thing: I must reply to the school about the trip.", None),
    ("assistant", "I'll check back with you tomorrow about the results.", "2026-03-0"),
    ("assistant", "I'll follow up once the deployment has finished.", None),
    ("assistant", "I will send the summary to you on Monday.", "2026-03-"),
    ("user", "周三之前我要把合同寄出去。", "2026-03-0"),
    ("user", "我跟老板说了下周一交方案。", "2026-03-"),
    ("user", "到时候提醒我带身份证。", None),
    ("user", "我得给房东打个电话。", None),
    ("user", "下个月15号要续车险。", "2026-04"),
    ("user", "我保证这周末把书还给你。", "2026-03-0"),
    ("assistant", "等构建完成后我会通知您。", None),
]
NOT_UNDERTAKEN = [
    ("user", "I have to say, that was a great movie."),
    ("user", "She'll be fine."),
    ("user", "You must be joking."),
    ("user", "I'll never understand opera."),
    ("user", "I'd love to visit Japan someday."),
    ("user", "It will rain on Friday."),
    ("user", "I went to the dentist on Thursday."),
    ("user", "If I win I'll buy you a beer."),
    ("user", "Do I need to restart the server?"),
    ("user", "You don't need to do that."),
    ("assistant", "You should drink more water."),
    ("assistant", "You'll need to install Python 3.11 first."),
    ("user", "I always forget to water the plants."),
    ("user", "The meeting was moved to Friday."),
    ("user", "我必须说，这部电影很好看。"),
    ("user", "明天会下雨。"),
    ("user", "I have to go now, bye!"),
    ("user", "Remind me what the capital of Peru is?"),
    ("user", "I'll have the soup."),
    ("user", "Translate: I'll send it Friday."),
    ("user", "I'll be 40 in June."),
    ("user", "She said she'd call me."),
    ("user", "We'll see."),
    ("user", "I will always love jazz."),
    ("user", "I need a vacation."),
    ("user", "You owe me an explanation, lol."),
    ("user", "I should have gone to bed earlier."),
    ("assistant", "I'll write the function below."),
    ("assistant", "Let me know if you need anything else."),
    ("assistant", "I'll explain step by step."),
    ("user", "I have to wear glasses for driving."),
    ("user", "The concert was on Friday."),
    ("user", "My flight got cancelled."),
    ("user", "What do I have to bring on Friday?"),
    ("user", "我明天三十岁。"),
    ("user", "我觉得会成功。"),
    ("user", "The package must be imported before use."),
    ("user", "Summarize: We need to renew the contract by May."),
    ("user", "I forgot to call him."),
    ("user", "He has to be kidding."),
]
# What was undertaken, what was said five days later, and whether that closes it.
LATER = [
    ("I'll send the slides to Priya by Friday.", "I sent the slides to Priya.", True),
    ("Remind me to water the plants on Thursday.", "I watered the plants.", True),
    ("I need to pick up the dry cleaning tomorrow.", "Picked up the dry cleaning this morning.", True),
    ("I owe Tom 40 euros for the tickets.", "I paid Tom the 40 euros back.", True),
    ("note to self: cancel the gym membership", "gym membership is cancelled, finally", True),
    ("I have to file my expense report.", "The expense report is done.", True),
    (
        "I promised my daughter we'd go to the zoo this Saturday.",
        "We went to the zoo on Saturday with my daughter.",
        True,
    ),
    (
        "Don't forget we need to renew the car insurance before the 15th.",
        "We renewed the car insurance.",
        True,
    ),
    ("提醒我周四给植物浇水。", "我给植物浇水了。", True),
    ("I have to call the dentist.", "I called the plumber.", False),
    ("I'll send the slides to Priya by Friday.", "I looked at the slides for Priya.", False),
    ("I need to pick up the dry cleaning tomorrow.", "I forgot the dry cleaning again.", False),
    ("I must book the flights.", "I haven't booked the flights yet.", False),
    ("I need to renew my passport.", "My passport is blue.", False),
]


def heard(who: str, said: str) -> Engram:
    memory = Engram.open(":memory:", clock=FakeClock(MONDAY))
    memory.observe(messages=[{"role": who, "content": said}], session="s")
    memory.flush()
    return memory


@every(("who", "said", "due"), UNDERTAKEN)
def test_what_is_to_be_done_is_found_with_its_day_and_without_one_where_none_is_said(
    who: str, said: str, due: str | None
) -> None:
    with heard(who, said) as memory:
        (found,) = memory.commitments.list()
    told = found.due.isoformat() if found.due else None
    assert told is None if due is None else any((told or "").startswith(one) for one in due.split("|"))


@every(("who", "said"), NOT_UNDERTAKEN)
def test_what_only_sounds_like_a_promise_opens_nothing(who: str, said: str) -> None:
    with heard(who, said) as memory:
        assert memory.commitments.list() == []


@every(("promise", "later", "closes"), LATER)
def test_a_promise_is_closed_by_saying_that_it_was_done(promise: str, later: str, *, closes: bool) -> None:
    clock = FakeClock(MONDAY)
    with Engram.open(":memory:", clock=clock) as memory:
        memory.observe(promise, session="a")
        memory.flush()
        clock.advance(days=5)
        memory.observe(later, session="b")
        memory.flush()
        assert len(memory.commitments.list()) == 1
        memory.consolidate(stages=["review"])

        assert len(memory.commitments.list()) == (0 if closes else 1)


def test_a_promise_stands_apart_from_what_was_told_in_the_same_breath() -> None:
    with heard("user", "I'm allergic to peanuts. I'll send the invoice to Mara by Friday.") as memory:
        (found,) = memory.commitments.list()
        assert found.text == "I'll send the invoice to Mara by Friday."
        (kept,) = memory.list()
        assert kept.category != "commitment", "what closes one day takes nothing else along"
        memory.commitments.close(found.id)
        assert memory.commitments.list() == []
        assert [one.text for one in memory.commitments.list("done")] == [found.text]
