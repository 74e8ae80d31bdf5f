"""A small transformer in this process, for the extra `embed`: better than the static model, slower.

It runs any ONNX folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. A file `engram.json`
beside them may say `name`, `prefix` (put before a question), `pooling` (`cls` or `mean`) and `max_length`.
`model_folder.py` says where such a folder is looked for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engram.embed.model_folder import ModelFolder, find_model
from engram.embed.unit import unit_rows
from engram.errors import EmbedderDown
from engram.model.vectors import Space
from engram.ports import Health

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# A batch is bounded by texts and by padded tokens: attention grows with the square of the length.
TEXTS_AT_ONCE = 32
TOKENS_AT_ONCE = 4_096


class TransformerEmbedder:
    """Vectors by a transformer. Files are read at first use; the model is shared by all threads."""

    def __init__(self, path: Path | None = None, threads: int = 0) -> None:
        self._path = path
        self._threads = threads
        self._model: Model | None = None
        self._lock = threading.Lock()

    @property
    def space(self) -> Space:
        """The space of this model's vectors."""
        return self._loaded().space

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row of unit length each; zeros for an empty text."""
        model = self._loaded()
        return model.space, model.vectors(texts)

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question, with the prefix the model was trained with."""
        model = self._loaded()
        asked = model.folder.prefix + text if text.strip() else ""
        return model.space, model.vectors([asked])[0]

    def health(self) -> Health:
        """Well when the packages and a model are there."""
        try:
            return Health(ok=True, detail=f"{self.space.model}, in this process")
        except EmbedderDown as down:
            return Health(ok=False, detail=down.message)

    def _loaded(self) -> Model:
        if self._model is None:
            with self._lock:
                self._model = self._model or load_model(find_model(self._path), self._threads)
        return self._model


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
        found = np.zeros((len(texts), self.space.dims), dtype=np.float32)
        wanted = [place for place, text in enumerate(texts) if text.strip()]
        for places in batches(sorted(wanted, key=lambda place: len(tokens[place])), tokens):
            found[places] = self._run([tokens[place] for place in places])
        return unit_rows(found)

    def _run(self, batch: list[list[int]]) -> Floats:
        import numpy as np

        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        names = {given.name for given in self.session.get_inputs()}
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
