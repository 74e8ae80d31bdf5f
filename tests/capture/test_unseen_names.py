"""Names nobody wrote a rule for: who and what is named, and which names mean one and the same."""

from __future__ import annotations

from engram import Engram
from engram.text.names import entities
from tests.tables import every

# A sentence, a name in it, and what that names: `*` anything, `!person` anything but a person, or nothing.
NAMED = [
    ("Yesterday I met Liz at the pool.", "Liz", "person"),
    ("My colleague Agnieszka is on holiday.", "Agnieszka", "person"),
    ("I had lunch with Sean O'Malley.", "Sean O'Malley", "person"),
    ("We visited Łódź in spring.", "Łódź", "location"),
    ("My boss is Ludwig van der Berg.", "Ludwig van der Berg", "person"),
    ("We use GPT-5 for summaries.", "GPT-5", "technology"),
    ("I moved from Nordwind to Acme Corp last year.", "Acme Corp", "organization"),
    ("My landlord is called Mr. Fitzgerald.", "Mr. Fitzgerald", "person"),
    ("I work at Siemens Healthineers.", "Siemens Healthineers", "organization"),
    ("Zoë Brontë lent me her bike.", "Zoë Brontë", "person"),
    ("Our dog Biscuit ate the cake.", "Biscuit", "*"),
    ("我同事张伟调到深圳了", "张伟", "person"),
    ("我们老板李建国出差了", "李建国", "person"),
    ("李总让我改方案", "李总", "person"),
    ("I bank with DNB.", "DNB", "organization"),
    ("Kasia works at Bryggen Mat, a restaurant downtown.", "Bryggen Mat", "organization"),
    ("We went sailing on the Heron.", "Heron", "!person"),
    ("I listen to it on Spotify.", "Spotify", "!person"),
    ("Dr. Osei prescribed ibuprofen.", "Dr. Osei", "person"),
    ("Our kids go to Solhaug kindergarten.", "Solhaug", "!person"),
    ("My therapist, Dr. Nakamura, is great.", "Dr. Nakamura", "person"),
    ("Thandiwe and Kofi are getting married.", "Thandiwe", "person"),
    ("Thandiwe and Kofi are getting married.", "Kofi", "person"),
    ("I'm meeting Rajesh Iyer on Monday.", "Rajesh Iyer", "person"),
    ("Ask Björn about it.", "Björn", "person"),
    ("My sister-in-law Marisol lives in Cádiz.", "Marisol", "person"),
    ("My sister-in-law Marisol lives in Cádiz.", "Cádiz", "location"),
    ("Jean-Luc sent the invoice.", "Jean-Luc", "person"),
    ("María José Fernández is our notary.", "María José Fernández", "person"),
    ("The Kowalskis invited us.", "Kowalskis", "*"),
    ("I started at Equinor in May.", "Equinor", "organization"),
    ("She studies at Uppsala University.", "Uppsala University", "organization"),
    ("The flight goes via Doha.", "Doha", "location"),
    ("Our project Polaris ships in June.", "Polaris", "project"),
    ("I bought it at IKEA.", "IKEA", "organization"),
    ("Tadhg is my nephew.", "Tadhg", "person"),
    ("我和王芳一起吃饭。", "王芳", "person"),
    ("我女儿叫小雪。", "小雪", "person"),
    ("我在字节跳动上班。", "字节跳动", "organization"),
    ("陈建国是我的房东。", "陈建国", "person"),
    ("我老婆李梅是护士。", "李梅", "person"),
    ("欧阳娜娜昨天来了。", "欧阳娜娜", "person"),
    ("我们公司搬到了苏州。", "苏州", "location"),
    ("张医生让我少吃盐。", "张医生", "person"),
    ("我在华为技术有限公司工作。", "华为技术有限公司", "organization"),
    ("我的导师是刘教授。", "刘教授", "person"),
    ("Called Oyelaran about the boiler.", "Oyelaran", "person"),
    ("Had drinks with Siobhán and Niamh.", "Siobhán", "person"),
    ("Had drinks with Siobhán and Niamh.", "Niamh", "person"),
    ("Our accountant Mrs. Papadopoulos retired.", "Mrs. Papadopoulos", "person"),
    ("I joined Klarna in 2022.", "Klarna", "organization"),
    ("My wife's name is Ingrid.", "Ingrid", "person"),
    ("My son Teo starts school.", "Teo", "person"),
    ("I'm flying to Tromsø.", "Tromsø", "location"),
    ("We live in Ústí nad Labem.", "Ústí", "*"),
    ("Pavel Dvořák fixed my bike.", "Pavel Dvořák", "person"),
    ("I have an interview at Bosch on Friday.", "Bosch", "organization"),
    ("She works for Médecins Sans Frontières.", "Médecins Sans Frontières", "organization"),
    ("My best friend Imani moved to Accra.", "Imani", "person"),
    ("My best friend Imani moved to Accra.", "Accra", "location"),
    ("I met Mr. Nguyen at the fair.", "Mr. Nguyen", "person"),
    ("Leila is my physiotherapist.", "Leila", "person"),
    ("Chukwuemeka is our plumber.", "Chukwuemeka", "person"),
    ("We run it on Hetzner servers.", "Hetzner", "!person"),
    ("My cat Miso is ill.", "Miso", "*"),
    ("I study at ETH Zürich.", "ETH Zürich", "*"),
    ("Ole Gunnar Haugen bought our boat.", "Ole Gunnar Haugen", "*"),
    ("昨天我跟赵敏吃了火锅。", "赵敏", "person"),
    ("我儿子叫浩然。", "浩然", "person"),
    ("孙老师很严格。", "孙老师", "person"),
    ("我在腾讯上班。", "腾讯", "organization"),
    ("林志玲是我同学。", "林志玲", "person"),
    ("我哥哥周杰在成都。", "周杰", "person"),
    ("我们住在厦门。", "厦门", "location"),
]
NAMELESS = [
    "Sailed all day, it was lovely.",
    "Booked the night train.",
    "Happy Birthday!",
    "Monday was rough.",
    "The API returns JSON.",
    "Please fix the Bug in the Login form.",
    "我今天很高兴。",
    "周末去爬山。",
    "Thanks, great job!",
    "Good Morning everyone",
    "Great, thanks!",
    "Tuesday works.",
    "The Monday meeting is boring.",
    "Dinner was good.",
    "My PC crashed.",
    "今天天气很好。",
    "我要去跑步。",
]
# What was said, two names, and whether they are one.
NAMES_OF_ONE: list[tuple[list[str], str, str, bool]] = [
    (["Zoë Brontë lent me her bike.", "Zoe Bronte called."], "Zoë Brontë", "Zoe Bronte", True),
    (["José Martín fixed the roof.", "Jose Martin sent a bill."], "José Martín", "Jose Martin", True),
    (
        ["Elizabeth Marchetti is my lawyer.", "Beth Marchetti called me back."],
        "Elizabeth Marchetti",
        "Beth Marchetti",
        True,
    ),
    (["Katarzyna Nowak is my colleague.", "Kasia Nowak is ill."], "Katarzyna Nowak", "Kasia Nowak", True),
    (
        ["I work at Acme Corp.", "Acme Corporation hired Bob.", "I left Acme Inc. in May."],
        "Acme Corp",
        "Acme Corporation",
        True,
    ),
    (
        ["I work at Acme Corp.", "Acme Corporation hired Bob.", "I left Acme Inc. in May."],
        "Acme Corp",
        "Acme Inc",
        True,
    ),
    (
        [
            "She studies at the Massachusetts Institute of Technology.",
            "MIT is in Cambridge, and I visited MIT.",
        ],
        "Massachusetts Institute of Technology",
        "MIT",
        True,
    ),
    (["I flew to New York City.", "I love NYC."], "New York City", "NYC", True),
    (
        ["I work at International Business Machines.", "I left IBM."],
        "International Business Machines",
        "IBM",
        True,
    ),
    (["我在华为工作。", "华为技术有限公司发了奖金。"], "华为", "华为技术有限公司", True),
    (["Robert Hayes is my manager.", "I had coffee with Bob Hayes."], "Robert Hayes", "Bob Hayes", True),
    (["William Turner is my uncle.", "I talked to Bill Turner."], "William Turner", "Bill Turner", True),
    (
        ["Aleksandra Petrova is our designer.", "I asked Sasha Petrova."],
        "Aleksandra Petrova",
        "Sasha Petrova",
        True,
    ),
    (["Michael Chen is my dentist.", "M. Chen moved my appointment."], "Michael Chen", "M. Chen", True),
    (["Søren Kjær is my neighbour.", "Soren Kjaer has a boat."], "Søren Kjær", "Soren Kjaer", True),
    (["Jürgen Müller is my coach.", "Juergen Mueller is ill."], "Jürgen Müller", "Juergen Mueller", True),
    (["Anna is my wife.", "Anna Berg is my dentist."], "Anna", "Anna Berg", False),
    (["David Miller is my dentist.", "David Muller is my cousin."], "David Miller", "David Muller", False),
    (["I work at Nordwind.", "Nordwind GmbH pays well."], "Nordwind", "Nordwind GmbH", True),
    (["Jonas Weber is my flatmate.", "Jana Weber is my aunt."], "Jonas Weber", "Jana Weber", False),
    (["I use GPT-4 daily.", "GPT-5 is slower."], "GPT-4", "GPT-5", False),
    (["Maria Silva is my boss.", "Mario Silva is my barber."], "Maria Silva", "Mario Silva", False),
    (["Deutsche Bank called.", "I went to Commerzbank."], "Deutsche Bank", "Commerzbank", False),
    (["Lin Wei is my tutor.", "Lin Wen is my friend."], "Lin Wei", "Lin Wen", False),
    (["Stephen Park is my dentist.", "Steve Park called."], "Stephen Park", "Steve Park", True),
    (
        ["Siobhán Ó Briain is my vet.", "Siobhan O Briain called."],
        "Siobhán Ó Briain",
        "Siobhan O Briain",
        True,
    ),
    (["I work at Volvo Cars AB.", "Volvo Cars pays well."], "Volvo Cars AB", "Volvo Cars", True),
    (
        ["My boss is Wojciech Zając.", "I had lunch with Wojtek Zając."],
        "Wojciech Zając",
        "Wojtek Zając",
        True,
    ),
    (
        ["I study at the London School of Economics.", "LSE has good libraries, I like LSE."],
        "London School of Economics",
        "LSE",
        True,
    ),
    (["Daniel Okafor is my mentor.", "I talked to Dan Okafor."], "Daniel Okafor", "Dan Okafor", True),
    (["I met Jörg Schäfer.", "Joerg Schaefer wrote to me."], "Jörg Schäfer", "Joerg Schaefer", True),
    (["My sister is Eva Lund.", "My dentist is Ewa Lund."], "Eva Lund", "Ewa Lund", False),
    (["My uncle Paul is a baker.", "Paul Simmons is my landlord."], "Paul", "Paul Simmons", False),
    (["I work at Siemens.", "My brother works at Siemens Energy."], "Siemens", "Siemens Energy", False),
    (["我在小米科技有限公司工作。", "小米发布了新手机，我在小米上班。"], "小米科技有限公司", "小米", True),
    (
        ["Kristoffer Dahl is my neighbour.", "Kristofer Dahl has a dog."],
        "Kristoffer Dahl",
        "Kristofer Dahl",
        True,
    ),
]


@every(("sentence", "name", "kind"), NAMED)
def test_a_name_is_found_and_known_for_what_it_names(sentence: str, name: str, kind: str) -> None:
    found = {one.name: one.type for one in entities(sentence)}
    if kind.startswith("!"):
        assert found.get(name) != kind[1:]
    else:
        assert kind in {"*", found.get(name)}
        assert name in found


@every("sentence", NAMELESS)
def test_a_capital_alone_makes_no_name(sentence: str) -> None:
    kinds = {"person", "organization", "location", "unknown"}
    assert [one for one in entities(sentence) if one.type in kinds] == []


@every(("said", "one", "other", "same"), NAMES_OF_ONE)
def test_names_of_one_are_joined_and_names_of_two_are_not(
    said: list[str], one: str, other: str, *, same: bool
) -> None:
    with Engram.open(":memory:") as memory:
        for line in said:
            memory.observe(line, session="s")
            memory.flush()
        mine, theirs = memory.entities.get(one), memory.entities.get(other)
    assert mine is not None
    assert theirs is not None
    assert (mine.entity.name == theirs.entity.name) is same


def test_two_people_of_one_first_name_stay_two_when_their_roles_differ() -> None:
    with Engram.open(":memory:") as memory:
        for line in ("My brother Tom lives in Rome.", "My boss Tom is strict.", "My sister Maya is a vet."):
            memory.observe(line, session="s")
            memory.flush()
        names = {one.name for one in memory.entities.list(type="person")}
        whom = {who: memory.entities.get(who) for who in ("my brother", "my boss", "my sister", "my aunt")}

    assert {"Tom", "Tom (boss)", "Maya"} <= names
    assert {who: found and found.entity.name for who, found in whom.items()} == {
        "my brother": "Tom",
        "my boss": "Tom (boss)",
        "my sister": "Maya",
        "my aunt": None,
    }


def test_a_document_names_nobody() -> None:
    with Engram.open(":memory:") as memory:
        memory.sources.text("# The saga\n\nOnce Gunnhild Haraldsdottir ruled the north.", title="saga")
        assert memory.entities.get("Gunnhild Haraldsdottir") is None
