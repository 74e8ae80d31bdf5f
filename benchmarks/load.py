"""Load over loopback: clients that read and write at once, against `engram serve` as a process of its own.

    python benchmarks/load.py --size 10000 --seconds 60 --clients 8 --save benchmarks/results/load.json

The clients run in another process than the server and speak plain HTTP over connections they keep. Every
write that was acknowledged is looked for afterwards, in the file itself, after the server was told to stop.
`--writes 0` reads only; `--workers N` hands the server its number of processes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from engram import Engram
from engram.bench.speed import drafts, queries

SEED = 7
QUERIES = 400
PACKET = 65_536
WARM_S = 8.0
"""So long it takes until a process that recalls is ready."""


def main() -> int:
    """Measure and print; 1 when something failed or an acknowledged write is gone."""
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        file = prepared(Path(folder) / "load.db", given.size, given.keep)
        with server(file, given.workers) as (url, process):
            found = load(url, process.pid, given)
            found["server_rss_mb"] = rss_mb(process.pid)
        found |= {"size": given.size, "clients": given.clients, "write_share": given.writes}
        found["lost"] = lost(file, found.pop("ids"))
    print(json.dumps(found, indent=2))
    if given.save:
        given.save.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if found["errors"] or found["lost"] else 0


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000, help="memories before the load begins")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--writes", type=float, default=0.2, help="the share of calls that write")
    parser.add_argument("--workers", type=int, default=0, help="processes of the server; 0: its own choice")
    parser.add_argument(
        "--keep", type=Path, help="a file made before, or to be made: it is copied, not changed"
    )
    parser.add_argument("--save", type=Path)
    return parser.parse_args()


def prepared(file: Path, size: int, keep: Path | None) -> Path:
    """A file with so many made-up memories."""
    made = keep or file
    if not made.exists():
        with Engram.open(made) as memory:
            memory.remember_many(drafts(SEED, size), partial=True)
    if keep:
        file.write_bytes(keep.read_bytes())
    return file


@contextmanager
def server(file: Path, workers: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`engram serve` until the block ends; told to stop, it must end by itself."""
    command = [
        sys.executable,
        "-m",
        "engram",
        "serve",
        "--open",
        "--port",
        "0",
        "--json",
        "--quiet",
        "--file",
        str(file),
    ]
    environment = {**os.environ, "ENGRAM_SERVER__REQUESTS_A_MINUTE": "0"}
    with subprocess.Popen(
        [*command, *(["--workers", str(workers)] if workers else [])],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"], process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def load(url: str, pid: int, given: argparse.Namespace) -> dict[str, Any]:
    """Let the clients run and put their figures together.

    The processor time of a call says what two cores could do at best when others use them too.
    """
    asked = [text for text, _ in queries(SEED, given.size, QUERIES)]
    warm(url, asked[:20], given.workers)
    busy, own = cpu_s(pid), time.process_time()
    clients = [Client(url, number, asked, given) for number in range(given.clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    busy, own = cpu_s(pid) - busy, time.process_time() - own
    reads = [ms for client in clients for ms in client.reads]
    writes = [ms for client in clients for ms in client.writes]
    return {
        "recalls_per_s": round(len(reads) / given.seconds, 1),
        "writes_per_s": round(len(writes) / given.seconds, 1),
        "recall_ms": spread(reads),
        "write_ms": spread(writes),
        "server_cpu_ms_a_call": round(1_000 * busy / max(1, len(reads) + len(writes)), 2),
        "client_cpu_ms_a_call": round(1_000 * own / max(1, len(reads) + len(writes)), 2),
        "errors": sum(len(client.errors) for client in clients),
        "first_error": next((error for client in clients for error in client.errors), None),
        "acknowledged": sum(len(client.ids) for client in clients),
        "ids": [one for client in clients for one in client.ids],
    }


class Client(threading.Thread):
    """One client with a connection it keeps. Its requests are made before it begins: the cores are shared."""

    def __init__(self, url: str, number: int, asked: list[str], given: argparse.Namespace) -> None:
        super().__init__(name=f"client-{number}")
        self._host = url.removeprefix("http://")
        self._chance = random.Random(number)
        self._asked = [self._request("GET", f"/v1/recall?limit=10&q={quote(text)}") for text in asked]
        self._given = given
        self._drafts = drafts(SEED + 1_000 + number, 1_000_000)
        self.reads: list[float] = []
        self.writes: list[float] = []
        self.ids: list[str] = []
        self.errors: list[str] = []

    def run(self) -> None:
        """Ask and tell until the time is up."""
        host, _, port = self._host.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            end = time.perf_counter() + self._given.seconds
            while time.perf_counter() < end and not self.errors:
                if self._chance.random() < self._given.writes:
                    self._write(connection)
                else:
                    self._read(connection)

    def _read(self, connection: socket.socket) -> None:
        # Only a write's answer is looked into: reading each recall's would measure the client.
        self._call(connection, self._chance.choice(self._asked), self.reads)

    def _write(self, connection: socket.socket) -> None:
        request = self._request("POST", "/v1/memories", json.dumps({"content": next(self._drafts).content}))
        answer = self._call(connection, request, self.writes)
        if answer:
            self.ids.append(json.loads(answer)["memory"]["id"])

    def _request(self, method: str, path: str, body: str = "") -> bytes:
        length = f"Content-Length: {len(body.encode())}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{length}\r\n{body}".encode()

    def _call(self, connection: socket.socket, request: bytes, taken: list[float]) -> bytes:
        """The body of the answer; how long it took is added to `taken`. Nothing where it failed."""
        started = time.perf_counter()
        try:
            connection.sendall(request)
            head, body = _answer(connection)
        except OSError as error:
            self.errors.append(repr(error))
            return b""
        taken.append((time.perf_counter() - started) * 1_000)
        if not head.startswith(b"HTTP/1.1 2"):
            self.errors.append(f"{head[:40]!r} {body[:200]!r}")
            return b""
        return body


def _answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Head and body of the next answer. Raises OSError when none comes."""
    came = b""
    while (end := came.find(b"\r\n\r\n")) < 0:
        came += _more(connection)
    head, parts = came[:end], [came[end + 4 :]]
    missing = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]) - len(parts[0])
    while missing > 0:
        parts.append(_more(connection))
        missing -= len(parts[-1])
    return head, b"".join(parts)


def _more(connection: socket.socket) -> bytes:
    came = connection.recv(PACKET)
    if not came:
        raise ConnectionError("the server hung up")
    return came


def warm(url: str, asked: list[str], workers: int) -> None:
    """The first calls load what is loaded late, and start whoever is to help."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", "/v1/recall?q=warm")
    connection.getresponse().read()
    time.sleep(WARM_S if workers else 0)
    for text in asked:
        connection.request("GET", f"/v1/recall?q={quote(text)}")
        connection.getresponse().read()
    connection.close()


def spread(milliseconds: list[float]) -> dict[str, float] | None:
    """The middle and the ends."""
    if not milliseconds:
        return None
    told = {
        f"p{share:.0%}".rstrip("%"): float(np.quantile(milliseconds, share)) for share in (0.5, 0.95, 0.99)
    }
    return {name: round(value, 1) for name, value in (told | {"max": max(milliseconds)}).items()}


def lost(file: Path, ids: list[str]) -> int:
    """How many acknowledged memories the file does not hold."""
    with Engram.open(file) as memory:
        return sum(memory.get(one) is None for one in ids)


def cpu_s(pid: int) -> float:
    """Processor time of the server and its workers so far; 0 where there is no /proc."""
    try:
        told = [Path(f"/proc/{one}/stat").read_text(encoding="ascii") for one in family(pid)]
    except OSError:
        return 0.0
    ticks = [sum(map(int, line.rpartition(")")[2].split()[11:13])) for line in told]
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[str]:
    """A process and those that it started; the threads of a process may each have started some."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [str(pid), *(one for task in tasks for one in (task / "children").read_text("ascii").split())]


def rss_mb(pid: int) -> float | None:
    """Memory of the server and its workers, where there is a /proc."""
    try:
        pages = [Path(f"/proc/{one}/statm").read_text(encoding="ascii").split()[1] for one in family(pid)]
    except OSError:
        return None
    return round(sum(map(int, pages)) * os.sysconf("SC_PAGE_SIZE") / 1024**2, 1)


if __name__ == "__main__":
    sys.exit(main())
