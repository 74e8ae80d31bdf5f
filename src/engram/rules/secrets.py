"""Tokens: random bytes become a secret to hand out; a secret becomes the digest that is kept.

A secret has 256 random bits, so a plain digest is enough: there is nothing to guess and nothing to stretch.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable
from hashlib import blake2b, sha256
from typing import TypeVar

# ---------------------------------------------------------------- sealing
# Sealing: bytes and a key come in; bytes that say nothing without the key go out, and back again.
#
# The base install has no cipher of its own, so this puts standard parts together in the standard way:
# BLAKE2b, keyed, over nonce and counter is the stream; a second key signs nonce, purpose and the sealed
# bytes (encrypt, then authenticate). Meant for kilobytes. The nonce is chance, and is passed in; it must
# never come twice.


KEY_BYTES = 32
NONCE_BYTES = 24
_TAG_BYTES = 32
_BLOCK = 64
_VERSION = b"\x01"


def seal(plain: bytes | bytearray, key: bytes, nonce: bytes, about: str) -> bytes:
    """The bytes sealed. `about` says what they are: unsealing as something else fails.

    >>> sealed = seal(b"words", bytes(32), bytes(24), "session")
    >>> unseal(sealed, bytes(32), "session"), unseal(sealed, bytes(32), "other")
    (bytearray(b'words'), None)
    """
    if len(key) != KEY_BYTES or len(nonce) != NONCE_BYTES:
        message = f"A seal takes a key of {KEY_BYTES} bytes and a nonce of {NONCE_BYTES}."
        raise ValueError(message)
    hidden = bytes(_turned(plain, key, nonce))
    return _VERSION + nonce + _tag(hidden, key, nonce, about) + hidden


def unseal(sealed: bytes, key: bytes, about: str) -> bytearray | None:
    """The bytes that were sealed; None for another key, another purpose, or anything changed since."""
    start = len(_VERSION)
    nonce = sealed[start : start + NONCE_BYTES]
    tag = sealed[start + NONCE_BYTES : start + NONCE_BYTES + _TAG_BYTES]
    hidden = sealed[start + NONCE_BYTES + _TAG_BYTES :]
    if sealed[:start] != _VERSION or not hmac.compare_digest(tag, _tag(hidden, key, nonce, about)):
        return None
    return _turned(hidden, key, nonce)


def subkey(key: bytes, label: str) -> bytes:
    """A key for one purpose, from which neither the key nor another purpose's can be told."""
    return blake2b(label.encode(), key=key, digest_size=KEY_BYTES, person=b"engram-subkey").digest()


def _turned(data: bytes | bytearray, key: bytes, nonce: bytes) -> bytearray:
    """The data with the stream laid over it: once hides it, twice shows it."""
    stream_key = subkey(key, "stream")
    blocks = range(-(-len(data) // _BLOCK))
    stream = b"".join(
        blake2b(nonce + block.to_bytes(8), key=stream_key, digest_size=_BLOCK).digest() for block in blocks
    )
    mixed = int.from_bytes(data) ^ int.from_bytes(stream[: len(data)])
    return bytearray(mixed.to_bytes(len(data)))


def _tag(hidden: bytes, key: bytes, nonce: bytes, about: str) -> bytes:
    name = about.encode()
    signed = blake2b(key=subkey(key, "tag"), digest_size=_TAG_BYTES)
    for part in (_VERSION, nonce, len(name).to_bytes(8), name, hidden):
        signed.update(part)
    return signed.digest()


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
