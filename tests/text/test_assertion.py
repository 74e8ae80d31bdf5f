"""What people mean by what they type: asserted, or supposed, quoted, asked, played, handed over."""

from __future__ import annotations

from engram.text.assertion import CHANGE_MAY_BE, Stance, change_told, frame_of, judged
from tests.tables import every

BELIEVED = [
    "I'm allergic to penicillin, by the way.",
    "oh and I cant eat eggs, they make me really ill",
    "update: the Corsa died.",
    "I'm diabetic.",
    "im allergic to shellfish btw",
    "We moved the standup to ten.",
    "our landlord is called Mr Osei",
    "had my appendix out in 2014",
    "Dentist on Thursday at three.",
    "I can't stand coriander.",
    "sorry, the 14th, not the 4th",
    "我对花生过敏",
    "我老婆下个月去深圳上班",
    "Soy alérgica a los frutos secos.",
    "Ich wohne seit März in Leipzig.",
    "the car died",
    "gran's home now, thank god",
    "la lavadora se ha roto",
    "Tengo que renovar el carné antes de mayo, ¿qué papeles necesito?",
    "You are a nutritionist. I'm 42, vegetarian and weigh 80 kilos.",
    "Act as a travel agent. We fly to Peru in June.",
]
NOT_BELIEVED = [
    ("Translate to French: I have a cat and I live in London.", Stance.MATERIAL),
    ("Proofread: 'As a proud baker I eat bread with every meal.'", Stance.MATERIAL),
    ("Imagine I had ten times the budget.", Stance.SUPPOSED),
    ("Who wrote Middlemarch?", Stance.QUESTION),
    ("which planet has the most moons", Stance.QUESTION),
    ("'I am leaving you and I am taking the dog.'", Stance.QUOTED),
    ("Pretend you're a pirate and I'm your first mate, my name is Anne.", Stance.MATERIAL),
    ("把这句翻成英文:我住在上海,在银行上班。", Stance.MATERIAL),
    ("假如我有一个亿,先买什么", Stance.SUPPOSED),
    ("Captain Moss lives on a barge and fears geese. Write the next chapter.", Stance.QUESTION),
    ("hm, that's not what I asked for", Stance.QUESTION),
    ("oh and make it shorter", Stance.REACTION),
    ("You are a pirate. Answer as a pirate. I have a wooden leg.", Stance.MATERIAL),
    ("You're the interviewer and I'm the candidate. I've led forty people.", Stance.MATERIAL),
    ("You be Sherlock and I'll be Watson. I have married Mary.", Stance.MATERIAL),
    ("Let's play D&D. I have a sister called Elra who was taken by orcs.", Stance.MATERIAL),
    ("咱们演一场戏，你演皇帝，我演将军。我家在洛阳。", Stance.MATERIAL),
    ("Stell dir vor, du bist mein Chef und ich komme zu spät.", Stance.MATERIAL),
    ("Ich möchte, dass du wie ein Pirat antwortest. Ich habe ein Holzbein.", Stance.MATERIAL),
    ("Wenn ich meine Steuer zu spät abgebe, was passiert dann?", Stance.SUPPOSED),
    ("你是一只猫，我问你什么你都喵喵叫", Stance.MATERIAL),
    ("Write a story. Start with: I was forty when I came to the rock.", Stance.MATERIAL),
    ("Traduce al inglés: vivo con mis abuelos en Zaragoza", Stance.MATERIAL),
    ("Is this correct English? I am living here since five years.", Stance.MATERIAL),
    ("For the sake of argument, say I'm a landlord with six flats.", Stance.SUPPOSED),
    ("Si j'étais riche, j'achèterais un château.", Stance.SUPPOSED),
    ("the test still fails", Stance.REACTION),
    ("哈哈哈笑死我了", Stance.REACTION),
]


def test_what_is_asserted_is_believed() -> None:
    wrong = [text for text in BELIEVED if not all(one.believed for one in judged(text))]
    assert wrong == []


def test_what_is_not_asserted_is_not_believed() -> None:
    found = {text: [(one.stance, one.believed) for one in judged(text)] for text, _ in NOT_BELIEVED}
    assert not any(believed for told in found.values() for _, believed in told), found
    assert [found[text][-1][0] for text, _ in NOT_BELIEVED] == [stance for _, stance in NOT_BELIEVED]


def test_a_sentence_before_the_frame_is_still_asserted() -> None:
    first, *rest = judged("I'm a nurse in Leeds. Translate into Polish: I take warfarin.")

    assert (first.text, first.believed) == ("I'm a nurse in Leeds.", True)
    assert not any(one.believed for one in rest)


def test_what_is_told_of_others_before_a_text_is_asserted() -> None:
    head, text = judged("Translate this for my cleaner, her name is Beata: no bleach, please.")

    assert (head.believed, text.stance) == (True, Stance.MATERIAL)


@every(
    "praise",
    ["you're a star, I passed!", "You are the best. I'm the new head chef.", "you're right, I'm the eldest"],
)
def test_praise_begins_no_play(praise: str) -> None:
    assert frame_of(praise) == (len(praise), len(praise))


def test_the_words_come_back_as_they_were_typed() -> None:
    message = "ok so  im vegan.  my dog's called 'Setting Plaster' lol"
    assert all(one.text in message for one in judged(message))


@every("message", ["", " ", "\n", "'", "“", ":", "Translate:", "```\ncode\n```", "a" * 30_000])
def test_any_message_is_judged_without_complaint(message: str) -> None:
    judged(message)
    start, begins = frame_of(message)
    assert 0 <= start <= begins <= len(message)


@every(
    "told",
    [
        "traded the flat for a houseboat",
        "we're down to three on the team",
        "my landlady put me on a rolling contract since June",
        "turns out she's a vet, not a nurse",
        "we no longer ship to Norway",
        "房租降到两千八了",
        "那家健身房关门了,换了一家",
    ],
)
def test_a_change_is_told(told: str) -> None:
    assert change_told(told) >= CHANGE_MAY_BE


@every(
    "told",
    [
        "my flat has two rooms",
        "the team meets at ten",
        "我住在二楼",
        "my sister is a vet",
        "we ship to Norway",
    ],
)
def test_a_state_is_no_change(told: str) -> None:
    assert change_told(told) < CHANGE_MAY_BE


def test_what_is_told_before_a_question_is_asserted() -> None:
    told = (
        "Actually I moved to Rome last month, can you find me a dentist?",
        "I'm allergic to shellfish, what should I order at a thai place",
        "我下周去东京出差，能帮我找个酒店吗？",
    )
    asked = ("I was wondering, could you explain recursion?", "I have a question, what is a monad?")
    assert [text for text in told if not any(one.believed for one in judged(text))] == []
    assert [text for text in asked if any(one.believed for one in judged(text))] == []


def test_what_is_told_after_a_request_is_asserted() -> None:
    told = (
        "can you give me a quick pasta thing, I can't do dairy btw", "recommend me a laptop, budget is 900",
        "help me plan dinner for saturday, Priya is coeliac", "how do I fix a tap, I rent so nothing drastic",
        "write me a cover letter, I've been a nurse for 12 years",
        "find a gift for my son, he's into chess", "can you plan my week, got exams in June",
        "送什么给岳父好，他喜欢钓鱼，预算五百",
    )  # fmt: skip
    asked = (
        "tell me a joke, I need a laugh", "what's the weather, I want to go out", "which one, I can't decide",
        "help me with this regex, I can't get it to match", "write a story, I'm a dragon in it",
        "Sure, and I smoke three packs a day", "写一段台词,男嘉宾叫阿豪,三十岁",
    )  # fmt: skip
    assert [text for text in told if not any(one.believed for one in judged(text))] == []
    assert [text for text in asked if any(one.believed for one in judged(text))] == []


def test_an_order_that_stays_is_meant_however_it_is_asked_for() -> None:
    stays = (
        "could you answer in German from now on?",
        "give me sources when you claim something",
        "can you stop saying 'great question'",
        "less waffle please",
    )
    passes = (
        "can you stop the timer",
        "give me the code",
        "can you not see the picture?",
        "write simple code",
    )

    assert [text for text in stays if not all(one.believed for one in judged(text))] == []
    assert [text for text in passes if any(one.believed for one in judged(text))] == []


def test_what_is_about_the_talk_itself_is_not_believed() -> None:
    of_the_talk = (
        "I don't get it", "I'm just curious how tides work", "ok let me try that", "I wonder why cats purr",
        "no I meant the other function", "I have a question about pandas", "I want a haiku about rain",
        "我没看懂第三步",
    )  # fmt: skip
    of_oneself = (
        "I'm curious by nature, my teachers hated it",
        "I wonder at my neighbours, they moved to Leeds",
    )
    assert not [one for one in of_the_talk if any(part.believed for part in judged(one))]
    assert all(any(part.believed for part in judged(one)) for one in of_oneself)


def test_a_question_about_ones_own_things_tells_only_what_it_says_of_them() -> None:
    asked = (
        "what is my ip", "is my english good", "why won't my printer connect", "when should I prune my roses",
        "rate my haiku", "still broken", "it says permission denied",
        "我的代码哪里错了",
    )  # fmt: skip
    told = (
        "what treats can my diabetic dog have?", "how do I tell my manager Joanne that I'm pregnant?",
        "which trainers would suit my flat feet?", "I can't hear in my left ear",
        "我怀孕五个月了能坐飞机吗？",
    )  # fmt: skip
    assert not [one for one in asked if any(part.believed for part in judged(one))]
    assert all(any(part.believed for part in judged(one)) for one in told)
