"""git: points in the history of a folder that one can go back to. Nothing is ever pushed.

Only what belongs to the workspace is committed, with a path each: whatever else lies in the repository,
staged or not, is left as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engram.errors import WorkspaceError
from engram.lazily import dataclass
from engram.workspace.folder import HOME

AUTHOR = ("Engram", "engram@localhost")
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Point:
    """A commit of the workspace."""

    id: str
    at: str
    subject: str


def is_repository(root: Path) -> bool:
    """Whether the folder lies in a git repository, and git is there."""
    if shutil.which("git") is None or not root.is_dir():
        return False
    return _run(root, "rev-parse", "--is-inside-work-tree", check=False).stdout.strip() == "true"


def commit(root: Path, tops: Sequence[str], subject: str, body: str = "") -> Point | None:
    """Commit what belongs to the workspace; None when nothing has changed."""
    ours = _existing_tops(root, tops)
    _run(root, "add", "--all", "--force", "--", *ours)
    changed = _run(root, "diff", "--cached", "--quiet", "--", *ours, check=False).returncode
    if not changed:
        return None
    message = f"{subject}\n\n{body}".strip() + "\n"
    name, address = AUTHOR
    _run(
        root, "-c", f"user.name={name}", "-c", f"user.email={address}", "-c", "commit.gpgsign=false",
        "commit", "--quiet", "--no-verify", "--only", "-m", message, "--", *ours,
    )  # fmt: skip
    return points(root, 1)[0]


def points(root: Path, limit: int = 20) -> list[Point]:
    """The last commits that touch the folder, newest first."""
    output = _run(root, "log", f"-{limit}", "--format=%H%x09%cI%x09%s", "--", ".", check=False).stdout
    lines = (line.split("\t", 2) for line in output.splitlines())
    return [Point(*parts) for parts in lines if len(parts) == len(Point.__slots__)]


def resolve(root: Path, point: str) -> str:
    """The full id of a commit. Raises WorkspaceError for what is none."""
    if point.startswith("-"):
        raise WorkspaceError(f"{point!r} is no point in the history.")
    result = _run(root, "rev-parse", "--verify", "--quiet", f"{point}^{{commit}}", check=False)
    if result.returncode:
        raise WorkspaceError(
            f"{point!r} is no point in the history of {root}: `engram workspace points` lists them."
        )
    return result.stdout.strip()


def messages_since(root: Path, point: str) -> list[str]:
    """The messages of the commits after a point, newest first."""
    output = _run(root, "log", "--format=%B%x00", f"{point}..HEAD", "--", ".").stdout
    return [message.strip() for message in output.split("\0") if message.strip()]


def restore(root: Path, tops: Sequence[str], point: str) -> None:
    """Put the files of the workspace back as they were at a point; files made since then go."""
    there = set(_files(root, point, tops))
    ours = [top for top in _existing_tops(root, tops) if not top.startswith(HOME)]
    present = set(_run(root, "ls-files", "--", *ours).stdout.splitlines()) if ours else set()
    if there:
        _run(root, "restore", f"--source={point}", "--worktree", "--", *sorted(there))
    for name in sorted(present - there):
        path = root / name
        if not path.is_symlink():
            path.unlink(missing_ok=True)


def _files(root: Path, point: str, tops: Sequence[str]) -> list[str]:
    output = _run(root, "ls-tree", "-r", "--name-only", "-z", point, "--", *tops, check=False).stdout
    return [path for path in output.split("\0") if path]


def _existing_tops(root: Path, tops: Sequence[str]) -> list[str]:
    """What of the workspace is there or known to git, the folder's own notes without its lock and state."""
    tracked = {
        path.split("/", 1)[0] for path in _run(root, "ls-files", "--", *tops, check=False).stdout.splitlines()
    }
    setup = f"{HOME}/workspace.json"
    existing = [top for top in tops if (root / top).exists() or top in tracked]
    return [*existing, setup] if (root / setup).exists() else existing


def _run(root: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 - git itself, never through a shell
            ["git", "-C", str(root), "-c", "core.quotepath=off", *arguments],  # noqa: S607
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"git does not answer: {error}.") from error
    if check and done.returncode:
        raise WorkspaceError(f"git {arguments[0]} failed: {(done.stderr or done.stdout).strip()[:300]}")
    return done
