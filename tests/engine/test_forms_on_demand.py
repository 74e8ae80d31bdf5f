"""Shorter forms are not kept in the file: they are worked out from the content when somebody asks."""

from __future__ import annotations

import pickle

from engram import Engram
from engram.model.memory import Forms
from engram.rules.archival import as_it_was
from engram.text import forms

LONG = (
    "We moved the database to PostgreSQL 16 over the weekend because of the new planner. "
    "Thanks to everybody who helped. The old server stays for another month."
)


def test_a_memory_that_was_read_has_its_shorter_forms(memory: Engram) -> None:
    kept = memory.remember(LONG).memory
    (read,) = memory.list()

    assert read is not None
    assert read.forms.summary == forms.summary(LONG)
    assert read.forms.key_fact == forms.key_fact(LONG)
    assert read.forms.label == forms.label(LONG)
    assert 0 < read.forms.label_tokens < read.forms.content_tokens
    assert read.forms == kept.forms


def test_forms_on_demand_equal_those_that_are_spelled_out() -> None:
    told = forms.FormsOnDemand("Anna uses Helix.")
    spelled = Forms(*(getattr(told, name) for name in Forms.__dataclass_fields__))

    assert told == spelled
    assert told != Forms()
    assert pickle.loads(pickle.dumps(told)) == told


def test_other_words_have_other_forms(memory: Engram) -> None:
    kept = memory.remember("Anna uses Helix.").memory
    changed = memory.update(kept.id, content="Anna uses Emacs.")

    assert changed.forms.label == forms.label("Anna uses Emacs.")


def test_a_history_keeps_the_words_and_no_forms_of_them(memory: Engram) -> None:
    kept = memory.remember("Anna uses Helix.").memory
    changed = memory.update(kept.id, content="Anna uses Emacs.")
    event = memory.events(kept.id)[0]
    then = as_it_was(changed, event.before, kept.created_at)

    assert "content" in event.before
    assert "forms" not in event.before
    assert then is not None
    assert (then.content, then.forms.label) == ("Anna uses Helix.", forms.label("Anna uses Helix."))
