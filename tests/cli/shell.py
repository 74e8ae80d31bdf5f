"""A person at a shell: commands go in, exit code and output come out. The engine and its file are real."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from engram.cli.app import app


@dataclass
class Shell:
    """Runs `engram …` on a file of its own."""

    file: Path
    runner: CliRunner = field(default_factory=CliRunner)

    def __call__(self, *words: str, stdin: str | bytes | None = None) -> Result:
        return self.runner.invoke(app, [*words], input=stdin)

    def says(self, *words: str, stdin: str | bytes | None = None) -> str:
        """What a command that goes well prints."""
        result = self(*words, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *words: str, stdin: str | bytes | None = None, code: int = 0) -> Any:
        """The object that a command prints for a program."""
        result = self(*words, "--json", stdin=stdin)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def remember(self, content: str, *options: str) -> str:
        """The id of a new memory."""
        receipt = self.json("remember", content, *options)
        return str(receipt["memory"]["id"])
