"""The static model: what a person would expect of it, and what no text may break."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.embed.static import WEIGHTS, StaticEmbedder
from engram.errors import EmbedderDown
from tests.tables import every

MODEL = StaticEmbedder()


def best(question: str, *documents: str) -> str:
    vectors = MODEL.embed(documents)[1]
    return documents[int(np.argmax(vectors @ MODEL.embed_query(question)[1]))]


@every(
    ("question", "answer", "others"),
    [
        (
            "what is my dog called?",
            "I have a puppy named Rex",
            ["The server listens on port 8080", "It rained"],
        ),
        ("where do I work?", "My job is at a bank downtown", ["I like green apples", "The film was long"]),
        ("any food allergies?", "Peanuts make me sick", ["The car needs new tyres", "We met in Paris"]),
        ("我的狗叫什么名字？", "我养了一只小狗", ["服务器的端口是八千", "今天下雨了"]),
        ("我在哪里工作？", "我是一家银行的职员", ["我在公园里散步", "工具放在车里"]),
        ("我几点起床？", "闹钟定在六点半", ["床单该换了", "我几乎忘了"]),
    ],
)
def test_meaning_is_found_without_a_shared_word(question: str, answer: str, others: list[str]) -> None:
    assert best(question, *others, answer) == answer


def test_a_near_repetition_is_nearer_than_the_same_topic() -> None:
    said, again, topic, other = MODEL.embed(
        [
            "I prefer tea over coffee",
            "I like tea more than coffee",
            "Coffee grows in Brazil",
            "The train was late",
        ]
    )[1]

    assert said @ again > said @ topic > said @ other


def test_rows_have_unit_length_or_are_zero() -> None:
    space, rows = MODEL.embed(["hello there", "", "?!", "   ", "naïve café", "日本", "\x00", "\ud800"])

    assert rows.shape == (8, space.dims)
    assert rows.dtype == np.float32
    assert [round(float(np.linalg.norm(row)), 5) for row in rows] == [1, 0, 0, 0, 1, 1, 0, 0]


@given(st.lists(st.text(max_size=60), max_size=8))
def test_a_batch_gives_what_each_text_gives_alone(texts: list[str]) -> None:
    _, together = MODEL.embed(texts)

    assert together.shape[0] == len(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.allclose(row, MODEL.embed([text])[1][0], atol=1e-6)


def test_batches_larger_than_one_gathering_keep_their_order() -> None:
    texts = [f"number {i} of the long list of things that were said today" for i in range(2_000)]
    _, together = MODEL.embed(texts)

    for place in (0, 700, 1_234, 1_999):
        assert np.allclose(together[place], MODEL.embed([texts[place]])[1][0], atol=1e-6)


def test_the_space_names_the_model_and_the_content_of_its_file() -> None:
    assert MODEL.space.model == "engram-static-1"
    assert MODEL.space.dims == 256
    assert len(MODEL.space.version) == 12
    assert MODEL.health().ok


def test_the_weights_stay_small_enough_to_ship() -> None:
    assert WEIGHTS.stat().st_size < 10_000_000


@every("content", [None, b"", b"PK\x03\x04 not a zip", b"nothing like it"])
def test_unreadable_weights_are_down_not_a_crash(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "broken.npz"
    if content is not None:
        path.write_bytes(content)
    embedder = StaticEmbedder(path)

    with pytest.raises(EmbedderDown, match=r"broken\.npz"):
        embedder.embed(["hello"])
    assert not embedder.health().ok


def test_importing_the_embedders_loads_nothing_heavy() -> None:
    code = "import sys, json, engram.embed; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not {"numpy", "httpx", "onnxruntime", "tokenizers"} & set(json.loads(run.stdout))
