from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from engram.text.kinds import known, mentioned, vocabulary
from engram.text.names import cue_words, entities
from tests.tables import every


@every(
    ("text", "expected"),
    [
        ("Anna's birthday is May 3", {"Anna": "person"}),
        (
            "Yesterday we met Anna and Bob Smith in Berlin",
            {"Anna": "person", "Bob Smith": "person", "Berlin": "location"},
        ),
        ("On Monday I flew to New York", {"New York": "location"}),
        ("I work at Globex with Zelda", {"Globex": "organization", "Zelda": "person"}),
        ("Wow, Zelda!", {"Zelda": "person"}),
        ("Zelda said hi", {"Zelda": "person"}),
        ("Great idea. Thanks!", {}),
        ("Usually we use PostgreSQL 16", {"PostgreSQL": "technology"}),
        (
            "See foo/bar.py and .env in /etc/app/conf",
            {"foo/bar.py": "file", ".env": "file", "/etc/app/conf": "file"},
        ),
        ("Go to https://x.example/a?b=1.", {"https://x.example/a?b=1": "url"}),
        ("Write to a.b@c.example or @bob", {"a.b@c.example": "email", "@bob": "handle"}),
        ("v2.1.3 is out", {"v2.1.3": "version"}),
        ("李雷说他喜欢茶", {"李雷": "person"}),
        ("我用微信和vim", {"vim": "technology", "WeChat": "technology"}),
        ("", {}),
    ],
)
def test_names_are_found_with_their_types(text: str, expected: dict[str, str]) -> None:
    assert {entity.name: entity.type for entity in entities(text)} == expected


@every(
    ("text", "expected"),
    [
        ("I use VS Code and nvim with TypeScript/React", ["VS Code", "Neovim", "TypeScript", "React"]),
        ("C++ and C# vs Go.", ["C++", "C#", "Go"]),
        ("Node.js, ASP.NET and .NET Core", ["Node.js", "ASP.NET", ".NET"]),
        ("let's go, the rust is bad, I express myself", []),
        ("PL/SQL over HTTP/2", ["PL/SQL", "HTTP/2"]),
    ],
)
def test_technologies_are_known_by_name_and_alias(text: str, expected: list[str]) -> None:
    assert [tech.name for tech in mentioned(text)] == expected


def test_a_technology_serves_as_something() -> None:
    found = known("postgres")

    assert found is not None
    assert (found.name, found.group) == ("PostgreSQL", "database")
    assert len(vocabulary()) > 600


def test_cues_name_speaker_days_and_full_names() -> None:
    when = datetime(2023, 5, 8, 12, tzinfo=UTC)

    assert cue_words("I went yesterday, with postgres", speaker="Anna", when=when) == [
        "Anna",
        "2023-05-08",
        "8 May 2023",
        "Monday",
        "2023-05-07",
        "7 May 2023",
        "Sunday",
        "PostgreSQL",
    ]
    assert cue_words("tea") == []


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_can_be_searched_for_names(text: str) -> None:
    assert all(entity.name.strip() for entity in entities(text))
    assert isinstance(cue_words(text, when=datetime(2024, 1, 1, tzinfo=UTC)), list)


@every("when", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_ends_of_time_have_no_days_beyond(when: datetime) -> None:
    assert cue_words("yesterday and tomorrow", when=when)
