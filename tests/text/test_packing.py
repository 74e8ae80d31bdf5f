"""Whatever is packed fits; what must be there is there; more room never shows less of the best."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.tokens import Parcel, pack


@st.composite
def parcels(draw: st.DrawFn) -> list[Parcel]:
    made = []
    for _ in range(draw(st.integers(0, 12))):
        costs = sorted(draw(st.lists(st.integers(1, 200), min_size=1, max_size=4, unique=True)), reverse=True)
        made.append(Parcel(draw(st.floats(0, 1)), tuple(costs), needed=draw(st.integers(0, 4)) == 0))
    return made


def spent(given_parcels: list[Parcel], chosen: list[int | None]) -> int:
    return sum(one.costs[form] for one, form in zip(given_parcels, chosen, strict=True) if form is not None)


@given(parcels(), st.integers(0, 600), st.integers(0, 12))
def test_what_is_packed_fits_and_comes_out_the_same_again(
    given_parcels: list[Parcel], room: int, most: int
) -> None:
    chosen = pack(given_parcels, room, most)

    assert spent(given_parcels, chosen) <= room
    needed = sum(one.needed for one in given_parcels)
    assert sum(form is not None for form in chosen) <= max(most, needed)
    assert chosen == pack(given_parcels, room, most)


@given(parcels(), st.integers(0, 600))
def test_what_must_be_there_is_there_when_its_shortest_form_fits(
    given_parcels: list[Parcel], room: int
) -> None:
    chosen = pack(given_parcels, room)

    if sum(min(one.costs) for one in given_parcels if one.needed) <= room:
        assert all(form is not None for one, form in zip(given_parcels, chosen, strict=True) if one.needed)


@given(parcels(), st.integers(0, 500), st.integers(0, 100))
def test_more_room_never_shows_less_of_the_best(given_parcels: list[Parcel], room: int, more: int) -> None:
    if not given_parcels:
        return
    before, after = pack(given_parcels, room)[0], pack(given_parcels, room + more)[0]

    assert before is None or (after is not None and after <= before)


@given(st.lists(st.integers(4, 20), min_size=60, max_size=80), st.integers(100, 400))
def test_room_is_used_when_there_is_enough_to_say(costs: list[int], room: int) -> None:
    many = [Parcel(1 / (at + 1), (cost, cost // 2, cost // 4)) for at, cost in enumerate(costs)]

    assert spent(many, pack(many, room)) >= 0.95 * min(room, sum(costs))


def test_a_thing_gets_shorter_before_it_is_left_out() -> None:
    alike = [Parcel(1.0, (50, 20, 10, 4))] * 4

    assert pack(alike, 70) == [0, 2, 3, 3]
    assert pack(alike, 56) == [0, 3, None, None]
