"""What a question is after."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.model.recall import Intent
from engram.recall import intents
from engram.recall.intents import guess
from tests.tables import every

LOOKUP = (
    "What is the Wi-Fi password?",
    "What's my sister's phone number?",
    "Who fixed the boiler?",
    "Where are the spare keys?",
    "Where did I park the car?",
    "Which hotel did we book?",
    "How many cups of flour does it need?",
    "How much did the sofa cost?",
    "What colour is the front door?",
    "What port does the staging server use?",
    "Whose umbrella is that?",
    "Remind me of the name of the plumber",
    "router password",
    "wifi",
    "我妹妹的电话号码是多少？",
    "谁修了锅炉？",
    "备用钥匙在哪里？",
    "我们订了哪家酒店？",
    "沙发花了多少钱？",
    "我的医生叫什么名字？",
    "经理的邮箱是什么？",
)
CAUSAL = (
    "Why did the deployment fail?",
    "Why does the cat avoid the kitchen?",
    "How come nobody answered the door?",
    "What caused the outage on Friday?",
    "What made you change your mind?",
    "What was the reason for the delay?",
    "What inspired Nora to paint?",
    "What led to the decision to move?",
    "For what reason did he leave the band?",
    "Who convinced you to sell the house?",
    "Explain the cause of the leak",
    "为什么部署失败了？",
    "为何他没来开会？",
    "是什么原因导致漏水？",
    "你因为什么辞职？",
    "什么促使她搬家？",
)
COMPARATIVE = (
    "How does our React setup differ from the Vue one?",
    "Compare the two insurance offers",
    "What is the difference between the blue and the red plan?",
    "Is the train cheaper than the bus?",
    "Postgres vs SQLite for the notes app",
    "What do Ada and Grace have in common?",
    "Does Tom prefer tea or coffee?",
    "Which one is older, the oak or the elm?",
    "What are the pros and cons of the new contract?",
    "How much more did the second quote cost?",
    "Which is better for the garden, clay or sand?",
    "两个方案有什么区别？",
    "火车和飞机哪个更便宜？",
    "比较一下这两份合同",
    "小李和小王谁更高？",
    "他们俩有什么共同点？",
)
TEMPORAL = (
    "When did I last see the dentist?",
    "When is Mia's birthday?",
    "What time does the train leave?",
    "What date was the contract signed?",
    "Which year did we buy the house?",
    "How long ago did I plant the tree?",
    "How many days passed between the two visits?",
    "How often do I water the ferns?",
    "How has my opinion of the project changed?",
    "How long have I been learning Polish?",
    "Since when does Paul live in Oslo?",
    "Which happened first, the wedding or the move?",
    "What was the first time I went skiing?",
    "How old is the boiler?",
    "我什么时候看的牙医？",
    "火车几点开？",
    "合同是哪天签的？",
    "我学波兰语多久了？",
    "米娅的生日是几月几号？",
    "会议持续了多长时间？",
    "这件事是哪一年发生的？",
)
PROCEDURAL = (
    "How do I reset the router?",
    "How to bake sourdough",
    "What are the steps to release a new version?",
    "Walk me through the backup procedure",
    "How can I restore an archived memory?",
    "How should we deploy the service?",
    "What is the best way to clean the filter?",
    "Show me how to sharpen a knife",
    "What should I do when the alarm goes off?",
    "instructions for the coffee machine",
    "怎么重置路由器？",
    "如何做酸面包？",
    "发布新版本的步骤是什么？",
    "我该怎么备份数据？",
    "咖啡机怎么用？",
)
EXPLORATORY = (
    "Tell me about the garden project",
    "What do I know about beekeeping?",
    "Give me an overview of the migration",
    "Summarize our talks on the budget",
    "Everything about the new office",
    "Describe the holiday house",
    "What did we say about hiring?",
    "Any ideas for dinner?",
    "Can you recommend a book?",
    "What's going on with the merger?",
    "讲讲花园项目",
    "总结一下预算的讨论",
    "关于新办公室的所有信息",
    "有什么好的建议？",
    "介绍一下度假屋",
)
TABLE = [
    (question, intent)
    for intent, questions in {
        Intent.LOOKUP: LOOKUP, Intent.CAUSAL: CAUSAL, Intent.COMPARATIVE: COMPARATIVE,
        Intent.TEMPORAL: TEMPORAL, Intent.PROCEDURAL: PROCEDURAL, Intent.EXPLORATORY: EXPLORATORY,
    }.items()
    for question in questions
]  # fmt: skip


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(TABLE) >= 100


@every(("question", "intent"), TABLE)
def test_a_question_is_after_what_a_person_would_say(question: str, intent: Intent) -> None:
    assert guess(question).intent is intent


@every("question", ["Anna", "Who is Anna?", "Tell me about Anna", "安娜是谁"])
def test_a_question_about_one_known_name_is_after_it(question: str) -> None:
    assert guess(question, named=1).clear is Intent.ENTITY
    assert guess(question, named=0).clear is not Intent.ENTITY


def test_a_name_among_other_things_is_not_what_a_question_is_after() -> None:
    assert guess("Where did Anna buy the red bicycle?", named=1, others=3).intent is Intent.LOOKUP


def test_a_time_in_a_question_makes_it_temporal_unless_it_asks_why() -> None:
    assert guess("What did I do last week?", timed=True).clear is Intent.TEMPORAL
    assert guess("Why did I stay at home last week?", timed=True).clear is Intent.CAUSAL


@every("question", ["", "?", "blue green red yellow house", "42", "🙂", "Does it rain?"])
def test_where_nothing_tells_no_intent_is_clear(question: str) -> None:
    assert guess(question).clear is None


@every(
    ("question", "sentence"),
    [
        ("I slept badly yesterday. Where does Anna live?", "Where does Anna live?"),
        ("昨天我没睡好。安娜住在哪里？", "安娜住在哪里？"),
        ("Where does Anna live? I forgot it again.", "Where does Anna live?"),
        ("The blue house. The red one.", "The blue house. The red one."),
    ],
)
def test_the_sentence_that_asks_is_found_among_those_that_tell(question: str, sentence: str) -> None:
    assert intents.asking(question) == sentence


def test_every_intent_has_a_row_with_a_reason() -> None:
    rows = intents.ROWS

    assert set(rows) == set(Intent)
    assert all(row.reason for row in rows.values())
    assert all(0 < value <= 2 for row in rows.values() for value in (row.graph, row.candidates))


@given(st.text(max_size=300))
def test_any_text_gets_a_guess_between_0_and_1_and_always_the_same(question: str) -> None:
    found = guess(question)

    assert 0.0 <= found.confidence <= 1.0
    assert (found.intent is None) == (found.confidence == 0.0)
    assert guess(question) == found
