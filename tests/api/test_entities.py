"""`memory.entities`: who and what is spoken of."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Access, Engram, Role, Scope
from engram.errors import AccessDenied, EmptyContent, InvalidInput, UnknownEntity, UnknownValue
from engram.testing import FakeClock, HashEmbedder


def names(memory: Engram, **asked: str) -> list[str]:
    return [entity.name for entity in memory.entities.list(**asked)]  # type: ignore[arg-type]


def test_a_profile_tells_what_is_known(memory: Engram, clock: FakeClock) -> None:
    memory.remember("Anna lives in Rome")
    clock.advance(days=2)
    memory.remember("Anna went to the zoo with Bob", importance=0.2)
    profile = memory.entities.get("ANNA")

    assert profile is not None
    assert (profile.entity.name, profile.entity.type, profile.entity.mentions) == ("Anna", "person", 2)
    assert profile.entity.last_seen == clock.now()
    assert [claim.fact.object for claim in profile.facts] == ["rome"]
    assert profile.memories[0].content == "Anna lives in Rome"
    assert ("Bob", 1) in profile.beside
    assert memory.entities.get("Nobody") is None


def test_a_name_that_means_only_one_is_understood(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")
    memory.remember("We deploy to Kubernetes")

    for name, meant in (("anna", "Anna Smith"), ("k8s", "Kubernetes"), ("Kuberentes", "Kubernetes")):
        profile = memory.entities.get(name)
        assert profile is not None, name
        assert profile.entity.name == meant
    assert memory.entities.timeline("anna")[0].what == "Anna Smith lives in Rome"


def test_entities_are_listed_by_type_and_by_beginning(memory: Engram) -> None:
    memory.remember("Anna went to the zoo with Bob")
    memory.remember("We deploy to Kubernetes")

    assert set(names(memory)) >= {"Anna", "Bob", "Kubernetes"}
    assert names(memory, type="technology") == ["Kubernetes"]
    assert names(memory, prefix="an") == ["Anna"]
    with pytest.raises(UnknownValue):
        memory.entities.list(type="planet")


def test_two_names_become_one_thing_and_two_again(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")
    memory.remember("Annie went to the zoo with Bob")
    merged = memory.entities.merge("Anna Smith", "Annie")

    assert (merged.name, merged.mentions) == ("Anna Smith", 2)
    assert {"anna smith", "annie"} <= set(merged.aliases)
    assert memory.entities.split("Annie") is not None
    parted = memory.entities.get("Anna Smith")
    assert parted is not None
    assert parted.entity.mentions == 1


def test_a_name_nobody_used_yet_can_be_given_and_taken_away(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")
    memory.entities.alias("Anna Smith", "the boss")

    profile = memory.entities.get("The Boss")
    assert profile is not None
    assert profile.entity.name == "Anna Smith"
    assert memory.entities.alias("Anna Smith", "the boss").name == "Anna Smith"
    assert memory.entities.split("the boss") is None
    assert memory.entities.get("the boss") is None


def test_what_makes_no_sense_is_refused(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")

    with pytest.raises(UnknownEntity):
        memory.entities.alias("Nobody", "Noone")
    with pytest.raises(UnknownEntity):
        memory.entities.merge("Anna Smith", "Nobody")
    with pytest.raises(InvalidInput, match="one entity already"):
        memory.entities.merge("Anna Smith", "anna smith")
    with pytest.raises(InvalidInput, match="own name"):
        memory.entities.split("Anna Smith")
    with pytest.raises(EmptyContent):
        memory.entities.get(" ")


def test_a_timeline_tells_how_knowledge_grew(memory: Engram, clock: FakeClock) -> None:
    memory.remember("Anna lives in Rome")
    clock.advance(days=1)
    memory.remember("Anna went to the zoo with Bob")
    clock.advance(days=1)
    memory.remember("Anna lives in Oslo")
    clock.advance(days=1)
    memory.remember("Anna lives in Oslo")

    steps = memory.entities.timeline("anna")
    assert [(step.kind.value, step.what) for step in steps] == [
        ("first mention", "Anna lives in Rome"),
        ("addition", "Anna went to the zoo with Bob"),
        ("correction", "Anna lives in Oslo"),
        ("reinforcement", "Anna lives in Oslo"),
    ]
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    assert len(memory.entities.timeline("anna", limit=2)) == 2
    with pytest.raises(UnknownEntity):
        memory.entities.timeline("Nobody")


def test_a_reader_may_look_but_not_name(memory: Engram, file: Path) -> None:
    memory.remember("Anna Smith lives in Rome")
    with Engram.open(file, access=Access(Scope(), Role.READER), embedder=HashEmbedder()) as reader:
        assert reader.entities.get("Anna Smith") is not None
        with pytest.raises(AccessDenied):
            reader.entities.alias("Anna Smith", "Annie")


def test_whom_one_may_not_see_is_nobody(memory: Engram, file: Path) -> None:
    memory.remember("Anna Smith lives in Rome", scope=Scope(project="apollo"))
    access = Access(Scope(project="gemini"), Role.AGENT)
    with Engram.open(file, access=access, embedder=HashEmbedder()) as other:
        assert other.entities.get("Anna Smith") is None
        assert other.entities.list() == []
