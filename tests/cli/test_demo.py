from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.shell import Shell

README = Path(__file__).parents[2] / "README.md"
VARYING = re.compile(r"[0-9a-f]{8}|0\.\d\d +\S+|\d+mo|\[\w+ \d{4}\]|\"[\d-]+\"")
"""What differs from day to day or with small changes of recall: ids, figures, ages and dates."""


def test_the_tour_remembers_explains_corrects_and_restores(shell: Shell) -> None:
    said = shell.says("demo")

    for word in ("stored", "plan", "trust", "Helix", "in place of", "superseded", "forgotten", "nothing fits",
                 "restored", "Now yours"):  # fmt: skip
        assert word in said
    assert not shell.file.exists(), "the tour leaves the reader's own memory alone"


def test_the_tour_can_be_kept(shell: Shell, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.engram")

    assert f"kept in {kept}" in shell.says("demo", "--file", kept)
    contents = [one["content"] for one in shell.json("list", "--file", kept)["memories"]]
    assert "Actually, my editor is Helix now" in contents
    assert "My editor is vim" not in contents


def test_the_tour_tells_the_truth(shell: Shell) -> None:
    steps = {one["command"]: one["result"] for one in shell.json("demo")["steps"]}

    why = steps['engram recall "why did we choose the database for invoices?" -n 1']["hits"][0]
    assert "PostgreSQL" in why["memory"]["content"]
    maya = steps['engram recall "where is Maya going?" -n 2 --explain']["hits"]
    assert any("Vienna" in hit["memory"]["content"] for hit in maya)
    editor = steps['engram recall "which editor do I use?" -n 1']["hits"][0]
    assert "Helix" in editor["memory"]["content"]
    correction = steps['engram remember "Actually, my editor is Helix now"']
    assert correction["outcome"] == "superseded"


def test_a_tour_taken_twice_on_one_file_still_ends_well(shell: Shell, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.engram")
    shell.says("demo", "--file", kept)

    assert "Now yours" in shell.says("demo", "--file", kept)


def test_the_first_five_minutes_of_the_readme_are_as_shown(shell: Shell) -> None:
    blocks = re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "observe" in block)

    for step in block.split("$ engram ")[1:]:
        command, *shown = step.strip().splitlines()
        said = VARYING.sub("", shell.says(*shlex.split(command)))
        parts = [VARYING.sub("", part).strip() for line in shown for part in line.split("…")]
        assert [part for part in parts if part not in said] == [], command
