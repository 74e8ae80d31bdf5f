"""The `engram` command. Importing this package costs nothing: each command is loaded when it is used."""

from __future__ import annotations


def main() -> None:
    """What the installed command starts."""
    from engram.cli.app import app

    app.main(prog_name="engram")
