"""The guides are true: their examples run, one after the other, against a real server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server.conftest import Running

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
@pytest.mark.parametrize("guide", ["server", "compatibility"])
def test_every_example_of_a_guide_runs(server: Running, tmp_path: Path, guide: str) -> None:
    text = (DOCS / f"{guide}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    script = "set -eu\n" + "\n".join(blocks).replace("curl -s", "curl -sS --fail-with-body")
    run = subprocess.run(
        ["/bin/sh", "-c", script.replace("http://127.0.0.1:3917", server.url)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )

    assert (run.returncode, run.stderr) == (0, ""), run.stdout[-500:]
    assert "My editor is Helix" in run.stdout
