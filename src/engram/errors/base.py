"""What every error of the engine has: a stable code and a message."""

from __future__ import annotations


class EngramError(Exception):
    """Anything the engine refuses or fails to do."""

    code = "E0000"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
