"""Wording: memories, the most telling first, come in; few words for all of them come out, and whose they are.

Without a model the words are cut from the memories themselves. A model is asked where one may always be
(`llm.level` full), only so many times a run, and its words stand only if the memories bear them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known
from engram.maintain.sketching import in_words
from engram.text.words import content_words

STEP: Final = "tree"
TOLD: Final = 3
"""Memories whose words stand for a cluster."""
SHOWN: Final = 12
"""Memories of a cluster that a model is shown."""
LOOKED_AT: Final = 30
ALIKE: Final = 0.5
"""Two statements that share so many of their words say the same."""
COMMON: Final = 0.4
"""A topic that so many of the memories have names them all."""
LINE: Final = 160
"""Characters of one statement."""
CLUSTER_WORDS, DOMAIN_WORDS = 40, 25
DOMAIN_BRANCHES: Final = 3


def telling(room: Room, members: Sequence[Known]) -> tuple[str, list[str]]:
    """What a cluster comes to, and the memories whose words that is."""
    looked_at = _telling_first(members)
    asked = looked_at[:SHOWN]
    told = [one.statement for one in asked]
    written = in_words(room, STEP, told, CLUSTER_WORDS) if len(asked) > TOLD else None
    if written is not None:
        return written, [one.id for one in asked]
    chosen: list[Known] = []
    for one in looked_at:
        if len(chosen) < TOLD and not any(_alike(one.text, other.text) for other in chosen):
            chosen.append(one)
    return "; ".join(_line(one.statement) for one in chosen), [one.id for one in chosen]


def _telling_first(members: Sequence[Known]) -> list[Known]:
    """Those that say something by themselves; all of them when none does."""
    some = [one for one in members[:LOOKED_AT] if one.tells]
    return some or list(members[:TOLD])


def title_of(members: Sequence[Known]) -> str:
    """The topic that many have, or the label of the most telling one."""
    return topic_of(members) or next((one.label for one in _telling_first(members)), "")


def topic_of(members: Sequence[Known]) -> str:
    """The topic that many of the memories have; empty when none is so common."""
    topics = Counter(topic for one in members for topic in one.topics)
    if not topics:
        return ""
    topic, count = min(topics.items(), key=lambda pair: (-pair[1], pair[0]))
    return topic if count >= COMMON * len(members) else ""


def domain_text(
    room: Room, title: str, branches: Sequence[tuple[str, Sequence[str]]]
) -> tuple[str, list[str]]:
    """One sentence for a domain: its title and what its largest clusters begin with."""
    largest = branches[:DOMAIN_BRANCHES]
    told = [id_ for _, ids in largest for id_ in ids]
    written = in_words(room, STEP, [text for text, _ in largest], DOMAIN_WORDS) if len(largest) > 1 else None
    if written is not None:
        return written, told
    firsts = [text.partition("; ")[0] for text, _ in largest]
    return f"{title}: {'; '.join(firsts)}", [ids[0] for _, ids in largest if ids]


def paragraph(room: Room, domains: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Everything in a few sentences, the largest domains first, within the tokens that it may have."""
    room_for = room.tools.config.knowledge.tree_tokens
    told = [id_ for one in domains for id_ in one["told"]]
    written = in_words(room, STEP, [one["text"] for one in domains[:SHOWN]], room_for // 2)
    if written is not None and room.tools.count_tokens(written) <= room_for:
        return written, told
    text = ""
    used: list[str] = []
    for one in domains:
        noun = "memory" if one["memories"] == 1 else "memories"
        longer = f"{text} {one['memories']} {noun} about {one['text']}.".strip()
        if room.tools.count_tokens(longer) > room_for:
            break
        text, used = longer, [*used, *one["told"]]
    return text, used


def _alike(one: str, other: str) -> bool:
    mine, theirs = content_words(one), content_words(other)
    return len(mine & theirs) >= ALIKE * max(1, min(len(mine), len(theirs)))


def _line(text: str) -> str:
    """A statement on one line, without its full stop."""
    flat = " ".join(text.split())
    if len(flat) > LINE:
        flat = flat[:LINE].rsplit(" ", 1)[0] + " …"
    return flat.rstrip(".")
