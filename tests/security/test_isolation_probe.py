"""Thousands of questions by everybody about everybody, through every door: nobody is told what is not theirs.

Each place holds a secret word and memories, facts, names, turns, promises, sessions and what maintenance made
of them. Callers of every role and place then ask for what others hold: by their names, their ids, their
sessions, and by naming their places. What comes back may hold only secrets and ids of places that the rule,
written down here once more, lets the caller see. Verbs, routes and tools are taken from their own tables, so
that a new one is probed as soon as it is there.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from engram import Engram
from engram.config import ProxyConfig, ServerConfig
from engram.errors import EngramError
from engram.model.memory import ANY_STATUS
from engram.model.plain import plain
from engram.model.scope import Access, Role, Scope
from engram.operations.values import Parameter
from engram.server.app import build
from engram.server.caller import caller_from
from engram.server.compat.serving import ROUTES as OLD_ROUTES
from engram.server.host import MemoryHost
from engram.server.mcp.serving import mount
from engram.server.mcp.tools import FULL, Action, ToolDispatcher
from engram.server.proxy import mounting as proxy
from engram.server.route import ROUTES, Route, feed
from engram.testing import FakeClock, HashEmbedder, ScriptedServer
from engram.testing.model_server import says

pytestmark = pytest.mark.slow

SEED = 20_260_301
PROBES = {
    "library": 2_600,
    "/v1": 1_500,
    "mcp": 900,
    "old": 600,
    "mcp over http": 60,
    "stream": 80,
    "proxy": 80,
}
FEWEST = 5_000
LISTENED_S = 3.0
CONFIG = {"limits.recalls_a_minute": 0, "limits.recalls_a_session": 0}

SCOPES = [
    *(Scope(namespace) for namespace in ("default", "alpha", "beta")),
    *(Scope(namespace, user=user) for namespace, user in product(("default", "alpha"), ("u1", "u2"))),
    *(Scope(namespace, "p1") for namespace in ("alpha", "beta")),
    Scope("alpha", "p2"),
    Scope("alpha", agent="rex"),
    Scope("alpha", "p1", "s1"),
    Scope("alpha", "p1", "s1", "rex"),
    Scope("alpha", "p1", agent="ada"),
    Scope("alpha", "p1", user="u1"),
    Scope("alpha", channel="c1", user="u1"),
    Scope("alpha", "p1", "s1", "rex", "c1", "u1"),
    Scope("beta", "p1", user="u1"),
]

SECRET = re.compile(r"zyl([a-z])wort")
ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
IN_PATH = re.compile(r"{(\w+)(?::\w+)?}")
FILES = ("recall", "recall/explain", "search", "lcm/search")
READING = frozenset({"/recall", *(f"/engram/v1/{one}" for one in FILES)})
"""Old routes that read although they are posted to."""


def letter(number: int) -> str:
    return chr(ord("a") + number)


@dataclass
class Kept:
    """What one place holds, and what it can be asked for by."""

    scope: Scope
    number: int
    ids: list[str] = field(default_factory=list)
    triggers: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"Bron{letter(self.number)} Talvi{letter(self.number)}"

    @property
    def secret(self) -> str:
        return f"zyl{letter(self.number)}wort"

    @property
    def session(self) -> str:
        return f"talk-{letter(self.number)}"


@dataclass
class World:
    """A file that many share."""

    whole: Engram
    places: list[Kept]
    runs: list[str]
    of_id: dict[str, Scope] = field(default_factory=dict)

    def leaks(self, answer: Any, asker: Access, named: Scope | None, given: str) -> list[str]:
        """What an answer tells that this caller, looking from there, may not know."""
        text = answer if isinstance(answer, str) else json.dumps(plain(answer), default=str)
        told = [("a secret", self.places[ord(one) - ord("a")].scope) for one in SECRET.findall(text.lower())]
        told += [(one, self.of_id[one]) for one in ID.findall(text) if one in self.of_id and one not in given]
        return [f"{what} of {scope}" for what, scope in told if not may_know(asker, named, scope)]


def seen_from(scope: Scope, place: Scope, *, below: bool) -> bool:
    """The rule once more: one's own place, what stands above it, and for some what lies below."""
    pairs = [*zip(scope.parts[1:], place.parts[1:], strict=True)]
    above = all(mine in ("", theirs) for mine, theirs in pairs)
    under = all(theirs in ("", mine) for mine, theirs in pairs)
    return scope.namespace == place.namespace and (above or (below and under))


def may_know(asker: Access, named: Scope | None, scope: Scope) -> bool:
    if asker.all_namespaces:
        below = True
        return named is None or seen_from(scope, named, below=below)
    below = asker.role is Role.OWNER or (asker.role is Role.ORCHESTRATOR and bool(asker.scope.project))
    if not seen_from(scope, asker.scope, below=below):
        return False
    if named is None:
        return True
    there = asker.role is Role.OWNER or (asker.role is Role.ORCHESTRATOR and bool(named.project))
    return seen_from(scope, named, below=there)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    file = tmp_path_factory.mktemp("probe") / "shared.db"
    with opened(file, Access.everything()) as whole:
        places = [kept(whole, scope, number) for number, scope in enumerate(SCOPES)]
        runs = [whole.consolidate().run.id, whole.dream().run.id]
        world = World(whole, places, runs)
        for one in places:
            seen = whole.list(filters=ANY_STATUS, limit=1_000, scope=one.scope).memories
            one.ids = [memory.id for memory in seen if memory.scope == one.scope]
            world.of_id.update((id_, one.scope) for id_ in one.ids)
        yield world


def opened(file: Path, access: Access | None = None) -> Engram:
    return Engram.open(
        file, embedder=HashEmbedder(), clock=FakeClock(), config=CONFIG, access=access or Access()
    )


def kept(whole: Engram, scope: Scope, number: int) -> Kept:
    """Put something of every kind into a place."""
    one = Kept(scope, number)
    owner = whole.seen_by(Access(scope), one.name)
    name, secret = one.name, one.secret
    first = owner.remember(f"{name} keeps the key {secret} in the old tea house", scope=scope, tags=["tea"])
    other = owner.remember(f"{name} lives in {secret.capitalize()}", scope=scope)
    gone = owner.remember(f"{name} painted the {secret} door green", scope=scope)
    owner.relate(first.memory.id, other.memory.id)
    owner.forget(gone.memory.id)
    owner.observe(
        f"I'm {name} and I work at {secret.capitalize()}. I drink tea.", session=one.session, scope=scope
    )
    owner.flush(scope=scope)
    owner.commitments.open(f"{name} promises to send the {secret} letter", scope=scope)
    owner.bus.publish(first.memory.id)
    one.triggers = [owner.triggers.add([name], [f"entity:{name}"], scope=scope).id]
    with owner.session(id=one.session, scope=scope) as talk, talk.turn(f"Where is the {secret} key?") as turn:
        turn.answer(f"In {secret}.")
    owner.recall("Where is Somebody Unknown?")
    owner.settle()
    return one


def callers() -> list[Access]:
    return [Access(scope, role) for scope, role in product(SCOPES, Role)]


@dataclass
class Tally:
    """How many probes were answered, and what leaked."""

    answered: Counter[str] = field(default_factory=Counter)
    told: int = 0
    leaks: list[str] = field(default_factory=list)

    def note(self, door: str, what: str, leaks: Sequence[str], answer: str) -> None:
        self.answered[door] += 1
        self.told += bool(SECRET.search(answer.lower()))
        self.leaks += [f"{door} {what}: {leak}" for leak in leaks]


def question_about(target: Kept, chance: random.Random) -> str:
    return chance.choice(
        [
            f"Where does {target.name} live?",
            f"What does {target.name} keep in the old tea house?",
            "tea house key",
            "What was promised?",
            target.name,
        ]
    )


def value_for(name: str, target: Kept, world: World, chance: random.Random) -> Any:
    """What is asked for under a name; None: nothing."""
    asked = {
        "query": question_about(target, chance),
        "memory_id": chance.choice(target.ids),
        "name": target.name,
        "session": target.session,
        "run_id": chance.choice(world.runs),
        "trigger_id": target.triggers[0],
        "gap_id": "g1",
        "predicate": None,
        "limit": 50,
    }
    same = {
        **dict.fromkeys(("q", "question", "message", "text"), "query"),
        **dict.fromkeys(("about", "subject", "start", "prefix", "entity"), "name"),
        **dict.fromkeys(("commitment_id", "id"), "memory_id"),
        "session_id": "session",
    }
    return asked.get(same.get(name, name))


def filled(
    parameters: Sequence[Parameter], target: Kept, world: World, chance: random.Random
) -> tuple[dict[str, Any], Scope | None]:
    """The arguments of a probe, and the place it names."""
    given: dict[str, Any] = {}
    named = None
    for one in parameters:
        if one.name == "scope" and chance.random() < 0.6:
            named = chance.choice([target.scope, chance.choice(SCOPES)])
            given["scope"] = plain(named)
        elif one.name == "limit" or one.is_needed or chance.random() < 0.5:
            value = value_for(one.name, target, world, chance)
            if value is not None:
                given[one.name] = value
    if "explain" in {one.name for one in parameters}:
        given["explain"] = chance.random() < 0.5
    return given, named


def placed(route: Route, target: Kept, world: World, chance: random.Random) -> dict[str, Any]:
    return {name: value_for(name, target, world, chance) or "x" for name in route.in_path}


TOOLS = [
    (tool, action) for tool in FULL.values() for action in tool.actions.values() if action.operation.reads
]
SAFE = [route for route in ROUTES if route.operation.reads and route.operation.media == "application/json"]


def test_nobody_is_told_what_is_not_theirs(world: World) -> None:
    tally, chance = Tally(), random.Random(SEED)
    by_library(world, tally, chance)
    by_tools(world, tally, chance)
    with ScriptedServer(*[says("Hm.")] * PROBES["proxy"]) as service:
        anyio.run(by_http, world, tally, chance, service)

    assert tally.leaks == []
    assert tally.answered.total() >= FEWEST, tally.answered
    assert {*tally.answered} == {*PROBES}
    assert tally.told > FEWEST // 10, "the probes find what their callers may see"


def by_library(world: World, tally: Tally, chance: random.Random) -> None:
    askers = [*callers(), Access.everything()]
    facades = {asker: world.whole.seen_by(asker, "somebody") for asker in askers}
    for _ in range(PROBES["library"]):
        asker, target, route = chance.choice(askers), chance.choice(world.places), chance.choice(SAFE)
        given, named = filled(route.parameters, target, world, chance)
        there = placed(route, target, world, chance)
        try:
            answer = json.dumps(plain(route.answer(facades[asker], there, given)), default=str)
        except EngramError as error:
            answer = str(error)
        leaks = world.leaks(answer, asker, named, str(there) + str(given))
        tally.note("library", f"{route.path} by {asker} with {given}", leaks, answer)


def by_tools(world: World, tally: Tally, chance: random.Random) -> None:
    door, askers = ToolDispatcher(FULL), callers()
    for _ in range(PROBES["mcp"]):
        asker, target, (tool, action) = (
            chance.choice(askers),
            chance.choice(world.places),
            chance.choice(TOOLS),
        )
        given = given_to(action, target, world, chance)
        answer = door.call(world.whole.seen_by(asker, "somebody"), tool.name, given).text
        tally.note("mcp", f"{tool.name} by {asker}", world.leaks(answer, asker, None, str(given)), answer)


def given_to(action: Action, target: Kept, world: World, chance: random.Random) -> dict[str, Any]:
    found = {
        one.name: value_for(one.name, target, world, chance)
        for one in action.parameters
        if one.is_needed or chance.random() < 0.5
    }
    named = {"action": action.name} if action.name else {}
    return named | {name: value for name, value in found.items() if value is not None}


async def by_http(world: World, tally: Tally, chance: random.Random, service: ScriptedServer) -> None:
    settings = ServerConfig(access="open", requests_a_minute=0, drain_s=2.0)
    before = replace(ProxyConfig(), base_url=service.url, time_budget_ms=20_000, capture="off")
    app = build(lambda: opened(Path(world.whole.path)), settings, [mount, proxy.mount(before)])
    tokens = {
        asker: world.whole.tokens.create(f"t{number}", asker.role, scope=asker.scope).secret
        for number, asker in enumerate(callers())
    }
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            doors = Doors(world, tally, chance, client, tokens)
            for _ in range(PROBES["/v1"]):
                await doors.ours()
            for _ in range(PROBES["old"]):
                await doors.old()
            for _ in range(PROBES["mcp over http"]):
                await doors.mcp()
            for _ in range(PROBES["proxy"]):
                await doors.chat(service)
            await doors.streams(app.state.memory_host)


@dataclass
class Doors:
    """Probes over HTTP, each as a caller with a token."""

    world: World
    tally: Tally
    chance: random.Random
    client: httpx.AsyncClient
    tokens: Mapping[Access, str]

    def somebody(self) -> tuple[Access, Kept, dict[str, str]]:
        asker = self.chance.choice([*self.tokens])
        return asker, self.chance.choice(self.world.places), {"Authorization": f"Bearer {self.tokens[asker]}"}

    async def ours(self) -> None:
        asker, target, headers = self.somebody()
        route = self.chance.choice([route for route in ROUTES if route.operation.reads])
        given, named = filled(route.parameters, target, self.world, self.chance)
        there = placed(route, target, self.world, self.chance)
        path = IN_PATH.sub(lambda part: str(there[part[1]]), route.path)
        if route.is_query:
            asked = {name: value for name, value in given.items() if name != "scope"}
            answer = await self.client.get(path, params=asked | given.get("scope", {}), headers=headers)
        else:
            answer = await self.client.post(path, json=given, headers=headers)
        self.note("/v1", asker, named, answer, str(there) + str(given))

    async def old(self) -> None:
        asker, target, headers = self.somebody()
        routes = [one for one in OLD_ROUTES if one.method == "GET" or one.path in READING]
        route = self.chance.choice(routes)
        path = IN_PATH.sub(lambda part: str(value_for(part[1], target, self.world, self.chance)), route.path)
        given: dict[str, Any] = {"query": question_about(target, self.chance), "q": target.name, "limit": 50}
        given |= {"subject": target.name} if self.chance.random() < 0.3 else {}
        given |= {"sessionKey": target.session, "projectTag": target.scope.project}
        if self.chance.random() < 0.3:
            headers["X-Namespace"] = target.scope.namespace
        if route.method == "GET":
            answer = await self.client.get(path, params=given, headers=headers)
        else:
            answer = await self.client.post(path, json=given, headers=headers)
        self.note("old", asker, None, answer, path + str(given))

    async def mcp(self) -> None:
        asker, target, headers = self.somebody()
        tool, action = self.chance.choice(TOOLS)
        given = given_to(action, target, self.world, self.chance)
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool.name, "arguments": given},
        }
        headers |= {"Accept": "application/json, text/event-stream"}
        answer = await self.client.post("/mcp/full", json=call, headers=headers)
        self.note("mcp over http", asker, None, answer, str(given))

    async def chat(self, service: ScriptedServer) -> None:
        asker, target, headers = self.somebody()
        body: dict[str, Any] = {
            "model": "m",
            "messages": [{"role": "user", "content": question_about(target, self.chance)}],
        }
        named = None
        if self.chance.random() < 0.5:
            body["user"] = self.chance.choice(["u1", "u2"])
            named = replace(asker.scope, user=body["user"]) if body["user"] != asker.scope.user else None
        headers = {"X-Engram-Token": headers["Authorization"].removeprefix("Bearer ")}
        answer = await self.client.post("/v1/chat/completions", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        sent = json.dumps(service.requests[-1].body)
        leaks = self.world.leaks(sent, asker, None, "")
        # Whoever speaks for a user stands in that user's place as an agent does.
        leaks += [] if named is None else self.world.leaks(sent, Access(named, Role.AGENT), None, "")
        self.tally.note("proxy", f"chat by {asker} for {named}", leaks, sent)

    async def streams(self, memory_host: MemoryHost) -> None:
        """All at once: each reads the ledger from its beginning, until its token is revoked."""
        tokens, askers = self.world.whole.tokens, [*self.tokens][:: len(self.tokens) // PROBES["stream"] or 1]
        issued = [
            tokens.create(f"stream {place}", one.role, scope=one.scope) for place, one in enumerate(askers)
        ]
        first = self.world.whole.events(limit=1_000)[-1].id

        async def listen(asker: Access, secret: str) -> None:
            caller = caller_from({}, {"authorization": f"Bearer {secret}"}, memory_host.bearer)
            told = [str(piece) async for piece in feed(memory_host, caller, first).body_iterator]
            assert "E6001" in told[-1]
            leaks = self.world.leaks("".join(told), asker, None, "")
            self.tally.note("stream", f"by {asker}", leaks, "".join(told))

        async with anyio.create_task_group() as group:
            for asker, one in zip(askers, issued, strict=True):
                group.start_soon(listen, asker, one.secret)
            await anyio.sleep(LISTENED_S)
            for one in issued:
                tokens.revoke(one.token.id)

    def note(self, door: str, asker: Access, named: Scope | None, answer: httpx.Response, given: str) -> None:
        assert answer.status_code < 500, answer.text
        leaks = self.world.leaks(answer.text, asker, named, given)
        self.tally.note(
            door, f"{answer.request.url.path} by {asker} from {named} with {given}", leaks, answer.text
        )
