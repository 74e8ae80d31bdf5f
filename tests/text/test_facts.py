from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import Fact
from engram.text.facts import ended, facts, stated
from tests.tables import every


@every(
    ("text", "subject", "predicate", "value", "functional"),
    [
        ("My editor is vim", "user", "editor", "vim", True),
        ("Actually, my editor is Helix now", "user", "editor", "helix", True),
        ("I use Helix now", "user", "editor", "helix", True),
        ("I use vim", "user", "editor", "vim", False),
        ("I use ripgrep for searching", "user", "use", "ripgrep", False),
        ("I use Helix as my editor", "user", "editor", "helix", True),
        ("I live in Berlin", "user", "live in", "berlin", True),
        ("My phone is a Pixel 9", "user", "phone", "pixel 9", True),
        ("My phone is an iPhone 16", "user", "phone", "iphone 16", True),
        ("The bank I use is Wise", "user", "bank", "wise", True),
        ("The dentist Anna goes to is Dr Haas", "anna", "dentist", "dr haas", True),
        ("I rent from Mr Lund, my landlord.", "user", "landlord", "mr lund", True),
        ("I switched my editor to Zed", "user", "editor", "zed", True),
        ("I changed my bank from Wise to Monzo", "user", "bank", "monzo", True),
        ("We run MySQL as our main database", "user", "database", "mysql", True),
        ("My editor of choice is vim", "user", "editor", "vim", True),
        ("I prefer vim as my editor", "user", "editor", "vim", True),
        ("Saturday is my gym day", "user", "gym day", "saturday", True),
        ("I drive a Volvo V60", "user", "car", "volvo v60", False),
        ("The Volvo V60 is my car", "user", "car", "volvo v60", True),
        ("My sister moved to Oslo", "user's sister", "live in", "oslo", True),
        ("I moved to Paris last year", "user", "live in", "paris", True),
        ("Anna works at Acme", "anna", "work at", "acme", True),
        ("I work as a nurse", "user", "job", "nurse", True),
        ("Anna's birthday is May 3", "anna", "birthday", "may 3", True),
        ("My sister's name is Eva", "user's sister", "name", "eva", True),
        ("the deadline is Friday", "deadline", "is", "friday", True),
        ("The deadline for Apollo is June 3", "apollo", "deadline", "june 3", True),
        ("The default branch is main", "default branch", "is", "main", True),
        ("The meeting moved to Thursday", "meeting", "day", "thursday", True),
        ("The office is located in Munich", "office", "located in", "munich", True),
        ("we switched from MySQL to PostgreSQL", "user", "database", "postgresql", True),
        ("I moved from vim to Helix", "user", "editor", "helix", True),
        ("We replaced Redis with Valkey", "user", "database", "valkey", True),
        ("I prefer tea over coffee", "user", "prefer", "tea", False),
        ("call me Sam", "user", "name", "sam", True),
        ("Please remember that my name is Sam Smith.", "user", "name", "sam smith", True),
        ("My favourite color is blue", "user", "favorite color", "blue", True),
        ("My dog is Rex", "user", "dog", "rex", False),
        ("My brother is a doctor", "user's brother", "is a", "doctor", False),
        ("Anna is my sister", "user", "sister", "anna", False),
        ("Bob is our manager", "user", "manager", "bob", True),
        ("Bob is married to Alice", "bob", "married to", "alice", True),
        ("I am 32 years old", "user", "age", "32", True),
        ("I'm a software engineer", "user", "is a", "software engineer", False),
        ("Anna likes red apples", "anna", "like", "red apples", False),
        ("I have two cats", "user", "have", "two cats", False),
        ("I bought a bike", "user", "bought", "bike", False),
        ("No, my editor is Emacs.", "user", "editor", "emacs", True),
        ("My editor is Helix, not vim", "user", "editor", "helix", True),
        ("我的编辑器是vim", "user", "editor", "vim", True),
        ("其实，我的编辑器现在是Helix", "user", "editor", "helix", True),
        ("我住在上海", "user", "live in", "上海", True),
        ("小明在腾讯工作", "小明", "work at", "腾讯", True),
        ("我叫李雷", "user", "name", "李雷", True),
        ("我现在用Helix", "user", "editor", "helix", True),
        ("我从vim换成了Helix", "user", "editor", "helix", True),
        ("地点是北京", "地点", "is", "北京", True),
        ("截止日期改成周五", "截止日期", "is", "周五", True),
        ("会议时间是下午三点", "会议", "time", "下午三点", True),
        ("我喜欢喝绿茶", "user", "like", "绿茶", False),
        ("我最喜欢的颜色是蓝色", "user", "最喜欢的颜色", "蓝色", True),
        # work and school
        ("I work as an engineer", "user", "job", "engineer", True),
        ("I work as a nurse at Mercy Hospital", "user", "job", "nurse", True),
        ("Anna is employed as a designer", "anna", "job", "designer", True),
        ("My occupation is plumber", "user", "job", "plumber", True),
        ("My employer is Acme", "user", "work at", "acme", True),
        ("Anna is the CEO of Acme", "acme", "ceo", "anna", True),
        ("Anna is Acme's CEO", "acme", "ceo", "anna", True),
        ("The CEO of Acme is Anna", "acme", "ceo", "anna", True),
        ("I'm the maintainer of Pelican", "pelican", "maintainer", "user", True),
        ("Bob is a founder of Globex", "globex", "founder", "bob", False),
        ("My wife is the manager of Apollo", "apollo", "manager", "user's wife", True),
        ("I report to Bob", "user", "report to", "bob", True),
        ("Anna manages the platform team", "anna", "manage", "platform team", False),
        ("Bob founded Globex", "bob", "founded", "globex", False),
        ("I studied at MIT", "user", "studied at", "mit", False),
        ("I studied physics", "user", "studied", "physics", False),
        ("Anna studied medicine at Charité", "anna", "studied", "medicine", False),
        ("Bob majored in economics", "bob", "studied", "economics", False),
        ("I graduated from Oxford in 2010", "user", "graduated from", "oxford", False),
        # where from, what like
        ("I was born in 1990", "user", "birth year", "1990", True),
        ("Anna was born on May 3, 1990", "anna", "birthday", "may 3 1990", True),
        ("I was born on May 3", "user", "birthday", "may 3", True),
        ("Bob was born in Rome", "bob", "born in", "rome", True),
        ("I'm from Italy", "user", "from", "italy", False),
        ("Anna is originally from Poland", "anna", "from", "poland", False),
        ("Bob comes from Kenya", "bob", "from", "kenya", False),
        ("Anna speaks German", "anna", "speak", "german", False),
        ("I am allergic to peanuts", "user", "allergic to", "peanuts", False),
        ("Anna is severely allergic to shellfish", "anna", "allergic to", "shellfish", False),
        ("Anna is engaged to Bob", "anna", "engaged to", "bob", True),
        ("My email is anna@acme.com", "user", "email", "anna@acme.com", True),
        ("My email address is anna@acme.com", "user", "email", "anna@acme.com", True),
        ("My phone number is 0170 1234567", "user", "phone", "0170 1234567", True),
        ("Anna's date of birth is May 3", "anna", "birthday", "may 3", True),
        # kin and pets
        ("I have a dog named Rex", "user", "dog", "rex", False),
        ("Anna has a small cat called Misty", "anna", "cat", "misty", False),
        ("My sister lives in Rome", "user's sister", "live in", "rome", True),
        ("My daughter was born in Rome", "user's daughter", "born in", "rome", True),
        ("We got another cat named Bailey", "user", "cat", "bailey", False),
        (
            "The staging URL is https://staging.acme.com",
            "staging url",
            "is",
            "https://staging.acme.com",
            True,
        ),
        ("Our dog loves carrots", "user's dog", "love", "carrots", False),
        ("My brother works at Siemens", "user's brother", "work at", "siemens", True),
        ("My mother is from Chile", "user's mother", "from", "chile", False),
        ("My boss speaks Dutch", "user's boss", "speak", "dutch", False),
        # systems
        ("The backend depends on Redis", "backend", "depend on", "redis", False),
        ("billing-service depends on PostgreSQL", "billing-service", "depend on", "postgresql", False),
        ("The API is written in Go", "api", "written in", "go", False),
        ("The parser is now written in Rust", "parser", "written in", "rust", True),
        ("Our website runs on WordPress", "website", "run on", "wordpress", False),
        ("The server is running on Ubuntu", "server", "run on", "ubuntu", False),
        ("The app is deployed to AWS", "app", "deployed to", "aws", False),
        ("The wiki is hosted on GitHub", "wiki", "deployed to", "github", False),
        ("Apollo uses PostgreSQL", "apollo", "database", "postgresql", False),
        ("The backend uses PostgreSQL for storage", "backend", "database", "postgresql", False),
        ("The frontend is built with React", "frontend", "built with", "react", False),
        # third person, as capture words it
        ("User lives in Berlin", "user", "live in", "berlin", True),
        ("User's editor is Helix", "user", "editor", "helix", True),
        # Chinese
        ("用户住在上海", "user", "live in", "上海", True),
        ("我来自成都", "user", "from", "成都", False),
        ("我出生于1990年", "user", "birth year", "1990", True),
        ("小红出生于1990年5月3日", "小红", "birthday", "1990年5月3日", True),
        ("我出生在北京", "user", "born in", "北京", True),
        ("我毕业于清华大学", "user", "graduated from", "清华大学", False),
        ("小明从北京大学毕业", "小明", "graduated from", "北京大学", False),
        ("我就读于复旦大学", "user", "studied at", "复旦大学", False),
        ("我在复旦大学读书", "user", "studied at", "复旦大学", False),
        ("我对花生过敏", "user", "allergic to", "花生", False),
        ("我和小红结婚了", "user", "married to", "小红", True),
        ("我养了一只叫豆豆的狗", "user", "dog", "豆豆", False),
        ("小明有一只名叫雪球的兔子", "小明", "rabbit", "雪球", False),
        ("我的猫叫咪咪", "user", "cat", "咪咪", False),
        ("我家的狗叫旺财", "user", "dog", "旺财", False),
        ("小李是腾讯的CEO", "腾讯", "ceo", "小李", True),
        ("我是一名医生", "user", "is a", "医生", False),
        ("小红会说法语", "小红", "speak", "法语", False),
        ("后端依赖Redis", "后端", "depend on", "redis", False),
        ("这个项目是用Rust写的", "项目", "written in", "rust", False),
        ("网站部署在AWS上", "网站", "deployed to", "aws", False),
        ("服务运行在Ubuntu上", "服务", "run on", "ubuntu", False),
        ("我的邮箱是a@b.com", "user", "email", "a@b.com", True),
        ("我的生日是1990年5月3日", "user", "birthday", "1990年5月3日", True),
    ],
)
def test_plain_statements_are_facts(
    text: str, subject: str, predicate: str, value: str, functional: bool
) -> None:
    assert facts(text) == [Fact(subject, predicate, value, functional)]


@every(
    "text",
    [
        "Do I use vim?",
        "I drive to work",
        "I went home, my head hurts",
        "The editor I use is great",
        "I don't use vim",
        "If I lived in Rome, I would use vim",
        "I think my editor is vim",
        "I want to live in Rome",
        "I used to live in Rome",
        "He works at Acme",
        "My dog is cute",
        "My dog is sleeping",
        "My job is stressful",
        "The API is slow",
        "I live in fear",
        "It is good",
        "Writing is a great way to relax",
        "```\nmy editor is vim\n```",
        "你的编辑器是什么？",
        "我不喝咖啡",
        "我的狗是黑色的",
        "如果我住在上海",
        "",
        "It depends on the weather",
        "The answer depends on the question",
        "The report is written in haste",
        "The build is run on Jenkins",
        "My release is blocked by QA",
        "Let's go",
        "My wife is the love of my life",
        "My dog is the best",
        "My meeting Monday is at ten",
        "I was born lucky",
        "I studied hard",
        "I studied at night",
        "She works at Siemens",
        "Anna was the CEO of Acme",
        "I lived in Rome",
        "I worked at Acme for three years",
        "Is Anna the CEO of Acme?",
        "I would be allergic to peanuts",
        "I am not allergic to peanuts",
        "The music runs on and on",
        "People depend on people",
        "The train runs on Sundays",
        "The team uses Mondays for planning",
        "My friend Bob's car is red",
        "The movie is set in Rome",
        "My phone is running on empty",
        "I was born on a Monday",
        "He is also my boss",
        "Jack's family is hesitant to let him go with Jack",
        "我不是医生",
        "他住在上海",
        "如果我对花生过敏",
        "我以前住在上海",
    ],
)
def test_what_is_not_plainly_stated_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_one_sentence_may_state_several_facts_of_the_speaker() -> None:
    assert facts("I live in Berlin and work at Acme.", speaker="Anna") == [
        Fact("anna", "live in", "berlin", functional=True),
        Fact("anna", "work at", "acme", functional=True),
    ]


def test_facts_are_read_as_people_type_them() -> None:
    typed = {
        "im Priya, i teach maths at a secondary school, i'm coeliac": {
            "name priya",
            "teach maths",
            "health coeliac",
        },
        "im Farouk, 41, got type 1 since i was nine": {"name farouk", "age 41", "health type 1"},
        "I'm 34, I work at Fennel and live in Leeds": {"age 34", "work at fennel", "live in leeds"},
        "hiya, Bronwen here. I run a flower shop": {"name bronwen", "run a business flower shop"},
        "i moved to york last month": {"live in york"},
        "坐标南京，今年32": {"live in 南京", "age 32"},
    }
    for text, wanted in typed.items():
        found = {f"{fact.predicate} {fact.object}" for fact in facts(text) if fact.subject == "user"}
        assert wanted <= found, (text, found)
    for text in ("I'm Dutch", "I'm Catholic, mostly", "Im Fine"):
        assert not any(fact.predicate == "name" for fact in facts(text)), text


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@every(
    ("text", "predicate", "value", "functional", "since", "until"),
    [
        ("I live in Berlin since 2019", "live in", "berlin", True, "2019-01-01", None),
        ("I have lived in Berlin since 2019", "live in", "berlin", True, "2019-01-01", None),
        ("I've been living in Berlin since May 2020", "live in", "berlin", True, "2020-05-01", None),
        ("Since 2019 I live in Oslo", "live in", "oslo", True, "2019-01-01", None),
        ("I have worked at Siemens since January", "work at", "siemens", True, "2026-01-01", None),
        ("I moved to Paris in 2019", "live in", "paris", True, "2019-01-01", None),
        ("We have used PostgreSQL since 2021", "database", "postgresql", False, "2021-01-01", None),
        ("I've worked at Acme since 2021", "work at", "acme", True, "2021-01-01", None),
        ("I've been married to Anna since 2015", "married to", "anna", True, "2015-01-01", None),
        ("I've known Anna since 2010", "know", "anna", False, "2010-01-01", None),
        ("I work at Acme until June", "work at", "acme", True, None, "2026-07-01"),
        ("I lived in Rome until 2019", "live in", "rome", False, None, "2020-01-01"),
        ("I lived in Rome until May", "live in", "rome", False, None, "2025-06-01"),
        ("I used to live in Rome until 2019", "live in", "rome", False, None, "2020-01-01"),
        ("I worked at Acme from 2015 to 2018", "work at", "acme", False, "2015-01-01", "2019-01-01"),
        ("From 2010 to 2014 I lived in Oslo", "live in", "oslo", False, "2010-01-01", "2015-01-01"),
        ("In 2012 I lived in Oslo", "live in", "oslo", False, "2012-01-01", "2013-01-01"),
        ("I lived in Paris in 2012", "live in", "paris", False, "2012-01-01", "2013-01-01"),
        ("我从2019年起住在上海", "live in", "上海", True, "2019-01-01", None),
        ("我2019年到2021年在腾讯工作", "work at", "腾讯", False, "2019-01-01", "2022-01-01"),
    ],
)
def test_words_of_time_say_from_when_to_when(
    text: str, predicate: str, value: str, functional: bool, since: str | None, until: str | None
) -> None:
    [fact] = facts(text, now=NOW)

    assert (fact.subject, fact.predicate, fact.object) == ("user", predicate, value)
    assert fact.functional == functional
    assert [day and day.date().isoformat() for day in (fact.valid_from, fact.valid_to)] == [since, until]


@every(
    ("text", "last"),
    [
        ("Anna moved to Berlin. She works at Siemens.", ("anna", "work at", "siemens")),
        ("Zofia moved to Berlin. She works at Siemens.", ("zofia", "work at", "siemens")),
        ("Anna met Bob. She works at Siemens.", ("anna", "work at", "siemens")),
        ("Anna lives in Rome. Her birthday is May 3.", ("anna", "birthday", "may 3")),
        ("My boss is Bob. He lives in Kiel.", ("bob", "live in", "kiel")),
        ("My sister Anna lives in Rome", ("anna", "live in", "rome")),
        ("My dog Rex loves carrots", ("rex", "love", "carrots")),
        ("小明住在上海。他在腾讯工作。", ("小明", "work at", "腾讯")),
    ],
)
def test_a_name_that_was_said_is_meant_again(text: str, last: tuple[str, str, str]) -> None:
    found = facts(text)[-1]

    assert (found.subject, found.predicate, found.object) == last


@every(
    "text",
    [
        "Anna met Clara. She works at Siemens.",
        "Anna came by. He works at Siemens.",
        "It was late. She works at Siemens.",
        "小明和小红来了。他在腾讯工作。",
    ],
)
def test_a_pronoun_that_may_mean_two_or_nobody_is_left_alone(text: str) -> None:
    assert not [fact for fact in facts(text) if fact.predicate == "work at"]


@every(
    ("text", "noun", "name"),
    [
        ("My sister Anna lives in Rome", "sister", "anna"),
        ("My best friend Bob Smith plays chess", "friend", "bob smith"),
        ("Our dog Rex is here", "dog", "rex"),
        ("Our old neighbor Clara is from Spain", "neighbor", "clara"),
    ],
)
def test_a_name_beside_kin_is_their_name(text: str, noun: str, name: str) -> None:
    assert (noun, name) in [(fact.predicate, fact.object) for fact in facts(text)]


def test_a_memory_states_what_was_given_with_it_and_what_it_says() -> None:
    told = {"subject": "Anna", "predicate": "lives_in", "object": "Rome", "confidence": 0.6}
    bad = [7, {}, {"subject": "Anna", "predicate": "age"}, {"subject": "", "predicate": "x", "object": "y"}]

    first, second = stated("Anna lives in Rome and works at Acme", {"facts": [told, *bad]})

    assert (first, first.confidence) == (Fact("anna", "live in", "rome", functional=True), 0.6)
    assert second == Fact("anna", "work at", "acme", functional=True)


@every("listed", [None, "facts", 3, {"subject": "a"}, [None], [[]], [{"subject": ["a"]}]])
def test_what_is_no_fact_is_left_out(listed: object) -> None:
    assert stated("Bread needs flour", {"facts": listed}) == ()


@given(
    st.recursive(
        st.none() | st.text() | st.floats(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["subject", "predicate", "object", "confidence", "valid_to"]), inner
            )
        ),
    )
)
def test_any_data_can_be_given(listed: object) -> None:
    assert isinstance(stated("", {"facts": listed}), tuple)


@every(
    ("text", "predicate", "value"),
    [
        ("We switched from MySQL to PostgreSQL", "database", "mysql"),
        ("I no longer live in Berlin", "live in", "berlin"),
        ("I don't use vim anymore", "editor", "vim"),
        ("I no longer work at Acme, I work at Globex", "work at", "acme"),
        ("我不再用vim", "editor", "vim"),
    ],
)
def test_what_has_ended_is_named(text: str, predicate: str, value: str) -> None:
    assert [(fact.predicate, fact.object) for fact in ended(text)] == [(predicate, value)]


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(facts(text), list)
    assert isinstance(ended(text), list)


def test_a_pronoun_is_nobody_in_particular_in_chinese_either() -> None:
    assert facts("张伟是我的表弟，其年龄是36岁。") == []


def test_an_attribute_belongs_to_its_owner() -> None:
    uncle, aunt = facts("我叔叔的生日是5月3日"), facts("我婶婶的生日是6月3日")

    assert uncle[0].subject != aunt[0].subject
    assert [(fact.subject, fact.predicate) for fact in facts("会议的地点是北京")] == [("会议", "location")]


@every(
    ("text", "predicate", "value"),
    [
        ("Dr. Alvarez is my dentist", "dentist", "dr alvarez"),
        ("My dentist is Dr. Alvarez.", "dentist", "dr alvarez"),
        ("my GP is Dr Patel", "gp", "dr patel"),
        ("I see Dr. Alvarez, my dentist", "dentist", "dr alvarez"),
        ("My dentist is Dr. Kim, not Dr. Alvarez", "dentist", "dr kim"),
        ("Prof. Dr. Weber is my advisor", "advisor", "prof dr weber"),
        ("Our vet is Dr. Marta Ruiz", "vet", "dr marta ruiz"),
        ("My landlord is Mr. O'Neill.", "landlord", "mr o'neill"),
        ("My teacher is Mrs. Lee", "teacher", "mrs lee"),
        ("Sra. García is my boss", "boss", "sra garcía"),
        ("My boss is Sr. García", "boss", "sr garcía"),
        ("Frau Müller is my landlord", "landlord", "frau müller"),
        ("My name is Dr. Elena Alvarez", "name", "dr elena alvarez"),
        ("My manager is J. Smith", "manager", "j. smith"),
        ("I live in St. Gallen", "live in", "st gallen"),
        ("王医生是我的牙医", "dentist", "王医生"),
        ("我的班主任是张老师", "teacher", "张老师"),
        ("我的律师是赵律师", "lawyer", "赵律师"),
    ],
)
def test_a_title_belongs_to_the_name(text: str, predicate: str, value: str) -> None:
    assert facts(text) == [Fact("user", predicate, value, functional=True)]


def test_who_has_a_title_is_the_subject_whole() -> None:
    (age,) = facts("Dr. Alvarez is 52")
    two = facts("I live in St. Louis and Prof. Okafor works at Charité")

    assert (age.subject, age.object) == ("dr alvarez", "52")
    assert [(one.subject, one.object) for one in two] == [("user", "st louis"), ("prof okafor", "charité")]


def test_a_description_of_someone_takes_nothings_place() -> None:
    assert not any(fact.functional for fact in facts("我的上司是南京人"))
