"""Settings name an embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.config import EmbedConfig
from engram.embed import ChainEmbedder, open_embedder
from engram.embed.remote import RemoteEmbedder
from engram.embed.static import StaticEmbedder
from engram.embed.transformer import TransformerEmbedder
from engram.errors import ConfigError
from tests.embed.embedding_server import as_openai, lengths, serving
from tests.tables import every


@every(
    ("name", "kind"),
    [
        ("static", StaticEmbedder),
        ("transformer", TransformerEmbedder),
        ("openai", RemoteEmbedder),
        ("ollama", RemoteEmbedder),
        ("chain:ollama,static", ChainEmbedder),
        ("chain: transformer , static", ChainEmbedder),
    ],
)
def test_each_name_opens_its_embedder(name: str, kind: type) -> None:
    assert isinstance(open_embedder(EmbedConfig(name=name)), kind)


@every("name", ["", "best", "chain:", "chain:static,best", "Static"])
def test_an_unknown_name_is_told_with_those_that_are_known(name: str) -> None:
    with pytest.raises(ConfigError, match="choose static, transformer, openai, ollama"):
        open_embedder(EmbedConfig(name=name))


def test_the_settings_reach_the_server() -> None:
    with serving(lambda request: as_openai(lengths(request))) as server:
        embedder = open_embedder(
            EmbedConfig(name="openai", model="tiny", base_url=server.url + "/v1/", api_key="k", batch=2)
        )
        space, _ = embedder.embed(["a", "b", "c"])
        assert isinstance(embedder, RemoteEmbedder)
        embedder.close()

    assert space.model == "openai:tiny"
    assert server.paths == ["/v1/embeddings"] * 2
    assert server.keys == ["Bearer k"] * 2


def test_a_chain_falls_back_to_the_static_model_when_the_server_is_gone(tmp_path: Path) -> None:
    with serving(lambda request: as_openai(lengths(request))) as server:
        url = server.url
    embedder = open_embedder(EmbedConfig(name="chain:transformer,static", base_url=url, path=str(tmp_path)))

    assert embedder.embed(["hello"])[0].model == "engram-static-1"
    assert "has no model.onnx" in embedder.health().detail
