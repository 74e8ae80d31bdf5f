"""The registry: the longest name decides, users may add to it, and nobody is taken for more than is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.context.budget import find_model, shipped
from engram.errors import ConfigError
from engram.text.tokens import families
from tests.tables import every


@every(
    ("name", "window", "output", "tokenizer", "provider"),
    [
        ("gpt-4o-2024-08-06", 128_000, 16_384, "o200k", "openai"),
        ("gpt-4-0613", 8_192, 4_096, "cl100k", "openai"),
        ("gpt-4-1106-preview", 128_000, 4_096, "cl100k", "openai"),
        ("gpt-4.1-mini", 1_047_576, 32_768, "o200k", "openai"),
        ("ft:gpt-4o-mini-2024-07-18:acme::x", 128_000, 16_384, "o200k", "openai"),
        ("GPT-5.2-chat-latest", 128_000, 16_384, "o200k", "openai"),
        ("claude-opus-4-6-20260205", 1_000_000, 128_000, "claude", "anthropic"),
        ("claude-opus-4.6", 1_000_000, 128_000, "claude", "anthropic"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", 200_000, 64_000, "claude", "anthropic"),
        ("claude-3-5-sonnet-latest", 200_000, 8_192, "claude", "anthropic"),
        ("models/gemini-3.1-pro-preview", 1_048_576, 65_536, "gemma", "google"),
        ("gemini-1.5-pro-002", 2_097_152, 8_192, "gemma", "google"),
        ("openrouter/meta-llama/llama-3.3-70b-instruct", 131_072, 8_192, "llama3", "meta"),
        ("llama3.3:70b-instruct-q4_K_M", 131_072, 8_192, "llama3", "meta"),
        ("Meta-Llama-3-8B-Instruct", 8_192, 4_096, "llama3", "meta"),
        ("llama2:13b", 4_096, 2_048, "llama2", "meta"),
        ("deepseek-r1-distill-qwen-32b", 131_072, 32_768, "qwen", "deepseek"),
        ("qwen2.5-coder:7b", 32_768, 8_192, "qwen", "qwen"),
        ("Qwen3.8-Max", 991_808, 131_072, "qwen3.5", "qwen"),
        ("glm-5p2", 1_000_000, 128_000, "qwen", "zhipu"),
        ("kimi-k2-0905-preview", 262_144, 32_768, "deepseek", "moonshot"),
        ("hermes-3-llama-3.1-8b", 131_072, 4_096, "llama3", "local"),
    ],
)
def test_a_name_is_understood(name: str, window: int, output: int, tokenizer: str, provider: str) -> None:
    found = find_model(name)

    assert (found.window, found.output, found.tokenizer, found.provider) == (
        window, output, tokenizer, provider,
    )  # fmt: skip
    assert found.name == name


@every("name", ["", "acme-large-4", "my own model", "---", "🙂"])
def test_an_unknown_model_is_taken_for_a_small_one(name: str) -> None:
    found = find_model(name)

    assert (found.window, found.output, found.family) == (32_000, 4_000, "")


def test_every_entry_makes_sense() -> None:
    models = shipped().values()

    assert len(models) > 250
    assert {one.tokenizer for one in models} <= {*families()}
    assert [one.family for one in models if not 1_000 <= one.output <= one.window <= 10_000_000] == []
    assert [one.family for one in models if not 1.0 <= one.caution <= 1.5] == []
    assert [one.family for one in models if find_model(one.family).family != one.family] == []


def test_a_user_adds_models_of_their_own_and_changes_known_ones(tmp_path: Path) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        '[home]\nall = { tokenizer = "qwen" }\n"tiny-one" = { window = 2_000, output = 500 }\n'
        '"gpt-4o" = {}\n',
        encoding="utf-8",
    )

    assert find_model("tiny-one:3b", str(own)).window == 2_000
    assert find_model("gpt-4o-mini", str(own)).tokenizer == "qwen"
    assert find_model("gpt-4.1", str(own)).provider == "openai"


@every("text", ["[home", "home = 3", '[home]\n"x" = { windows = 3 }', '[home]\n"x" = { window = "3" }',
     '[home]\n"x" = { tokenizer = "unheard" }', '[home]\n"x" = { window = 0 }'])  # fmt: skip
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str) -> None:
    own = tmp_path / "models.toml"
    own.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"file of models"):
        find_model("x", str(own))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere.toml cannot be read"):
        find_model("x", "nowhere.toml")
