"""The place: which namespace an older client speaks of, and who it is there.

Those clients name a namespace in a header, the address or the body. The owner of the file may name any; who
comes with a token stands where the token says, and may only name that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engram.capture import screen
from engram.errors import AccessDenied, WrongType
from engram.model.scope import DEFAULT_NAMESPACE, Access, Role, Scope
from engram.server.caller import Caller

HEADERS = ("x-namespace", "x-engram-namespace")
NAMES = ("ns", "namespace")


def named(headers: Mapping[str, str], given: Mapping[str, Any]) -> str | None:
    """The namespace a request names; None when it names none.

    >>> named({"x-namespace": "work"}, {}), named({}, {"ns": "home"}), named({}, {})
    ('work', 'home', None)
    """
    told = [given.get(name) for name in NAMES] + [headers.get(name) for name in HEADERS]
    for one in told:
        if one is None or one == "":
            continue
        if not isinstance(one, str):
            raise WrongType("namespace", one, "text")
        screen.name("namespace", one)
        return one
    return None


def standing(caller: Caller, root: Access, namespace: str | None, *, in_default: bool = False) -> Caller:
    """The caller, standing in that namespace; without one, over all of them, or in the default one."""
    if caller.access is None and root.scope == Scope() and root.role is Role.OWNER:
        if in_default and namespace is None:
            namespace = DEFAULT_NAMESPACE
        access = Access.everything() if namespace is None else Access(Scope(namespace=namespace))
        return replace(caller, access=access)
    if namespace in (None, (caller.access or root).scope.namespace):
        return caller
    raise AccessDenied(f"look into the namespace {namespace!r}")
