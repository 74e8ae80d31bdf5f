"""Which namespace an older client stands in, by who it is and what it names."""

from __future__ import annotations

import pytest

from engram.errors import AccessDenied, InvalidInput
from engram.model.scope import Access, Role, Scope
from engram.server.caller import OWNER, Caller
from engram.server.compat.requests import named, standing
from tests.tables import every

WHOLE = Access()
"""A server opened as it usually is."""
WORK = Access(Scope("work"))
"""One that was opened for a namespace."""
REX = Caller("token:1", "rex", Access(Scope(agent="rex"), Role.AGENT))

EVE = Caller("token:2", "eve", Access(Scope("work"), Role.OWNER))


@every(
    ("caller", "root", "name", "in_default", "access"),
    [
        (OWNER, WHOLE, None, False, Access.everything()),
        (OWNER, WHOLE, None, True, Access(Scope("default"))),
        (OWNER, WHOLE, "work", False, Access(Scope("work"))),
        (OWNER, WORK, None, False, None),
        (OWNER, WORK, "work", False, None),
        (OWNER, WORK, None, True, None),
        (REX, WHOLE, None, False, REX.access),
        (REX, WHOLE, "default", False, REX.access),
        (REX, WHOLE, None, True, REX.access),
    ],
)
def test_everybody_stands_where_they_may(
    caller: Caller, root: Access, name: str | None, in_default: bool, access: Access | None
) -> None:
    assert standing(caller, root, name, in_default=in_default).access == access


@pytest.mark.parametrize(
    ("caller", "root", "name"), [(REX, WHOLE, "work"), (OWNER, WORK, "default"), (EVE, WHOLE, "default")]
)
@pytest.mark.parametrize("in_default", [False, True])
def test_nobody_stands_elsewhere(caller: Caller, root: Access, name: str, in_default: bool) -> None:
    with pytest.raises(AccessDenied):
        standing(caller, root, name, in_default=in_default)


def test_what_is_said_in_the_request_counts_before_the_header() -> None:
    assert named({"x-namespace": "header"}, {"namespace": "body"}) == "body"
    assert named({"x-namespace": ""}, {"ns": None}) is None
    with pytest.raises(InvalidInput):
        named({}, {"ns": 5})
    with pytest.raises(InvalidInput):
        named({}, {"ns": "x" * 500})
