from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.shell import Shell


def lines(*records: Any) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records)


def test_each_line_becomes_a_memory(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(
        lines(
            {
                "content": "Bread needs flour and water",
                "tags": ["kitchen"],
                "created_at": "2020-05-06T07:08:09+00:00",
            },
            {"content": "Trains leave at noon"},
            {"content": "Trains leave at noon"},
            {"content": "An old rumour", "status": "superseded"},
        ),
        encoding="utf-8",
    )

    report = shell.json("import", str(file))

    assert report == {
        "dry_run": False, "stored": 2, "reinforced": 1, "merged": 0, "superseded": 0, "challenged": 0,
        "related": 0, "skipped": 1, "refused": [],
    }  # fmt: skip
    bread = next(one for one in shell.json("list")["memories"] if one["tags"])
    assert bread["event_time"] == "2020-05-06T07:08:09+00:00"
    assert shell.says("import", str(file)).strip() == "imported: 3 reinforced · 1 skipped (not active)"


def test_lines_that_are_no_memory_are_named(shell: Shell) -> None:
    text = lines(
        {"content": "Trains leave at noon"}, "", "{not json", [1, 2], {"text": "no content"}, {"content": ""},
        {"content": "x", "kind": "mood"}, {"content": 7}, "[" * 100_000,
    )  # fmt: skip

    report = shell.json("import", "-", stdin=text.encode() + b'{"content": "\xff"}\n', code=2)

    assert report["stored"] == 1
    assert [(one["line"], one["code"]) for one in report["refused"]] == [
        (3, "E2014"), (4, "E2014"), (5, "E2001"), (6, "E2001"), (7, "E2005"), (8, "E2007"), (9, "E2014"),
        (10, "E2006"),
    ]  # fmt: skip


def test_a_person_reads_the_refused_lines_on_stderr(shell: Shell) -> None:
    result = shell("import", "-", stdin=lines({"content": "Trains leave at noon"}, *["nonsense"] * 30))

    assert result.exit_code == 2
    assert result.stdout.strip() == "imported: 1 stored · 30 refused"
    assert result.stderr.startswith("line 2: error E2014:")
    assert result.stderr.splitlines()[-1].startswith("and 10 more")


def test_when_nothing_could_be_taken_the_exit_code_is_2(shell: Shell) -> None:
    assert shell("import", "-", stdin="nonsense\n").exit_code == 2
    assert shell("import", "-", stdin="").exit_code == 0
    assert shell("import", "no-such-file.jsonl").exit_code == 2


def test_a_dry_run_checks_and_stores_nothing(shell: Shell) -> None:
    text = lines({"content": "Trains leave at noon"}, "nonsense", {"content": "x", "tags": ["t" * 33]})

    report = shell.json("import", "-", "--dry-run", stdin=text, code=2)

    assert (report["dry_run"], report["valid"]) == (True, 1)
    assert [one["code"] for one in report["refused"]] == ["E2014", "E2004"]
    assert "nothing was stored" in shell("import", "-", "--dry-run", stdin=text).stdout
    assert shell.json("list")["memories"] == []


def test_an_export_comes_back_by_an_import(shell: Shell, tmp_path: Path) -> None:
    shell.remember("Bread needs flour and water", "--namespace", "kitchen", "--tag", "baking", "--pin")
    shell.remember(
        "I am taking the night train", "--speaker", "Maya", "--session", "friday", "--detail", "n=1"
    )
    gone = shell.remember("The meeting is on Monday")
    shell.says("forget", gone)
    file = tmp_path / "out.jsonl"

    assert shell.json("export", str(file)) == {"exported": 3, "file": str(file)}
    report = shell.json("import", str(file), "--file", str(tmp_path / "second.engram"))

    assert (report["stored"], report["skipped"], report["refused"]) == (2, 1, [])
    kept = ("content", "tags", "scope", "speaker", "session", "pinned", "category", "kind", "type", "details",
            "importance", "confidence")  # fmt: skip

    def essence(*words: str) -> list[dict[str, Any]]:
        exported = [json.loads(one) for one in shell.says("export", *words).splitlines()]
        active = [{name: one[name] for name in kept} for one in exported if one["status"] == "active"]
        return sorted(active, key=lambda one: str(one["content"]))

    assert essence("--file", str(tmp_path / "second.engram")) == essence()


def test_an_export_writes_over_nothing_unless_it_is_told_to(shell: Shell, tmp_path: Path) -> None:
    shell.remember("Bread needs flour and water")
    file = tmp_path / "out.jsonl"
    file.write_text("mine", encoding="utf-8")

    refused = shell("export", str(file))

    assert refused.exit_code == 3
    assert refused.stderr.startswith(f"error E1010: {file} is there already")
    assert file.read_text(encoding="utf-8") == "mine"
    shell.says("export", str(file), "--force")
    assert json.loads(file.read_text(encoding="utf-8"))["content"] == "Bread needs flour and water"
    nowhere = shell("export", str(tmp_path / "no" / "out.jsonl"))
    assert f"there is no folder {tmp_path / 'no'}" in nowhere.stderr


def test_export_goes_to_stdout_by_itself(shell: Shell) -> None:
    shell.remember("Bread needs flour and water")

    assert json.loads(shell.says("export"))["content"] == "Bread needs flour and water"
    assert shell.says("export", "-") == shell.says("export")


def test_a_place_given_to_the_import_takes_every_line(shell: Shell) -> None:
    text = lines({"content": "Bread needs flour and water", "scope": {"namespace": "kitchen"}})

    shell.says("import", "-", "--project", "apollo", stdin=text)

    assert shell.json("list", "--project", "apollo")["memories"][0]["scope"]["namespace"] == "default"
    assert shell.json("list", "--namespace", "kitchen")["memories"] == []


def test_relations_and_the_order_of_a_conversation_move_too(shell: Shell, tmp_path: Path) -> None:
    said = [
        shell.remember(words, "--session", "s")
        for words in ("I bake bread", "Is it hard?", "Only the first time")
    ]
    other = shell.remember("Flour comes from the old mill")
    shell.says("relate", said[0], other, "--type", "supports", "--weight", "0.5")
    file, second = str(tmp_path / "out.jsonl"), str(tmp_path / "second.engram")
    shell.says("export", file)

    assert shell.json("import", file, "--file", second)["related"] == 1

    def edges(*words: str) -> set[tuple[str, str, str]]:
        exported = [json.loads(one) for one in shell.says("export", *words).splitlines()]
        names = {one["id"]: one["content"] for one in exported}
        return {(names[e["source"]], e["type"], names[e["target"]]) for one in exported for e in one["edges"]}

    assert ("I bake bread", "supports", "Flour comes from the old mill") in edges()
    assert edges("--file", second) == edges()
