"""Extensions: a package with one of each kind is on the path as if installed, and all of it works."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from engram import Engram, plugins
from engram.errors import ConfigError, UnknownValue
from engram.model.scope import Access, Role, Scope
from engram.testing import HashEmbedder
from tests.server.conftest import running

PACKAGES = Path(__file__).with_name("packages")


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(PACKAGES)
    importlib.invalidate_caches()
    yield
    plugins.load.cache_clear()


@pytest.fixture
def memory() -> Iterator[Engram]:
    with Engram.open(":memory:", embedder=HashEmbedder(), config={"recall.channels": "tags"}) as one:
        yield one


def test_each_kind_is_found_by_its_name() -> None:
    assert {kind: plugins.names(kind) for kind in plugins.KINDS} == {
        "sources": ("bookmarks", "broken"),
        "channels": ("tags",),
        "steps": ("tidy",),
        "embedders": ("hashed",),
        "rerankers": ("shortest",),
        "stores": ("passing",),
        "routes": ("count",),
    }


def test_a_broken_extension_is_named_and_the_others_work(caplog: pytest.LogCaptureFixture) -> None:
    assert [name for name, _ in plugins.installed("sources")] == ["bookmarks"]
    assert "broken" in caplog.text
    with pytest.raises(ConfigError, match="broken"):
        plugins.load("sources", "broken")


def test_a_source_format_is_read_by_its_suffix_and_by_its_name(memory: Engram, tmp_path: Path) -> None:
    text = "The harbour master's office closes at noon\nBread is baked at the corner of Elm Street\n"
    for name in ("mine.bookmarks", "mine.unheard"):
        (tmp_path / name).write_text(text, encoding="utf-8")

    assert len(memory.sources.file(tmp_path / "mine.bookmarks").items) == 2
    assert memory.sources.file(tmp_path / "mine.unheard", format="bookmarks", dry=True).format == "bookmarks"
    assert {one.tags for one in memory.list()} == {("bookmark",)}
    assert memory.sources.file(tmp_path, dry=True).items, "it is read of a folder, too"
    with pytest.raises(UnknownValue, match="bookmarks"):
        memory.sources.file(tmp_path / "mine.bookmarks", format="imagined")


def test_a_channel_finds_what_no_word_leads_to(memory: Engram) -> None:
    told = memory.remember("Grandmother's cake needs six eggs", tags=("recipe",)).memory
    memory.remember("Bob keeps his bread dry", tags=("recipe",), scope=Scope(user="bob"))

    evidence = {hit.memory.id: hit.evidence for hit in memory.recall("recipe", explain=True)}

    assert "found by an extension" in {one.note for one in evidence[told.id]}
    carol = memory.seen_by(Access(Scope(user="carol"), Role.AGENT), "carol")
    assert [hit.memory.id for hit in carol.recall("recipe")] == [told.id], "what is Bob's stays his"


def test_a_step_runs_with_its_stage_and_its_run_is_taken_back(memory: Engram) -> None:
    told = memory.remember("Water the plants", tags=("todo", "done")).memory

    report = memory.consolidate(stages=["tidy"])

    assert [one.rule for one in report.decided] == ["example.tidy"]
    assert [one.tags for one in memory.list()] == [("done",)]
    memory.maintenance.undo(report.run.id)
    assert [one.tags for one in memory.list()] == [told.tags]


def test_an_embedder_is_chosen_by_its_name() -> None:
    with Engram.open(":memory:", config={"embed.name": "hashed"}) as memory:
        memory.remember("We met at the lake")
        assert memory.recall("we met at the lake")
    with pytest.raises(ConfigError, match="hashed"):
        Engram.open(":memory:", config={"embed.name": "unheard"})


def test_a_reranker_is_chosen_by_its_name() -> None:
    settings = {"rerank.name": "shortest", "recall.rerank": "cross_encoder"}
    with Engram.open(":memory:", embedder=HashEmbedder(), config=settings) as memory:
        memory.remember("The boat is blue, and it has been lying in the harbour for two years")
        memory.remember("The boat is fast")
        first, second = memory.recall("the boat")
        assert len(first.memory.content) < len(second.memory.content)


def test_a_store_is_chosen_by_its_address() -> None:
    with Engram.open("passing://anywhere", embedder=HashEmbedder()) as memory:
        memory.remember("We met at the lake")
        assert memory.count() == 1
    with pytest.raises(ConfigError, match="passing"):
        Engram.open("unheard://anywhere")


def test_a_route_is_served_and_its_caller_is_known(file: Path) -> None:
    with running(file, mounts=tuple(made for _, made in plugins.installed("routes"))) as server:
        server.memory_host.memory.remember("We met at the lake")
        assert httpx.get(f"{server.url}/example/count").json() == {"count": 1}
