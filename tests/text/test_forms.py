from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.forms import key_fact, label, summary
from tests.tables import every

STORY = (
    "Hey, good to see you! What's new? Last week we moved the billing database from MySQL to PostgreSQL 16. "
    "It took the whole night. I am still tired, but the reports run twice as fast now."
)
CHINESE = (
    "我昨天去了北京，见到了老朋友李雷，我们一起吃了烤鸭。今天很累。"
    "明天要开会讨论新项目的预算，时间是下午三点，大家都要参加，请提前准备好材料。"
)


@every("text", ["My editor is vim", "我住在上海", "👍", "x"])
def test_a_short_text_is_its_own_form(text: str) -> None:
    assert summary(text) == key_fact(text) == label(text) == text


@every("text", [STORY, CHINESE])
def test_forms_get_shorter_step_by_step(text: str) -> None:
    assert len(text) > len(summary(text)) >= len(key_fact(text)) >= len(label(text))


def test_the_telling_sentence_survives() -> None:
    assert "PostgreSQL 16" in summary(STORY)
    assert "PostgreSQL 16" in key_fact(STORY)
    assert 2 <= len(label(STORY).split()) <= 6
    assert "?" not in summary(STORY)


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_no_form_is_longer_than_its_text(text: str) -> None:
    for form in (summary(text), key_fact(text), label(text)):
        assert len(form) <= len(text.strip())
        assert bool(form) == bool(text.strip())
