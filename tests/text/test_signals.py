from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.axes import CATEGORIES
from engram.text import lexicon
from engram.text.signals import FILES, MASK, Level, Signal, level_of, masked, signals

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
RULES = [(name, heading) for name in FILES for heading in lexicon.headings(name) if heading]


def matches(text: str, heading: str) -> list[Signal]:
    level, category, title = heading.split(" ", 2)
    return [
        s for s in signals(text) if (s.level.name.lower(), s.category, s.name) == (level, category, title)
    ]


@pytest.mark.parametrize(("name", "heading"), RULES)
def test_every_rule_finds_its_examples_and_leaves_its_counter_examples(name: str, heading: str) -> None:
    good, bad = lexicon.examples(name, heading)

    assert heading.split()[1] in CATEGORIES
    assert good
    assert bad
    assert [text for text in good if not matches(text, heading)] == []
    assert [text for text in bad if matches(text, heading)] == []


@pytest.mark.parametrize("name", FILES)
def test_turning_away_early_changes_no_answer(name: str) -> None:
    import re

    for heading in lexicon.headings(name):
        texts = [text for rule in lexicon.headings(name) for text in lexicon.examples(name, rule)[0]]
        for pieces, row in lexicon.tests(name, heading):
            form = re.compile(row, re.IGNORECASE)
            for text in texts:
                if form.search(text) and pieces:
                    assert any(piece in text.lower() for piece in pieces), (heading, row[:60], text)
