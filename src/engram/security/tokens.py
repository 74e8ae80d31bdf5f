"""Tokens: random bytes become a secret to hand out; a secret becomes the digest that is kept.

A secret has 256 random bits, so a plain digest is enough: there is nothing to guess and nothing to stretch.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from hashlib import sha256
from typing import TypeVar

SECRET_BYTES = 32
BEGINNING = "engram_"
"""What every secret begins with, so that a scanner of leaked secrets knows one."""

Kept = TypeVar("Kept")


def secret_from(chance: bytes) -> str:
    """A secret to hand out.

    >>> secret_from(bytes(32))
    'engram_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    if len(chance) < SECRET_BYTES:
        message = f"A secret needs {SECRET_BYTES} random bytes."
        raise ValueError(message)
    return BEGINNING + base64.urlsafe_b64encode(chance).decode().rstrip("=")


def digest_of(secret: str) -> str:
    """What is kept of a secret.

    >>> digest_of("engram_x")[:12]
    '093a5ab1d2f3'
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def match(secret: str, known: Iterable[tuple[str, Kept]]) -> Kept | None:
    """What is kept with the digest of this secret. Every digest is compared, each in the same time."""
    digest, found = digest_of(secret), None
    for one, kept in known:
        if hmac.compare_digest(one, digest):
            found = kept
    return found
