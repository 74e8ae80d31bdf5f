"""What is known of a source file: its purpose, what it uses, what it offers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    """One public class or function."""

    name: str
    signature: str
    line: int
    doc: str = ""
    members: tuple[str, ...] = ()
    """The public methods of a class, each with its signature and what it does."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A file in short."""

    language: str
    purpose: str = ""
    imports: tuple[str, ...] = ()
    symbols: tuple[Symbol, ...] = ()
