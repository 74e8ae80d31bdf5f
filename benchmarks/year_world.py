"""A made-up year of several people who talk to their assistants: what they say, and what is true when.

Everything follows from one seed. People state facts about themselves, repeat some of them in other words,
change their minds, promise things, tell what happened, and mostly chat. `World.day(n)` gives the exchanges of
a day; `World.questions(day)` what a good memory should be able to answer then.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

PEOPLE = ("Ana", "Bilal", "Chiara", "Dmitri", "Esi")
FRIENDS = ("Tom", "Priya", "Lars", "Wei", "Nora", "Omar", "Julie", "Kofi", "Sven", "Marta", "Hugo", "Ines")
CITIES = (
    "Lisbon", "Oslo", "Utrecht", "Krakow", "Bristol", "Turin", "Ghent", "Malmo", "Porto", "Graz", "Lyon",
    "Cork",
    "Basel", "Tartu", "Split", "Bergen", "Leiden", "Siena", "Brno", "Galway",
)  # fmt: skip
FIRMS = (
    "Northwind", "Halcyon", "Brightwater", "Juniper Labs", "Copperfield", "Lumen Works", "Redshift",
    "Oakline",
    "Silverbirch", "Tallgrass", "Fernhill", "Quarry Systems",
)  # fmt: skip
THINGS = (
    "a lamp", "running shoes", "a kettle", "a rug", "headphones", "a bike lock", "two chairs",
    "a suitcase",
    "a notebook", "a tent", "a coffee grinder", "a raincoat", "a bookshelf", "a drill", "a scarf",
)  # fmt: skip
PLACES = (
    "the harbour cafe", "Nero's", "the new noodle bar", "the market", "the canteen", "a bakery",
    "the old brewery",
    "the museum cafe", "the beach bar", "the station diner",
)  # fmt: skip
CHORES = (
    "renew my passport", "call the plumber", "send the invoice to Lars", "book the dentist",
    "return the library books",
    "order new contact lenses", "pay the parking ticket", "submit the tax form",
    "water the neighbour's plants",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that may be true of a person, in several wordings."""

    name: str
    said: tuple[str, ...]
    changed: str
    asked: str
    values: tuple[str, ...]


ATTRIBUTES = (
    Attribute(
        "city",
        ("I live in {}.", "My home is in {}.", "I have my flat in {}."),
        "I moved to {} last week.",
        "Where do I live?",
        CITIES,
    ),
    Attribute(
        "firm",
        ("I work at {}.", "My employer is {}.", "I have a job at {}."),
        "I changed jobs, I work at {} now.",
        "Where do I work?",
        FIRMS,
    ),
    Attribute(
        "editor",
        ("My editor is {}.", "I prefer {} as my editor.", "My editor of choice is {}."),
        "I switched my editor to {}.",
        "Which editor do I use?",
        ("vim", "Helix", "Emacs", "Zed", "Kakoune", "nano", "Sublime Text", "micro"),
    ),
    Attribute(
        "manager",
        ("My manager is {}.", "{} is my manager.", "My boss at work, my manager, is {}."),
        "There was a change at work, my manager is {} now.",
        "Who is my manager?",
        ("Helena", "Matteo", "Aisha", "Gunnar", "Yuki", "Paulo", "Ingrid", "Tariq"),
    ),
    Attribute(
        "boat",
        ("My boat is called {}.", "The name of my boat is {}.", "My boat's name is {}."),
        "We painted a new name on it, my boat is called {} now.",
        "What is my boat called?",
        ("Biscuit", "Albatross", "Pepper", "Seagull", "Otto", "Luna", "Ziggy", "Marigold"),
    ),
    Attribute(
        "car",
        ("I drive a {}.", "My car is a {}.", "The {} is my car."),
        "I sold the old one, my car is a {} now.",
        "What car do I drive?",
        (
            "Skoda Fabia",
            "Renault Zoe",
            "Volvo V60",
            "Fiat Panda",
            "Toyota Yaris",
            "Kia Niro",
            "Mazda 3",
            "Dacia Spring",
        ),
    ),
    Attribute(
        "dentist",
        ("My dentist is Dr {}.", "The dentist I go to is Dr {}.", "I see Dr {} about my teeth, my dentist."),
        "My dentist retired, my dentist is Dr {} now.",
        "Who is my dentist?",
        ("Okafor", "Lindgren", "Moretti", "Haas", "Petrov", "Silva", "Novak", "Byrne"),
    ),
    Attribute(
        "gym",
        ("My gym day is {}.", "I always go to the gym on {}.", "{} is my gym day."),
        "I changed it, my gym day is {} now.",
        "Which day is my gym day?",
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ),
    Attribute(
        "bank",
        ("My bank is {}.", "I have my accounts at {}, my bank.", "The bank I use is {}."),
        "I closed the old account, my bank is {} now.",
        "Which bank do I use?",
        ("Triodos", "Bunq", "Handelsbanken", "Nordea", "Revolut", "Monzo", "Wise", "Rabobank"),
    ),
    Attribute(
        "project",
        ("My current project is {}.", "The project I have is {}.", "{} is my project at the moment."),
        "That one is finished, my current project is {} now.",
        "What is my current project?",
        ("Aurora", "Beacon", "Cascade", "Drift", "Ember", "Falcon", "Glacier", "Harbour"),
    ),
    Attribute(
        "database",
        ("Our main database is {}.", "We run {} as our main database.", "{} is our main database."),
        "We migrated, our main database is {} now.",
        "What is our main database?",
        ("PostgreSQL", "MySQL", "MongoDB", "CockroachDB", "MariaDB", "DynamoDB", "Cassandra", "SQLite"),
    ),
    Attribute(
        "colour",
        (
            "My favourite colour is {}.",
            "I chose {} again, my favourite colour.",
            "{} is my favourite colour.",
        ),
        "I changed my mind, my favourite colour is {}.",
        "What is my favourite colour?",
        ("teal", "ochre", "crimson", "indigo", "olive", "coral", "turquoise", "maroon"),
    ),
    Attribute(
        "sister",
        ("My sister lives in {}.", "My sister has a house in {}.", "My sister is at home in {}."),
        "My sister moved to {}.",
        "Where does my sister live?",
        CITIES[::-1],
    ),
    Attribute(
        "phone",
        ("My phone is a {}.", "I use a {} as my phone.", "The phone I carry is a {}."),
        "I got a new one, my phone is a {} now.",
        "Which phone do I have?",
        (
            "Fairphone 5",
            "Pixel 9",
            "iPhone 16",
            "Galaxy S25",
            "Xperia 5",
            "Zenfone 10",
            "OnePlus 13",
            "Moto G85",
        ),
    ),
    Attribute(
        "tea",
        ("My favourite drink is {}.", "I always drink {}, my favourite drink.", "{} is my favourite drink."),
        "These days my favourite drink is {}.",
        "What is my favourite drink?",
        ("rooibos", "espresso", "matcha", "ginger beer", "kombucha", "Earl Grey", "cocoa", "mate"),
    ),
    Attribute(
        "landlord",
        ("My landlord is Mr {}.", "I rent from Mr {}, my landlord.", "The name of my landlord is Mr {}."),
        "The house was sold, my landlord is Mr {} now.",
        "Who is my landlord?",
        ("Vasquez", "Tanaka", "Brandt", "Osei", "Kowalski", "Duarte", "Fischer", "Lund"),
    ),
)

CHAT = (
    "Had lunch at {place} with {friend}, the {dish} was {taste}.",
    "The train was {minutes} minutes late this morning.",
    "Watched a film about {topic} last night, it was {taste}.",
    "Bought {thing} for {price} euros.",
    "It rained all day in {city}.",
    "{friend} sent me an article about {topic}.",
    "Slept badly, only {hours} hours.",
    "The meeting with {friend} took {minutes} minutes.",
    "Cooked {dish} for dinner, {taste}.",
    "Went for a run, {minutes} minutes along the river.",
    "{friend} was at {place} too, we talked about {topic}.",
    "The build took {minutes} minutes today.",
    "Lost my umbrella somewhere near {place}.",
    "Read {minutes} pages of a book about {topic}.",
)
STRONG = (
    "I was terrified, the car in front of us crashed near {city}!",
    "I am so happy, {friend} and I won the {topic} contest, I cried!",
    "Terrible news: {friend} had an accident and is in hospital, I am devastated!",
    "I am furious, somebody stole {thing} from my bag at {place}!",
)
NOISE = (
    "ok", "thanks!", "lol", "hm", "sounds good", "yes please", "no", "one sec", "haha nice",
    "what do you think?",
    "can you help me with something?", "good morning", "good night", "never mind", "hello?",
    "great, thank you",
)  # fmt: skip
ANSWERS = (
    "Sure, happy to help.", "Got it.", "Sounds good!", "That makes sense.", "Interesting, tell me more.",
    "Let me know if you need anything else.", "Noted.", "Thanks for sharing.", "I see.", "Of course.",
)  # fmt: skip
DISHES = (
    "ramen",
    "paella",
    "dumplings",
    "lasagne",
    "falafel",
    "pierogi",
    "curry",
    "goulash",
    "tacos",
    "risotto",
)
TASTES = ("great", "too salty", "fine", "boring", "lovely", "a bit much", "surprisingly good", "not my thing")
TOPICS = (
    "glaciers", "chess", "beekeeping", "old maps", "volcanoes", "typography", "sailing", "jazz", "orchids",
    "tides",
    "robots", "bridges", "cheese", "comets", "lighthouses", "mushrooms",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person said and what was answered."""

    person: str
    user: str
    assistant: str


@dataclass(slots=True)
class Held:
    """A fact of a person over the year: each value with the day it was first said."""

    person: str
    attribute: Attribute
    values: list[tuple[int, str]]
    repeats: list[int]
    """Days on which the value of the time is said again."""

    def at(self, day: int) -> str | None:
        """The value that holds on a day."""
        told = [value for since, value in self.values if since <= day]
        return told[-1] if told else None

    def former(self, day: int) -> list[str]:
        """Values that held once and no longer do."""
        return [value for since, value in self.values if since <= day][:-1]

    @property
    def is_repeated(self) -> bool:
        """Whether it is said again now and then."""
        return bool(self.repeats)


@dataclass(slots=True)
class World:
    """The year."""

    days: int = 365
    turns: int = 20_500
    seed: int = 7
    held: list[Held] = field(init=False)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.held = [self._hold(person, one, chance) for person in PEOPLE for one in ATTRIBUTES]

    def day(self, number: int) -> list[Exchange]:
        """What is said on a day, in order."""
        chance = random.Random(f"{self.seed}-{number}")
        said = [Exchange(*one, chance.choice(ANSWERS)) for one in self._facts(number, chance)]
        rest = round(self.turns / self.days / 2) - len(said)
        said += [
            Exchange(chance.choice(PEOPLE), self._talk(chance), chance.choice(ANSWERS))
            for _ in range(max(0, rest))
        ]
        chance.shuffle(said)
        return said

    def _hold(self, person: str, attribute: Attribute, chance: random.Random) -> Held:
        values = chance.sample(attribute.values, 3)
        first = chance.randrange(0, self.days // 3)
        count = chance.choice((0, 0, 1, 1, 2))
        later = sorted(chance.sample(range(first + self.days // 18 + 1, self.days - self.days // 24), count))
        held = [(day, value) for day, value in zip((first, *later), values, strict=False)]
        often = chance.choice((0, 2, 4, 6))
        taken = {day for day, _ in held}
        repeats = [
            day
            for day in sorted(chance.sample(range(first + 2, self.days), min(often, self.days // 10)))
            if day not in taken
        ]
        return Held(person, attribute, held, repeats)

    def _facts(self, day: int, chance: random.Random) -> Iterator[tuple[str, str]]:
        for one in self.held:
            for place, (since, value) in enumerate(one.values):
                if since == day:
                    wording = one.attribute.changed if place else one.attribute.said[0]
                    yield one.person, wording.format(value)
            if day in one.repeats:
                yield one.person, chance.choice(one.attribute.said).format(one.at(day))
        if chance.random() < 0.5:
            yield chance.choice(PEOPLE), f"I promise I will {chance.choice(CHORES)} this week."

    def _talk(self, chance: random.Random) -> str:
        kind = chance.random()
        if kind < 0.45:
            return chance.choice(NOISE)
        wording = chance.choice(STRONG if kind > 0.99 else CHAT)
        return wording.format(
            place=chance.choice(PLACES),
            friend=chance.choice(FRIENDS),
            dish=chance.choice(DISHES),
            taste=chance.choice(TASTES),
            minutes=chance.randrange(5, 95),
            hours=chance.randrange(3, 6),
            topic=chance.choice(TOPICS),
            thing=chance.choice(THINGS),
            price=chance.randrange(5, 200),
            city=chance.choice(CITIES),
        )
