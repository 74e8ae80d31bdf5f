"""People ask in other words than they told: what lets a memory in, and which of two statements leads."""

from __future__ import annotations

import pytest

from engram import Engram
from engram.model.recall import Recall
from engram.testing import FakeClock
from tests.tables import every

FILLER = (
    "The library on Harrow Lane closes early in August.",
    "Percival repairs clocks for half the county.",
    "The canal was drained to mend the lock gates.",
    "Rosalind wrote a cookbook about lentils.",
    "A falcon has nested on the gasworks chimney.",
)


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]


@pytest.fixture
def life(memory: Engram) -> Engram:
    memory.remember_many([{"content": one} for one in FILLER])
    return memory


@every(
    ("told", "asked"),
    [
        ("My husband Erik cooks on Wednesdays.", "Who is my partner?"),
        ("I'm allergic to nuts.", "Do I have any allergies?"),
        ("We pick up the keys and move on 10 May.", "When is the relocation?"),
        ("I drive a 2014 Honda.", "What car have I got?"),
        ("我对花生过敏", "我有没有什么不能吃的"),
    ],
)
def test_kindred_words_find_what_was_told_in_others(life: Engram, told: str, asked: str) -> None:
    life.remember(told)
    assert contents(life.recall(asked, dry=True))[0] == told


def test_a_kind_is_asked_for_and_a_thing_of_it_was_told(life: Engram) -> None:
    told_and_asked = {
        "No grapefruit while I take these tablets.": "Which fruit can't I have?",
        "He reversed the Skoda into a hedge.": "What car does he have?",
        "She has been learning the oboe since Easter.": "Which instrument does she play?",
        "Erythromycin made him dizzy for a week.": "Which antibiotic did he not tolerate?",
        "我最近在学古筝": "我在学什么乐器？",
    }
    life.remember_many([{"content": told} for told in told_and_asked])
    for told, asked in told_and_asked.items():
        assert contents(life.recall(asked, dry=True))[0] == told, asked
    (first, *_) = life.recall("Which fruit can't I have?", dry=True).hits
    assert any(
        one.name == "names a thing of the kind asked for" and one.note == "fruit" for one in first.evidence
    )


def test_a_word_that_is_said_is_not_counted_again_by_what_hints_at_it(life: Engram) -> None:
    told = ("My boiler man is Ken from Ashford", "Ken, the boiler, twenty years old and loud")
    life.remember_many([{"content": one} for one in (*told, "The pump and the valve of the boiler leak")])
    first = contents(life.recall("What is wrong with the boiler?", dry=True))[0]
    assert first == "The pump and the valve of the boiler leak"


@every(
    ("told", "asked"),
    [
        ("Safiya does the counter and the till.", "Who serves the customers?"),
        ("Gwil hands in his notice on Friday.", "Who is going to resign?"),
        ("我们家豆包是英短，七岁了", "我的宠物是什么品种？"),
    ],
)
def test_what_only_hints_at_what_is_asked_for_helps_to_find_it(life: Engram, told: str, asked: str) -> None:
    life.remember(told)
    assert contents(life.recall(asked, dry=True, min_relevance=0.0))[0] == told


def test_what_is_said_of_somebody_just_spoken_of_is_found_by_who_that_is(life: Engram) -> None:
    for said in ("my neighbour wilma got a new greenhouse", "shes scared stiff of wasps"):
        life.observe(said, session="garden")
    life.flush("garden")
    assert "shes scared stiff of wasps" in contents(life.recall("What frightens wilma?", dry=True, limit=2))


def test_what_tells_the_part_of_a_life_that_is_asked_for_is_let_in(life: Engram) -> None:
    told_and_asked = {
        "I was raised in Leith, above a chip shop.": "Where did I spend my childhood?",
        "I had my appendix out and there's a pacemaker in my chest.": "Any surgery or metal in me?",
        "When I send you poems I want blunt feedback.": "How should you react to my fiction?",
    }
    life.remember_many([{"content": told} for told in told_and_asked])
    for told, asked in told_and_asked.items():
        assert told in contents(life.recall(asked, dry=True, limit=3)), asked


@every(
    "asked",
    [
        "What do you know about Bob?",
        "Remind me about Bob",
        "Do you remember Bob?",
        "Have I mentioned Bob?",
        "Any notes on Bob?",
        "Tell me about Bob",
        "Refresh my memory on Bob",
    ],
)
def test_words_that_only_ask_count_for_nothing(life: Engram, asked: str) -> None:
    life.remember("Bob ordered spare gaskets for the mill")
    assert contents(life.recall(asked, dry=True))[:1] == ["Bob ordered spare gaskets for the mill"]


def test_nothing_comes_when_nothing_speaks_for_it(life: Engram) -> None:
    assert not life.recall("How much is left on our mortgage?", dry=True)


def test_the_number_shown_orders_the_hits(life: Engram) -> None:
    for one in ("Anna drinks green tea", "Tea is grown in Assam", "The tea kettle is broken"):
        life.remember(one)
    shown = [hit.relevance for hit in life.recall("who drinks tea?", dry=True)]
    assert len(shown) > 1
    assert shown == sorted(shown, reverse=True)


def test_each_hit_says_what_let_it_in(life: Engram) -> None:
    life.remember("Bob ordered spare gaskets for the mill")
    for hit in life.recall("gaskets for the mill", dry=True, explain=True):
        assert [one.note for one in hit.evidence if one.name == "let in"]


def test_a_stricter_caller_gets_less(life: Engram) -> None:
    life.remember("Bob ordered spare gaskets for the mill")
    assert not life.recall("Bob?", min_relevance=0.99, dry=True)


@pytest.mark.parametrize("length", [1_200, 2_400, 6_000])
def test_a_long_contract_is_found_by_a_name_inside_it(life: Engram, length: int) -> None:
    for firm in ("Westhafen", "Nordwind", "Ostermann"):
        clauses = " ".join(
            f"Clause {n}: the carrier answers for loss in transit as agreed in schedule {n}."
            for n in range(length // 75)
        )
        half = len(clauses) // 2
        text = f"{clauses[:half]} The other party is {firm} Logistics of Bremen. {clauses[half:]}"
        life.remember(text, apart=True)
    for asked in ("Westhafen", "contract with Westhafen Logistics"):
        assert "Westhafen" in contents(life.recall(asked, dry=True))[0]


# ---------------------------------------------------------------- newer before older


def test_the_newer_of_two_statements_about_one_thing_leads(life: Engram, clock: FakeClock) -> None:
    life.remember("My doctor's surgery is at Park Road.", apart=True)
    clock.advance(days=7)
    life.remember("My doctor's surgery is at Mill Lane.", apart=True)

    asked = life.recall("Where is my doctor's surgery?", dry=True)

    assert contents(asked)[:2] == [
        "My doctor's surgery is at Mill Lane.",
        "My doctor's surgery is at Park Road.",
    ]


def test_a_later_word_on_one_part_of_a_life_does_not_stand_before_another_part(
    life: Engram, clock: FakeClock
) -> None:
    life.observe("I teach maths at a school in Leeds and I'm coeliac", session="a")
    life.flush("a")
    clock.advance(days=7)
    life.observe("I changed jobs, I'm at the Grammar now, still maths", session="b")
    life.flush("b")

    first = {
        asked: contents(life.recall(asked, dry=True))[0] for asked in ("what can't I eat", "where do I work")
    }

    assert "coeliac" in first["what can't I eat"]
    assert "Grammar" in first["where do I work"]


def test_people_ask_about_their_own_life(life: Engram, clock: FakeClock) -> None:
    told = (
        "Hi, I'm Ruth, 52, and I work as a bookkeeper in York",
        "I live in a cottage in Selby with my husband Aziz",
        "Aziz is a history teacher at the Grange",
        "he got us 3.9 percent fixed for five years",
        "mum moved in with us last week, she has the small room",
        "remind me to water the allotment on Sunday",
        "I need to send the VAT return before the end of the quarter",
        "we moved into the old mill in Tadcaster today, boxes everywhere",
    )
    for day, text in enumerate(told):
        life.observe(text, session=f"day {day}", time=clock.now())
        life.flush(f"day {day}")
        clock.advance(days=1)

    first = {
        "how old am I": ("52",),
        "what do I do for a living": ("bookkeeper",),
        "where do I live now?": ("Tadcaster",),
        "what does my husband do?": ("history teacher",),
        "what do I need to do this week?": ("allotment", "VAT"),
        "any reminders?": ("allotment", "VAT"),
        "what do you know about me?": ("Ruth", "Aziz"),
    }

    for asked, right in first.items():
        found = contents(life.recall(asked, dry=True))
        assert any(one in found[0] for one in right), (asked, found[:3])


def test_what_has_a_value_of_the_kind_asked_for_leads(life: Engram) -> None:
    life.remember("The violin lessons are with Mrs Okafor, who is strict.")
    life.remember("The violin lessons are 45 pounds each.")
    life.remember("The violin lessons moved to Thursdays.")

    leads = {
        "How much are the violin lessons?": "45 pounds",
        "What day are the violin lessons?": "Thursdays",
    }
    for asked, value in leads.items():
        assert value in contents(life.recall(asked, dry=True))[0], asked


def test_a_later_statement_that_takes_up_the_words_of_a_hit_comes_with_it(
    life: Engram, clock: FakeClock
) -> None:
    life.remember("I drive a Honda Fit with 160k miles on it.", apart=True)
    clock.advance(days=7)
    life.remember("The Fit finally died on Route 30. Bought a used Subaru Crosstrek.", apart=True)
    clock.advance(days=7)
    life.remember("Hortensia won a prize for her dahlias.", apart=True)

    assert "Subaru" in contents(life.recall("What do I drive?", dry=True))[0]


def test_a_question_about_the_past_is_answered_by_what_was(life: Engram, clock: FakeClock) -> None:
    life.remember("My doctor's surgery is at Park Road.", apart=True)
    clock.advance(days=7)
    life.remember("The surgery of my doctor moved: Mill Lane now.", apart=True)

    asked = life.recall("Where was my doctor's surgery originally?", dry=True)

    assert "Park Road" in contents(asked)[0]


def test_turns_of_a_talk_and_documents_keep_their_order(life: Engram, clock: FakeClock) -> None:
    for source, speaker in (("session", "Anna"), ("import", "")):
        first = f"The {source} surgery opens at eight on Park Road."
        life.remember(first, apart=True, source=source, speaker=speaker)
        clock.advance(days=7)
        life.remember(f"A {source} surgery may open later.", apart=True, source=source, speaker=speaker)
        assert (
            contents(life.recall(f"When does the {source} surgery on Park Road open?", dry=True))[0] == first
        )


# ---------------------------------------------------------------- what is tied to a hit


def test_a_cause_that_somebody_linked_comes_along_below_what_matched(life: Engram) -> None:
    outage = life.remember("The checkout page went down on Friday evening").memory
    cause = life.remember("A connection pool ran dry").memory
    life.relate(outage.id, cause.id, "caused_by")

    asked = life.recall("why did the checkout page go down?", dry=True, explain=True)

    assert contents(asked)[:2] == [outage.content, cause.content]
    assert any("caused_by" in one.note for one in asked[1].evidence)


def test_nothing_is_tied_to_what_was_not_let_in(life: Engram) -> None:
    outage = life.remember("The checkout page went down on Friday evening").memory
    cause = life.remember("A connection pool ran dry").memory
    life.relate(outage.id, cause.id, "caused_by")
    assert not life.recall("How much is left on our mortgage?", dry=True)


def test_a_name_finds_what_facts_about_it_were_told_from(life: Engram) -> None:
    fact = {"subject": "Ilse", "predicate": "travel_habit", "object": "overnight trains"}
    seat = life.remember("prefers an aisle seat on overnight trains", details={"facts": [fact]}).memory

    for question in ("Ilse", "what do you know about Ilse?"):
        assert contents(life.recall(question, dry=True))[:1] == [seat.content]


@every("question", ["Give me an overview", "What do you know about me?", "介绍一下我"])
def test_an_overview_tells_what_matters_most(life: Engram, question: str) -> None:
    life.remember("I'm allergic to nuts.", importance=0.9)
    life.remember("The tram was late.", importance=0.1)

    assert contents(life.recall(question, dry=True))[0] == "I'm allergic to nuts."


def test_a_slot_of_whoever_asks_answers_before_what_only_shares_words(life: Engram, clock: FakeClock) -> None:
    said = (
        "I'm Piotr, 41, live in Lund with my wife Ewa and our two boys",
        "I mend clocks for a living",
        "the older one, Olek, turned 12 last week",
        "Ewa works at the university library",
        "our dog Borys is a 9 year old dachshund",
        "we named the cat Mist",
    )
    for number, one in enumerate(said):
        life.observe(one, session=f"{number // 2}")
        clock.advance(days=1)
    life.flush()
    first = {
        "what's my name": said[0],
        "how old am I": said[0],
        "where do I live": said[0],
        "what do I do for work": said[1],
        "where does Ewa work": said[3],
    }
    assert {asked: contents(life.recall(asked, dry=True))[0] for asked in first} == first


def test_a_word_that_only_asks_finds_nothing(life: Engram) -> None:
    life.remember("The kettle broke, third time since January.")
    life.remember("standup moved to 9:45")
    assert contents(life.recall("what time is the standup", dry=True)) == ["standup moved to 9:45"]
    assert contents(life.recall("which time was it that the kettle broke", dry=True))


def test_news_of_the_dog_is_no_later_word_on_the_daughter(memory: Engram, clock: FakeClock) -> None:
    daughter = "my daughter Ines starts at Linden primary in September, she's 4"
    memory.remember(daughter)
    clock.advance(days=1)
    memory.observe("we finally adopted the dog, a 3 year old whippet called Miso", session="dog")
    memory.flush("dog")
    [first, *_] = memory.recall("which school will Ines go to", dry=True)
    assert first.memory.content == daughter
    assert first.score == 1


def test_what_stands_beside_words_only_said_does_not_lead_them(memory: Engram) -> None:
    for said in (
        "we're doing Porto in June, flights booked with TAP",
        "my brother thinks i should buy a tesla lol no way",
    ):
        memory.observe(said, session="talk")
    memory.flush("talk")
    [first, *_] = memory.recall("do i own a tesla", dry=True)
    assert "tesla" in first.memory.content
