"""A cross-encoder in this process, for the extra `embed`: question and memory come in, a score comes out.

It runs any ONNX folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json` whose model gives one
number for each pair, or two of which the second means "answers". `engram.json` there may say `max_length`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engram.config import RerankConfig
from engram.embed.model_folder import ModelFolder, read_folder
from engram.embed.transformer import batches, open_session
from engram.errors import EmbedderDown, RerankerDown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def open_reranker(settings: RerankConfig) -> CrossEncoder | None:
    """The cross-encoder that the settings name. Nothing is loaded before its first use."""
    return CrossEncoder(Path(settings.path)) if settings.path else None


class CrossEncoder:
    """Implements `ports.Reranker`. Files are read at first use; the model is shared by all threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._model: PairModel | None = None
        self._lock = threading.Lock()

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, higher is better."""
        return self._loaded().score(question, texts)

    def _loaded(self) -> PairModel:
        if self._model is None:
            with self._lock:
                self._model = self._model or load_pairs(self._path)
        return self._model


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
        self._inputs = {given.name for given in session.get_inputs()}

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

        width = max(len(pair.ids) for pair in batch)
        feeds: dict[str, NDArray[np.int64]] = {}
        for name, part in (
            ("input_ids", "ids"),
            ("attention_mask", "attention_mask"),
            ("token_type_ids", "type_ids"),
        ):
            rows = np.zeros((len(batch), width), dtype=np.int64)
            for row, pair in enumerate(batch):
                values = getattr(pair, part)
                rows[row, : len(values)] = values
            feeds[name] = rows
        given = {name: feed for name, feed in feeds.items() if name in self._inputs}
        logits = np.asarray(self._session.run(None, given)[0]).reshape(len(batch), -1)
        # Two classes: how much more the second, "answers", is meant than the first.
        found = logits[:, 1] - logits[:, 0] if logits.shape[1] > 1 else logits[:, 0]
        return [float(value) for value in found]
