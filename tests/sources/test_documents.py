from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from engram.capture.sources import documents
from engram.capture.sources.take import statements
from engram.model.capture import Item
from tests.tables import every

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

NOTES = """---
title: House notes
tags: [home, "d i y"]
date: 2024-05-01
---
Intro before any heading.

# Kitchen

The oven is **electric** and heats to
250 degrees.

- bread needs [strong flour](https://x.example/flour)
- [x] the knife was sharpened
  by Maya
1. numbered too

```python
secret = "never a memory"
```

## Bills

| supplier | due | note |
|----------|:---:|------|
| Water co | 5th | a \\| b |

Garden
------

> Roses are cut in March.
<!-- a comment
over lines -->
![a picture](rose.png)
"""


def test_a_markdown_document_gives_a_passage_a_paragraph_item_and_row() -> None:
    items = list(documents.read_markdown(NOTES, "file:notes.md"))

    assert [(item.details.get("heading", ""), item.text) for item in items] == [
        ("", "Intro before any heading."),
        ("Kitchen", "The oven is electric and heats to 250 degrees."),
        ("Kitchen", "bread needs strong flour"),
        ("Kitchen", "the knife was sharpened by Maya"),
        ("Kitchen", "numbered too"),
        ("Kitchen › Bills", "supplier: Water co · due: 5th · note: a | b"),
        ("Kitchen › Garden", "Roses are cut in March."),
    ]


def test_front_matter_gives_title_tags_and_date() -> None:
    item = next(iter(documents.read_markdown(NOTES, "file:notes.md")))

    assert (item.title, item.tags) == ("House notes", ("home", "d i y"))
    assert item.at == datetime(2024, 5, 1, tzinfo=UTC)


def test_each_passage_has_a_place_of_its_own() -> None:
    origins = [item.origin for item in documents.read_markdown("# A\none\n\ntwo\n# A\nthree", "file:x")]

    assert origins == ["file:x#A/1", "file:x#A/2", "file:x#A/3"]


def test_plain_text_gives_paragraphs_and_cuts_long_ones_between_sentences() -> None:
    sentence = "The quick brown fox jumps over the lazy dog. "
    first, *rest = documents.read_plain("One thing.\n\n" + sentence * 60, "file:x", title="x.txt")

    assert first.text == "One thing."
    assert len(rest) == 3
    assert all(len(item.text) <= documents.PASSAGE_LENGTH and item.text.endswith(".") for item in rest)


@given(st.text(max_size=400))
def test_any_text_is_read_without_complaint_and_with_unique_origins(text: str) -> None:
    for read in (documents.read_markdown, documents.read_plain):
        origins = [item.origin for item in read(text, "file:x")]
        assert len(set(origins)) == len(origins)


def drafts(text: str, **fields: object) -> list[str]:
    made, _ = statements(Item("x", text, **fields))  # type: ignore[arg-type]
    return [draft.content for draft in made]


def test_a_passage_is_kept_word_for_word() -> None:
    words = "I live in Rome. My sister is a doctor. We met yesterday in Rome."
    assert drafts(words, at=NOW) == [words]


def test_a_sentence_that_only_goes_on_stays_with_the_one_before() -> None:
    assert len(drafts("Bread needs flour and water. Let it rest for 20 minutes.")) == 1


def test_a_short_item_takes_its_heading_along() -> None:
    assert drafts("port 8443", details={"heading": "Servers › heron"}) == ["heron: port 8443"]


def test_dates_are_resolved_only_when_the_document_is_dated() -> None:
    (dated,), _ = statements(Item("x", "I met Anna yesterday.", at=NOW))
    (undated,), _ = statements(Item("x", "I met Anna yesterday."))

    assert dated.details["dates"] == {"yesterday": "28 February 2026"}
    assert "dates" not in undated.details


@every(
    ("text", "why"),
    [
        ("Thanks so much!", "filler"),
        ("2024-05-01 12:00:03 ERROR db: timeout", "log"),
        ("x" * 100_000, "data, not prose"),
        ("   ", "empty"),
    ],
)
def test_what_says_nothing_is_dropped_with_a_reason(text: str, why: str) -> None:
    assert statements(Item("x", text)) == ([], why)


def test_a_statement_is_found_by_its_heading_too() -> None:
    made, _ = statements(Item("x", "The SQLite file holds everything.", details={"heading": "Truth"}))

    assert made[0].details["context"] == "Truth"
