from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.marks import differences, is_correction, is_negated, marks, takes_back
from tests.tables import every


@every(
    "text",
    [
        "I don't like tea",
        "I don’t like tea",
        "She has never been to Rome",
        "No sugar in my coffee",
        "We deploy without tests",
        "I no longer use vim",
        "He stopped smoking",
        "我不喝咖啡",
        "他没去过北京",
        "别忘了开会",
        "无糖",
        "我还未结婚",
        "戒烟了，已经戒了",
    ],
)
def test_denials_are_negated(text: str) -> None:
    assert is_negated(text)


@every(
    "text",
    [
        "I like tea",
        "Not only tea",
        "No problem, I will come",
        "No, it is blue",
        "No. 5 is mine",
        "Why not tea",
        "这个不错",
        "非常好",
        "她特别喜欢",
        "别人的书",
        "不仅如此",
        "差不多了",
        "我不得不走",
        "未来很好",
        "无论如何",
    ],
)
def test_words_that_only_look_like_denials_are_not(text: str) -> None:
    assert not is_negated(text)


@every(
    "text",
    [
        "Actually, my editor is Helix",
        "I no longer live in Berlin",
        "I don't use vim anymore",
        "We switched from MySQL to PostgreSQL",
        "I switched to tea",
        "Use tabs instead",
        "I use Helix now",
        "Now I live in Paris",
        "The deadline changed to Friday",
        "Correction: it is blue",
        "No, it's blue",
        "I used to drink coffee",
        "The meeting has been rescheduled",
        "我不再喝咖啡",
        "改用 Rust",
        "其实我住在上海",
        "现在改成周五",
        "不是周五，是周四",
        "我们从MySQL换成了PostgreSQL，从甲换到乙",
    ],
)
def test_corrections_are_heard(text: str) -> None:
    assert is_correction(text)


@every(
    "text",
    [
        "strike that, it's Wagamama he wants",
        "no, forget that: H14",
        "Sorry, typo: 4417",
        "misread the label, it's half a tablet",
        "oops, it's a Corsa",
        "erm my bad, O negative",
        "change of plans, he wants a dragon",
        "disregard, he's coming into Luton",
        "I got that wrong, Damian",
        "let me correct myself, it's A negative",
        "记错了,是螃蟹",
        "口误,姓黎",
        "哦不,在310",
    ],
)
def test_what_was_said_just_before_is_taken_back(text: str) -> None:
    assert takes_back(text)
    assert is_correction(text)


@every(
    "text",
    [
        "I'll never forget that",
        "cancel that subscription please",
        "I'll take it back to the shop tomorrow",
        "let me correct these essays tonight",
        "I found a typo in my thesis",
        "oops, nearly burnt the rice",
        "oops, 3 missed calls from the school",
        "change of plans at work: the audit starts on Monday",
        "never mind, I sorted the printer myself",
        "my boss mixed that up with the Leeds order",
        "Actually, it's blue",
        "oops",
        "老师又写错了我的名字",
        "算了,今天不做饭了",
    ],
)
def test_what_only_sounds_so_takes_nothing_back(text: str) -> None:
    assert not takes_back(text)


@every(
    "text",
    [
        "I drink tea",
        "Right now I am tired",
        "I like it now that it is cold",
        "Anna knows Bob",
        "The know-how is here",
        "我住在上海",
        "今天天气很好",
    ],
)
def test_plain_statements_are_no_corrections(text: str) -> None:
    assert not is_correction(text)


@every(
    ("text", "numbers"),
    [
        ("I paid 3,000 dollars", {"3000"}),
        ("two kids and 2 dogs", {"2"}),
        ("it was -5 degrees, then 12.5", {"-5", "12.5"}),
        ("我有两个孩子", {"2"}),
        ("二十五个人", {"25"}),
        ("version v2.1", {"2.1"}),
        ("no numbers", set()),
    ],
)
def test_numbers_are_read_as_digits(text: str, numbers: set[str]) -> None:
    assert marks(text).numbers == numbers


@every(
    ("one", "other", "expected"),
    [
        ("I like tea", "I really like tea", ()),
        ("Anna likes tea", "Bob likes tea", ("names",)),
        ("Anna likes tea", "Anna's tea, she likes it", ()),
        ("I like tea", "I don't like tea", ("negation",)),
        ("I have 2 cats", "I have three cats", ("numbers",)),
        ("We meet on Monday", "We meet on Friday", ("times",)),
        ("Edit auth.ts", "Edit user.ts", ("names",)),
        ("我用vim写代码", "我用emacs写代码", ("names",)),
        ("我喝咖啡", "我不喝咖啡", ("negation",)),
        ("周一开会", "周二开会", ("times",)),
        ("Usually I drink tea", "I drink tea", ()),
    ],
)
def test_what_differs_is_named(one: str, other: str, expected: tuple[str, ...]) -> None:
    assert differences(marks(one), marks(other)) == expected
    assert differences(marks(other), marks(one)) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_text_has_marks_that_agree_with_itself(text: str) -> None:
    assert differences(marks(text), marks(text)) == ()
