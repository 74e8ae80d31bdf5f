"""Texts for teaching the static model: openly licensed packages come in, documents and questions come out.

Sources, each optional, each looked for under one folder given by the caller: WordNet glosses and examples
(Debian `wordnet-base`), the Python documentation (`python3.11-doc`), Jane Austen's novels
(`r-cran-janeaustenr`, public domain), `chatterbot-corpus` from PyPI (BSD), text files of sentences, and
statements and questions that this file makes up by itself from WordNet's nouns.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

NAMES = """
Alice Ahmed Anna Boris Carla Chen Clara Daniel Diego Elena Emma Farid Grace Hana Hugo Ines Ivan
James Jia Julia Karim Laura Leo Lin Lucas Maria Mark Mei Mia Nina Noah Olga Omar Paul Peter Priya
Rosa Ruth Sam Sara Sofia Tom Vera Wang Yuki Zoe Michael Jessica Kevin Rachel Brian Amy Steven Linda
Jack Emily Ben Kate Alex Chris
""".split()  # noqa: SIM905 - sixty quotes would hide the names
TIMES = (
    "yesterday", "last week", "last month", "two years ago", "this morning", "on Saturday", "in March",
    "recently", "next summer", "tonight", "when I was a child", "back in college", "over the weekend",
    "a few days ago", "in 2019", "last Tuesday",
)  # fmt: skip
FEELINGS = (
    "happy", "proud", "tired", "nervous", "excited", "sad", "angry", "grateful", "worried", "calm", "lonely",
    "hopeful", "surprised",
)  # fmt: skip
COLOURS = ("red", "blue", "green", "black", "white", "yellow", "purple", "pink", "orange", "grey", "brown")

STATEMENTS = """
I bought a {artifact} {time} and I love it.
My {person} gave me a {artifact} for my birthday.
We had {food} for dinner {time}, it was delicious.
I'm allergic to {food}, so I never eat {food2}.
I just adopted a {animal}, {poss} name is {name}!
{name} and I went to the {place} {time}.
I started {act} {time} because I felt {feeling}.
Honestly, {act} helps me when I feel {feeling}.
I work as a {person} at a {place}.
I used to be a {person}, but now I want to become a {person2}.
My favourite food is {food}, what about you?
Wow, that's great, {name}! How did the {event} go?
We are planning a {event} with the whole family {time}.
I moved from {city} to {city2} {time}.
I have been reading a book about {topic} lately.
My {person} is a {person2} and lives in {city}.
The {artifact} broke {time}, so I had to buy a new one.
I painted a picture of a {animal} near the {place}.
I prefer {food} over {food2}.
Don't use {artifact} for this, use {artifact2} instead.
I can't believe how {adj} the {place} was.
Here is a photo of my {animal} sitting on the {artifact}.
My doctor said I should avoid {food} and try {act}.
I joined a {topic} group {time} and made new friends.
{name} lost the {artifact} at the {place} {time}.
My {colour} {artifact} is my most treasured thing, it was a gift from {name}.
Could you recommend a good {artifact} for {act}?
I think {topic} is really {adj}.
The {event} was cancelled because of {phenomenon}.
We decided to use the {artifact} for the project.
I need to finish the {communication} before {time}.
Thanks! I've been learning about {topic} at the {place}.
I scored a {adj} result in the {event} {time}.
You should try {food} with {food2}, it tastes {adj}.
I grew {plant} in my garden {time}.
My goal is to get better at {act} this year.
""".strip().splitlines()

QUESTIONS = """
What did {name} buy {time}?
When did {name} go to the {place}?
Where does {name} live?
What is {name}'s favourite food?
What kind of {animal} does {name} have?
Is {name} allergic to {food}?
Who gave {name} the {artifact}?
What does {name} do for a living?
Why did {name} start {act}?
How does {name} feel about {topic}?
What is the name of {name}'s {animal}?
What did {name} paint {time}?
What book is {name} reading?
When did {name} move to {city}?
How long has {name} been a {person}?
What happened to the {artifact}?
Which {artifact} did we decide to use?
What are {name}'s plans for the {event}?
What did {name} and {name2} do {time}?
Would {name} be considered a {person}?
What does {name} like to do to relax?
What colour is the {artifact}?
How many {animal}s does {name} have?
What activities does {name} do with {poss2} family?
Can you suggest some {food} recipes?
Can you remind me what I said about {topic}?
What was the {communication} about?
I'm planning a {event}, any tips?
Where did I put the {artifact}?
What type of {plant} does {name} grow?
When is the {event}?
What did the {person} say about {food}?
Which {place} did I visit {time}?
What is {name} interested in?
{topic} and {act}
{artifact} {adj} {place}
""".strip().splitlines()


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the teacher reads: documents plainly, questions with its question prefix."""

    documents: list[str]
    questions: list[str]


def gather(folder: Path, sentences: Iterable[Path], *, seed: int = 7, made: int = 60_000) -> Corpus:
    """Every text the sources under `folder` and the sentence files give, shuffled, without repeats."""
    chance = random.Random(seed)
    wordnet = _wordnet(folder)
    examples = [example for entry in wordnet for example in entry.examples]
    prose = [*_austen(folder), *_python_docs(folder)]
    talk = [*_chatterbot(folder), *(line for path in sentences for line in _lines(path))]
    documents = [entry.said(chance) for entry in wordnet] + examples + prose + talk
    documents += [f"{chance.choice(NAMES)}: {text}" for text in talk]
    documents += _joined(examples + talk, chance, count=len(examples) // 2)
    slots = Slots(wordnet, chance)
    documents += [f"{chance.choice(NAMES)}: {slots.fill(chance.choice(STATEMENTS))}" for _ in range(made)]
    questions = [entry.asked(chance) for entry in chance.sample(wordnet, min(len(wordnet), made // 2))]
    questions += [slots.fill(chance.choice(QUESTIONS)) for _ in range(made)]
    questions += [line for line in talk if line.endswith("?")]
    questions += chance.sample(examples, min(len(examples), made // 6))
    return Corpus(_shuffled(documents, chance), _shuffled(questions, chance))


@dataclass(frozen=True, slots=True)
class Entry:
    """One meaning in WordNet."""

    field: int
    words: tuple[str, ...]
    gloss: str
    examples: tuple[str, ...]

    def said(self, chance: random.Random) -> str:
        """The meaning as a document."""
        return f"{chance.choice(self.words)}: {self.gloss}" if chance.random() < 0.5 else self.gloss

    def asked(self, chance: random.Random) -> str:
        """The meaning as a question."""
        word = chance.choice(self.words)
        asked = (word, f"what is {word}?", f"what does {word} mean?", self.gloss, f"tell me about {word}")
        return chance.choice(asked)


def _wordnet(folder: Path) -> list[Entry]:
    return [entry for path in sorted(folder.rglob("wordnet/data.*")) for entry in _entries(path)]


def _entries(path: Path) -> Iterator[Entry]:
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("  ") or " | " not in line:
            continue
        head, gloss = line.split(" | ", 1)
        parts = head.split()
        count = int(parts[3], 16)
        words = tuple(parts[4 + 2 * i].replace("_", " ").split("(")[0] for i in range(count))
        quoted = tuple(found for found in re.findall(r'"([^"]{8,})"', gloss))
        yield Entry(int(parts[1]), words, gloss.split('; "')[0].strip(), quoted)


EVERYDAY_LETTERS = 6
# WordNet numbers its fields of meaning.
FIELDS = {
    "adj": 0, "act": 4, "animal": 5, "artifact": 6, "topic": 9, "communication": 10, "event": 11, "food": 13,
    "place": 15, "person": 18, "phenomenon": 19, "plant": 20,
}  # fmt: skip


class Slots:
    """Fillers for the made-up statements, from WordNet's noun fields."""

    def __init__(self, wordnet: list[Entry], chance: random.Random) -> None:
        self._chance = chance
        self._words = {
            slot: [entry.words[0] for entry in wordnet if entry.field == field] or [slot]
            for slot, field in FIELDS.items()
        }
        self._cities = [word for word in self._words["place"] if word[0].isupper()] or ["Paris"]
        # Short words are the everyday ones: half of the fillers come from them.
        self._short = {
            slot: [word for word in words if len(word) <= EVERYDAY_LETTERS] or words
            for slot, words in self._words.items()
        }

    def fill(self, template: str) -> str:
        """A template with a word in each of its slots."""
        return re.sub(r"\{(\w+?)\d?\}", lambda found: self._one(found.group(1)), template)

    def _one(self, slot: str) -> str:
        fixed = {"name": NAMES, "time": TIMES, "feeling": FEELINGS, "colour": COLOURS, "city": self._cities,
                 "poss": ("his", "her", "its"), "poss2": ("his", "her", "their")}  # fmt: skip
        if slot in fixed:
            return self._chance.choice(fixed[slot])
        return self._chance.choice((self._short if self._chance.random() < 0.5 else self._words)[slot])


def _austen(folder: Path) -> list[str]:
    """Paragraphs of the novels: the R data file is zlib blocks of length-prefixed strings."""
    paragraphs: list[str] = []
    for path in folder.rglob("janeaustenr/data/Rdata.rdb"):
        raw = path.read_bytes()
        for start in (found.start() for found in re.finditer(rb"\x78[\x9c\xda\x01]", raw)):
            try:
                text = zlib.decompressobj().decompress(raw[start:])
            except zlib.error:
                continue
            lines = [line for line in _r_strings(text) if line]
            paragraphs += [" ".join(lines[i : i + 3]) for i in range(0, len(lines), 3)]
    return paragraphs


def _r_strings(data: bytes) -> Iterator[str]:
    """Strings of R's serialized form: a four-byte tag, a four-byte length, the bytes."""
    for found in re.finditer(rb"\x00[\x00\x04][\x00\x80]\x09(\x00\x00..)", data, re.DOTALL):
        size = int.from_bytes(found.group(1), "big")
        yield data[found.end() : found.end() + size].decode("utf8", "ignore")


def _python_docs(folder: Path) -> list[str]:
    """Paragraphs of prose from the sources of the documentation, markup taken off."""
    paragraphs: list[str] = []
    for path in sorted(folder.rglob("_sources/**/*.rst.txt")):
        for block in path.read_text(encoding="utf8", errors="ignore").split("\n\n"):
            plain = re.sub(r":[\w:+-]+:`[~!]?([^`<]*)[^`]*`|[`*]+", r"\1", " ".join(block.split()))
            if len(plain) > 60 and plain[0].isupper() and plain.endswith("."):
                paragraphs.append(plain[:400])
    return paragraphs


def _chatterbot(folder: Path) -> list[str]:
    files = sorted(folder.rglob("chatterbot_corpus/data/english/*.yml"))
    said = (line.strip() for path in files for line in _lines(path))
    return [line.strip("- ") for line in said if line.startswith("- ")]


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf8").splitlines() if len(line.strip()) > 5]


def _joined(texts: list[str], chance: random.Random, *, count: int) -> list[str]:
    """Longer turns: two to four texts one after the other, said by somebody."""
    if not texts:
        return []
    return [
        f"{chance.choice(NAMES)}: " + " ".join(chance.choice(texts) for _ in range(chance.randint(2, 4)))
        for _ in range(count)
    ]


def _shuffled(texts: list[str], chance: random.Random) -> list[str]:
    unique = sorted({text for text in texts if text.strip()})
    chance.shuffle(unique)
    return unique
