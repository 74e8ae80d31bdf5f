"""Who and what is spoken of: names become entities, go by several names, and go when nobody names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from engram.errors import NotFound
from engram.model.facts import Entity, Named
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import Findable, Store, Unit
from engram.testing import START
from tests.store.making import ALL, EVERYTHING, agent, change, contents, erase, found_by, make, put, view

HOUR = timedelta(hours=1)


def naming(content: str, *names: str | Named) -> Findable:
    """What a memory with these names is found by."""
    known = tuple(Named(name) if isinstance(name, str) else name for name in names)
    return replace(found_by(content), names=known)


def tell(store: Store, *names: str | Named, hour: float = 0, **fields: Any) -> Memory:
    """A memory that names these."""
    said = tuple(name if isinstance(name, str) else name.name for name in names)
    content = " met ".join(said)
    moment = START + hour * HOUR
    memory = make(content, **({"entities": said, "event_time": moment} | fields))
    return put(store, memory, findable=naming(content, *names))


def get(store: Store, name: str, access: Access = EVERYTHING) -> Entity:
    found = store.entities.get(name, access)
    assert found is not None
    return found


def shown(entities: Iterable[Entity]) -> list[str]:
    return [entity.name for entity in entities]


def join(store: Store, name: str, entity: Entity) -> None:
    store.write(lambda unit: unit.alias(name, entity), "tester")


def test_a_name_becomes_an_entity(store: Store) -> None:
    tell(store, Named("Ada", "person"), hour=1)
    entity = get(store, "ADA")
    assert entity == Entity("Ada", "default", "person", ("ada",), START + HOUR, START + HOUR, 1, entity.key)
    assert entity.key > 0
    assert store.entities.get("Bob", EVERYTHING) is None
    assert store.entities.get("", EVERYTHING) is None


def test_names_of_the_record_count_without_a_word_on_them(store: Store) -> None:
    put(store, make("Über uns", entities=("ÜBER", "上海")))
    assert get(store, "über").name == "ÜBER"
    assert get(store, "上海").type == "unknown"


def test_names_that_only_the_findable_has_count_too(store: Store) -> None:
    memory = put(store, make("She came"), findable=naming("She came", "Ada"))
    assert get(store, "ada").mentions == 1
    assert [m for _, m in store.entities.memories(get(store, "ada"), ALL, 9)] == [memory]


def test_an_entity_knows_when_it_was_seen(store: Store) -> None:
    for hour in (3, 1, 7, 5):
        tell(store, "Ada", hour=hour)
    ada = get(store, "ada")
    assert (ada.first_seen, ada.last_seen, ada.mentions) == (START + HOUR, START + 7 * HOUR, 4)


def test_a_type_is_learned_once(store: Store) -> None:
    for kind in ("unknown", "person", "place", "unknown"):
        tell(store, Named("Ada", kind))
    assert get(store, "ada").type == "person"


def test_a_name_is_linked_to_the_entity_it_was_found_to_be(store: Store) -> None:
    tell(store, Named("Ada Lovelace", "person"))
    tell(store, Named("Lovelace", canonical="ada LOVELACE"))
    tell(store, Named("Ada", canonical="nobody we know"))
    assert get(store, "lovelace").aliases == ("ada lovelace", "lovelace")
    assert get(store, "lovelace").name == "Ada Lovelace"
    assert get(store, "ada").aliases == ("ada",)


def test_a_known_name_stays_what_it_is(store: Store) -> None:
    tell(store, "Ada")
    tell(store, "Bob")
    tell(store, Named("Ada", canonical="Bob"))
    assert get(store, "ada").mentions == 2


def test_names_are_linked_inside_one_unit(store: Store) -> None:
    first, second = make("one", entities=("Ada Lovelace",)), make("two", entities=("Ada",))

    def work(unit: Unit) -> None:
        unit.add(first, naming("one", "Ada Lovelace"), None, "")
        unit.add(second, naming("two", Named("Ada", "person", "Ada Lovelace")), None, "")

    store.write(work, "tester")
    assert (get(store, "ada").aliases, get(store, "ada").mentions) == (("ada", "ada lovelace"), 2)
    assert get(store, "ada").type == "person"


def test_each_namespace_has_its_own_entities(store: Store) -> None:
    tell(store, Named("Ada", "person"))
    tell(store, Named("Ada", "technology"), scope=Scope("other"))
    assert get(store, "ada", Access(Scope())).type == "person"
    assert get(store, "ada", Access(Scope("other"))).type == "technology"
    assert get(store, "ada").namespace == "default"
    assert len(store.entities.among(["ada"], EVERYTHING)) == 2
    assert get(store, "ada", Access(Scope("other"))).mentions == 1


@pytest.mark.parametrize(
    ("access", "seen"),
    [
        (agent("rex"), {"Ada": 2, "Rover": 1}),
        (agent("tom"), {"Ada": 1}),
        (Access(Scope()), {"Ada": 3, "Rover": 1, "Kit": 1}),
        (Access(Scope("other"), Role.OWNER), {"Ada": 1}),
        (Access(Scope("none"), Role.OWNER), {}),
    ],
)
def test_nobody_sees_entities_of_memories_they_may_not_see(
    store: Store, access: Access, seen: dict[str, int]
) -> None:
    tell(store, "Ada")
    tell(store, "Ada", "Rover", scope=Scope(agent="rex"))
    tell(store, "Ada", "Kit", scope=Scope(agent="kim"))
    tell(store, "Ada", scope=Scope("other"))
    names = ["ada", "rover", "kit"]
    assert {one.name for one in store.entities.among(names, access)} == set(seen)
    assert {one.name: one.mentions for one in store.entities.page(access, 9)} == seen
    assert {name for name in ("Ada", "Rover", "Kit") if store.entities.get(name, access)} == set(seen)
    assert {name for name in ("Ada", "Rover", "Kit") if store.entities.like(name, access, 9)} == set(seen)


def test_a_page_shows_who_was_seen_last(store: Store) -> None:
    tell(store, Named("Ada", "person"), hour=2)
    tell(store, Named("Oslo", "location"), hour=3)
    tell(store, Named("Adam", "person"), hour=1)
    join(store, "Zoe", get(store, "oslo"))
    assert shown(store.entities.page(EVERYTHING, 9)) == ["Oslo", "Ada", "Adam"]
    assert shown(store.entities.page(EVERYTHING, 2)) == ["Oslo", "Ada"]
    assert shown(store.entities.page(EVERYTHING, 9, "person")) == ["Ada", "Adam"]
    assert shown(store.entities.page(EVERYTHING, 9, prefix="AD")) == ["Ada", "Adam"]
    assert shown(store.entities.page(EVERYTHING, 1, prefix="ad")) == ["Ada"]
    assert shown(store.entities.page(EVERYTHING, 9, prefix="z")) == ["Oslo"]
    assert shown(store.entities.page(EVERYTHING, 9, "person", "o")) == []
    assert shown(store.entities.page(EVERYTHING, 9, prefix="a%")) == []


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("Lovelace", ["Ada Lovelace"]),
        ("ada", ["Ada-Lab", "Ada Lovelace"]),
        ("Grace King", ["Ada Lovelace"]),
        ("Postgres", ["PostgreSQL"]),
        ("Postgersql", ["PostgreSQL"]),
        ("Post", []),
        ("Lab", ["Ada-Lab"]),
        ("Bob", []),
        ("%", []),
        ("", []),
    ],
)
def test_names_alike_share_a_word_or_differ_by_a_slip(store: Store, name: str, alike: list[str]) -> None:
    for hour, one in enumerate(("Ada Lovelace", "PostgreSQL", "Adam", "Ada-Lab")):
        tell(store, one, hour=hour)
    join(store, "Countess King", get(store, "ada lovelace"))
    assert shown(store.entities.like(name, EVERYTHING, 9)) == alike
    assert shown(store.entities.like(name, EVERYTHING, 1)) == alike[:1]


def test_a_question_names_its_entities(store: Store) -> None:
    tell(store, "Ada", hour=1)
    tell(store, "Oslo", hour=2)
    tell(store, "Bob", hour=3)
    join(store, "Countess", get(store, "ada"))
    assert shown(store.entities.among(["is", "OSLO", "countess", "ada"], EVERYTHING)) == [
        "Oslo",
        "Ada",
    ]
    assert store.entities.among([], EVERYTHING) == []


def test_memories_are_found_by_any_name_the_latest_happening_first(store: Store) -> None:
    tell(store, "Ada Lovelace", hour=2)
    tell(store, "Ada", "Ada Lovelace", hour=3)
    tell(store, "Ada", hour=1)
    tell(store, "Ada", scope=Scope("other"))
    tell(store, "Bob")
    join(store, "Ada", get(store, "ada lovelace"))
    ada = get(store, "ada")
    assert ada.mentions == 3
    assert contents(m for _, m in store.entities.memories(ada, ALL, 9)) == [
        "Ada met Ada Lovelace",
        "Ada Lovelace",
        "Ada",
    ]
    key, memory = store.entities.memories(ada, ALL, 1)[0]
    assert store.memories.read([key]) == {key: memory}
    assert store.entities.memories(ada, view(happened_until=START), 9) == []
    assert store.entities.memories(ada, view(Access(Scope("other"))), 9) == []


def test_two_names_become_one_entity(store: Store) -> None:
    tell(store, "Robert", hour=2)
    tell(store, Named("Bob", "person"), "Bobby", hour=1)
    join(store, "bobby", get(store, "bob"))
    join(store, "Bob", get(store, "robert"))
    robert = get(store, "bobby")
    assert (robert.name, robert.type, robert.aliases) == ("Robert", "person", ("bob", "bobby", "robert"))
    assert (robert.first_seen, robert.last_seen, robert.mentions) == (START + HOUR, START + 2 * HOUR, 2)
    assert len(store.entities.page(EVERYTHING, 9)) == 1
    tell(store, "Bob", hour=5)
    assert get(store, "robert").last_seen == START + 5 * HOUR


def test_an_alias_needs_an_entity(store: Store) -> None:
    tell(store, "Ada")
    join(store, "Countess", Entity("ada"))
    assert get(store, "countess").aliases == ("ada", "countess")
    join(store, "Ada", get(store, "ada"))
    for nobody in (Entity("Bob"), Entity("Ada", "other"), Entity("Ada", key=999)):
        with pytest.raises(NotFound):
            join(store, "Bobby", nobody)


def test_a_name_stands_for_itself_again(store: Store) -> None:
    tell(store, Named("Ada", "person"), hour=1)
    tell(store, "ADA Lab", hour=2)
    join(store, "Ada Lab", get(store, "ada"))

    def split(name: str, namespace: str = "default") -> bool:
        return store.write(lambda unit: unit.split(name, namespace), "tester")

    assert [split("ada"), split("nobody"), split("ada lab", "other")] == [False, False, False]
    assert split("ada LAB")
    lab = get(store, "ada lab")
    assert (lab.name, lab.type, lab.aliases, lab.mentions) == ("ADA Lab", "unknown", ("ada lab",), 1)
    assert (lab.first_seen, lab.last_seen) == (START + 2 * HOUR, START + 2 * HOUR)
    assert get(store, "ada").aliases == ("ada",)
    assert not split("ada lab")
    tell(store, Named("Ada Lab", canonical="Ada"))
    assert get(store, "ada").mentions == 1


def test_an_entity_goes_with_the_last_memory_that_names_it(store: Store) -> None:
    one, two = tell(store, "Ada", "Oslo"), tell(store, "Ada")
    tell(store, "Oslo", scope=Scope("other"))
    join(store, "Countess", get(store, "ada"))
    erase(store, one)
    assert shown(store.entities.page(Access(Scope()), 9)) == ["Ada"]
    assert get(store, "countess").mentions == 1
    erase(store, two)
    assert store.entities.page(Access(Scope()), 9) == []
    tell(store, "Countess")
    assert get(store, "countess", Access(Scope())).aliases == ("countess",)


def test_a_name_that_nobody_uses_goes_though_its_entity_stays(store: Store) -> None:
    gone = tell(store, "Ada Lovelace")
    tell(store, "Ada")
    join(store, "Ada", get(store, "ada lovelace"))
    erase(store, gone)
    ada = get(store, "ada")
    assert (ada.name, ada.aliases, ada.mentions) == ("Ada", ("ada",), 1)
    assert store.entities.get("ada lovelace", EVERYTHING) is None
    assert shown(store.entities.like("Lovelace", EVERYTHING, 9)) == []


def test_new_words_bring_new_names(store: Store) -> None:
    memory = tell(store, "Ada", "Bob")
    kept = get(store, "bob").key
    new = replace(memory, content="Bob met Kim", entities=("Bob", "Kim"), version=2)
    change(store, new, findable=naming(new.content, "Bob", Named("Kim", "person")))
    assert sorted(shown(store.entities.page(EVERYTHING, 9))) == ["Bob", "Kim"]
    assert (get(store, "bob").key, get(store, "kim").type) == (kept, "person")
    change(store, replace(new, entities=("Kim",)))
    assert shown(store.entities.page(EVERYTHING, 9)) == ["Kim"]
    change(store, replace(new, entities=("Kim",), tags=("x",)))
    assert shown(store.entities.page(EVERYTHING, 9)) == ["Kim"]


def test_names_move_to_another_namespace_with_their_memory(store: Store) -> None:
    memory = tell(store, "Ada")
    change(store, replace(memory, scope=Scope("other")))
    assert store.entities.get("ada", Access(Scope())) is None
    assert get(store, "ada", Access(Scope("other"))).name == "Ada"


def test_the_filter_finds_a_memory_by_any_name_of_the_entity(store: Store) -> None:
    tell(store, "Robert")
    tell(store, "Bob", "Kim")
    tell(store, "Bob", scope=Scope("other"))
    join(store, "Bob", get(store, "robert", Access(Scope())))
    join(store, "Boss", get(store, "bob", Access(Scope())))
    for name, found in (("BOSS", {"Robert", "Bob met Kim"}), ("kim", {"Bob met Kim"}), ("x", set())):
        seen = view(entities=frozenset({name}))
        assert set(contents(store.memories.page(seen, 9))) == found
        keys = store.memories.select(seen, 9)
        assert keys is not None
        assert store.memories.allow(seen, range(1, 9)) == set(keys.tolist())
    assert len(store.memories.page(view(entities=frozenset({"robert"})), 9)) == 2
    assert len(store.memories.page(view(entities=frozenset({"bob"})), 9)) == 3


def test_names_are_data(store: Store) -> None:
    for name in ("' OR 1=1 --", "%", "_", '"', "a\tb", "\\"):
        tell(store, name)
        assert get(store, name).mentions == 1


def test_many_mentions_are_counted_up_to_a_thousand(store: Store) -> None:
    memories = [make(f"number {n}", entities=("Ada",)) for n in range(1_003)]

    def work(unit: Unit) -> None:
        for memory in memories:
            unit.add(memory, found_by(memory.content), None, "")

    store.write(work, "tester")
    assert get(store, "ada").mentions == 1_000
