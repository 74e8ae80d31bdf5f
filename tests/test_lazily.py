"""A dataclass of ours behaves as that of the standard library; its beginning is written when it is needed."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any, ClassVar

import pytest

from engram.lazily import dataclass, replace
from tests.tables import every


class _Fields:
    """What the two are made of."""

    kind: ClassVar[str] = "tea"
    name: str
    size: int = 1
    tags: list[str] = field(default_factory=list, compare=False)
    hidden: int = field(default=7, init=False, repr=False)
    made: dict[str, int] = field(default_factory=dict, init=False, hash=False)

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(self.size)


OPTIONS: list[dict[str, bool]] = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
]


def _made(maker: Any, **options: bool) -> Any:
    body = {name: value for name, value in vars(_Fields).items() if name not in {"__dict__", "__weakref__"}}
    return maker(**options)(type("Cup", (), {**body, "__qualname__": "Cup"}))


def _refusals(made: Any) -> list[Any]:
    calls = (made, lambda: made("a", sice=1), lambda: made("a", -1), lambda: made("a", name="b"))
    return [_tried(call) for call in calls]


def _tried(call: Any) -> Any:
    try:
        return call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)


@every("options", OPTIONS)
def test_it_does_what_the_one_of_the_standard_library_does(options: dict[str, bool]) -> None:
    told = []
    for maker in (dataclass, dataclasses.dataclass):
        made = _made(maker, **options)
        cup = made("a", 2, ["x"])
        cups = [made("a", size=size) for size in range(3)]
        told.append(
            [
                repr([cup, *cups]),
                cup == made("a", 2, ["other"]),
                cup == made("b", 2, ["x"]),
                cup != "a",
                _tried(lambda cup=cup, made=made: hash(cup) == hash(made("a", 2))),
                repr(replace(cup, size=5)),
                repr(dataclasses.replace(cup, size=5)),
                _tried(lambda cup=cup: replace(cup, sice=5)),
                _tried(lambda cup=cup: replace(cup, size=-1)),
                dataclasses.astuple(cup),
                repr(copy.copy(cup)),
                repr(copy.deepcopy(cup)),
                (cup.hidden, cup.made, cup.kind),
                made.__match_args__,
                hasattr(cup, "__dict__"),
                _refusals(made),
                _refusals(_made(maker, **options)),  # of which none was made before
                _tried(lambda cup=cup: setattr(cup, "size", 3)),
                _tried(lambda cup=cup: delattr(cup, "name")),
                made.__dataclass_params__.frozen,
            ]
        )
    assert told[0] == told[1]


@dataclass(frozen=True, slots=True)
class Place:
    """Something to pickle."""

    name: str
    floor: int = 0


@dataclass(frozen=True, slots=True)
class Cellar(Place):
    """One that has its fields from another."""

    floor: int = -1
    damp: bool = True


def test_a_changed_one_is_like_that_of_the_standard_library_and_found_as_before() -> None:
    one, held = Cellar("wine"), {Place("attic"): 1, Cellar("wine"): 2}
    assert replace(one, damp=False) == dataclasses.replace(one, damp=False) == Cellar("wine", damp=False)
    assert [held[Place("attic")], held[replace(one, damp=True)], Cellar("coal") in held] == [1, 2, False]
    with pytest.raises(TypeError, match="begins with no field 'dump'"):
        replace(one, dump=True)


def test_it_is_pickled_and_inherited() -> None:
    for one in (Place("attic", 2), Cellar("wine")):
        assert pickle.loads(pickle.dumps(one)) == one
    assert repr(Cellar("wine")) == "Cellar(name='wine', floor=-1, damp=True)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cellar("wine").name = "coal"  # type: ignore[misc]


def test_its_beginning_is_written_when_the_first_is_made() -> None:
    made = _made(dataclass, frozen=True, slots=True)
    before, names = made.__init__, ["a", "b"]
    assert [made(name).name for name in names] == names
    assert made.__init__ is not before
    before(fresh := made.__new__(made), "b")  # whoever kept the old one is served as well
    assert fresh.name == "b"
