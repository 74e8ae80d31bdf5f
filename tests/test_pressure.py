"""Memory pressure: from 70 % caches give way and maintenance waits, from 90 % heavy work is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from engram import Engram, Scope
from engram.config import ServerConfig
from engram.errors import ConfigError, MemoryFull
from engram.model.scope import Access
from engram.pressure import Pressure, PressureGauge, memory_limit, resident_bytes
from engram.pressure import _of_container as limits_of_container
from engram.server.host import MemoryHost, Worker, check_health
from engram.testing import FakeClock, HashEmbedder

MB = 2**20


def opened(tmp_path: Path, share: float) -> Engram:
    """A memory in a process that holds so much of what it may."""
    memory = Engram.open(
        tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder(), access=Access.everything()
    )
    tools = memory._tools  # noqa: SLF001 - what the system tells is the one thing a test has to say
    gauge = PressureGauge(1_000, (tools.store.let_go, tools.index.let_go), lambda: int(share * 1_000 * MB))
    object.__setattr__(tools, "pressure", gauge)
    return memory


def test_below_all_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path, 0.69) as memory:
        memory.remember_many(["Tea is at four", "The boiler was serviced in May"])
        assert memory.consolidate().run.id
        assert memory.pressure.trouble == ""


def test_what_is_heavy_is_refused_and_changes_nothing_while_the_rest_goes_on(tmp_path: Path) -> None:
    with opened(tmp_path, 0.91) as memory:
        memory.remember("Tea is at four")
        heavy = (
            lambda: memory.remember_many(["one", "two"]),
            lambda: memory.memories.adopt([{"content": "three"}]),
            lambda: memory.sources.text("# House\n\nThe boiler was serviced in May."),
            memory.consolidate,
        )
        for work in heavy:
            with pytest.raises(MemoryFull, match="910 of 1,000 MB") as raised:
                work()
            assert raised.value.code == "E7004"

        assert [hit.content for hit in memory.recall("when is tea?")] == ["Tea is at four"]
        memory.observe("I moved to Oslo in May.", session="monday")
        assert memory.count() == 2


def test_tight_memory_lets_caches_go_and_maintenance_wait(tmp_path: Path) -> None:
    with opened(tmp_path, 0.8) as memory:
        for place in ("a", "b", "c"):
            memory.remember("Tea is at four", scope=Scope(namespace=place))
            memory.recall("when is tea?", scope=Scope(namespace=place))
        store = memory._tools.store  # noqa: SLF001 - what is held in memory shows nowhere else
        held = store._tables._tables  # noqa: SLF001
        assert len(held) == 3
        store.let_go()
        assert len(held) == 1
        assert [hit.content for hit in memory.recall("when is tea?", scope=Scope(namespace="a"))] == [
            "Tea is at four"
        ]

        worker = Worker(memory, lambda: timedelta(days=1))
        assert worker.tick() is None
        relaxed = PressureGauge(1_000, (), lambda: 0)
        object.__setattr__(memory._tools, "pressure", relaxed)  # noqa: SLF001
        assert worker.tick() is not None


def test_health_tells(tmp_path: Path) -> None:
    with opened(tmp_path, 0.8) as memory:
        host = MemoryHost(lambda: memory, ServerConfig())
        host.open()
        found = check_health(host)
        assert found.status == "degraded"
        assert "80% of 1,000 MB of memory is in use: caches are kept small, maintenance waits" in found.advice
        host.close()


def test_what_the_system_tells() -> None:
    assert resident_bytes() >= 0
    assert memory_limit() >= 0
    assert Pressure(0, 0).share == 0.0


def test_the_limit_of_a_container_of_either_version(tmp_path: Path) -> None:
    files = {
        "own2": "0::/kube/pod7\n",
        "two/kube/pod7/memory.max": "max\n",
        "two/kube/memory.max": "268435456\n",
        "own1": "12:cpu:/x\n5:memory:/docker/abc\n",
        "one/memory/docker/abc/memory.limit_in_bytes": "134217728\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    assert limits_of_container(tmp_path / "two", tmp_path / "own2") == [256 * MB]
    assert limits_of_container(tmp_path / "one", tmp_path / "own1") == [128 * MB]
    assert limits_of_container(tmp_path, tmp_path / "none") == []


def test_the_setting_is_the_limit(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "m.db", embedder=HashEmbedder(), config={"limits.memory_mb": 300}) as memory:
        assert memory.pressure.limit == 300 * MB
    with pytest.raises(ConfigError):
        Engram.open(tmp_path / "m.db", config={"limits.memory_mb": -1})
