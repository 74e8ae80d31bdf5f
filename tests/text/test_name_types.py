"""What a name names: lists, the words around it, its own words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text import names
from engram.text.names import entities, service_of, type_of
from tests.tables import every


@every(
    ("text", "expected"),
    [
        (
            "Maria works at Initech in Munich",
            {"Maria": "person", "Initech": "organization", "Munich": "location"},
        ),
        ("I talked to Zelda about project Apollo", {"Zelda": "person", "Apollo": "project"}),
        ("We visited Paris and Lyon", {"Paris": "location", "Lyon": "location"}),
        ("We stayed in Xanadu and Wakanda", {"Xanadu": "location", "Wakanda": "location"}),
        ("Berlin is cold in winter", {"Berlin": "location"}),
        ("Apple pie is great", {}),
        ("I ordered it from Amazon", {"Amazon": "organization"}),
        ("Turkey sandwiches are good", {}),
        ("Tim Cook runs Apple", {"Tim Cook": "person", "Apple": "organization"}),
        ("The Hermes repo is private", {"Hermes": "project"}),
        ("I am working on Hermes", {"Hermes": "project"}),
        ("Dr. Strangelove was there", {"Dr. Strangelove": "person"}),
        ("My sister Zelda lives in Wakanda", {"Zelda": "person", "Wakanda": "location"}),
        ("Zelda Fitzgerald is my neighbour", {"Zelda Fitzgerald": "person"}),
        ("He graduated from Miskatonic University", {"Miskatonic University": "organization"}),
        ("She studied at Oxford", {"Oxford": "organization"}),
        ("I was in Oxford", {"Oxford": "location"}),
        ("I listened to Zelda", {"Zelda": "person"}),
        ("Jordan likes tea", {"Jordan": "person"}),
        ("We flew to Jordan", {"Jordan": "location"}),
        ("We went to Victoria Park", {"Victoria Park": "location"}),
        ("Contact Zelda about it", {"Zelda": "person"}),
        ("Our Kestrel service is slow", {"Kestrel": "service"}),
        ("the Billing API is down", {"Billing API": "service"}),
        ("We wrote it with the Foobar library", {"Foobar": "technology"}),
        ("the Pareto Principle says so", {"Pareto Principle": "concept"}),
        ("tagged #music and #trip2024", {"#music": "concept", "#trip2024": "concept"}),
        ("Color #ff0000, #fff and issue #123", {}),
        ("Acme Corp announced layoffs", {"Acme Corp": "organization"}),
        ("Initech announced layoffs", {"Initech": "organization"}),
        ("We sailed on Lake Garda", {"Lake Garda": "location"}),
        ("Meeting with Zelda at Google HQ", {"Zelda": "person", "Google HQ": "organization"}),
        ("We admired the Frobnicator", {"Frobnicator": "unknown"}),
        (
            "See https://github.com/foo/bar",
            {"https://github.com/foo/bar": "url", "GitHub": "service"},
        ),
        ("我昨天和王小明去了北京大学", {"王小明": "person", "北京大学": "organization"}),
        ("毕业于东北大学，入职腾讯公司", {"东北大学": "organization", "腾讯公司": "organization"}),
        ("张医生说我很健康", {"张医生": "person"}),
        ("小李说他住在杭州", {"小李": "person", "杭州": "location"}),
        ("我跟欧阳修说过", {"欧阳修": "person"}),
        ("高兴的是周末去了", {}),
        ("我们公司在一家银行旁边", {}),
        ("大理石地板很滑", {}),
        ("她在华为工作，喜欢打篮球", {"华为": "organization"}),
    ],
)
def test_a_name_has_the_type_its_surroundings_tell(text: str, expected: dict[str, str]) -> None:
    assert {entity.name: entity.type for entity in entities(text)} == expected


@every(
    ("url", "service"),
    [
        ("https://docs.google.com/d/1", "Google Docs"),
        ("https://www.google.com/maps", "Google"),
        ("https://anna:pw@gitlab.com:443/x", "GitLab"),
        ("http://notgithub.com", ""),
        ("www.youtube.com/watch?v=1", "YouTube"),
        ("https://", ""),
    ],
)
def test_an_address_belongs_to_a_service_by_its_host(url: str, service: str) -> None:
    assert service_of(url) == service


@given(*[st.text(st.characters(exclude_categories=()), max_size=60)] * 3)
def test_any_name_anywhere_has_a_type(name: str, before: str, after: str) -> None:
    assert type_of(name, before, after)
    assert service_of(name) is not None
    assert all(found and type_ for found, type_ in names.names(before))


@given(st.text("王李张欧阳小老师在公司大学北京上海，。说的和 ", max_size=30))
def test_any_chinese_text_can_be_searched_for_names(text: str) -> None:
    assert all(entity.name.strip() and entity.type for entity in entities(text))


@every(
    "text",
    [
        "Music's amazing",
        "Running helps me",
        "Moments like these matter",
        "Networking plays a big role",
        "Hard work pays",
    ],
)
def test_a_plain_word_that_opens_a_sentence_is_no_name(text: str) -> None:
    assert entities(text) == []


def test_somebody_is_called_at_the_end_of_a_sentence() -> None:
    assert [entity.type for entity in entities("It was so good to see you again, Zelda!")] == ["person"]
