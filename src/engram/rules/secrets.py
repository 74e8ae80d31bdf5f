"""Tokens: random bytes become a secret to hand out; a secret becomes the digest that is kept.

A secret has 256 random bits, so a plain digest is enough: there is nothing to guess and nothing to stretch.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import TypeVar

# ---------------------------------------------------------------- sealing
# Sealing: bytes and a key come in; bytes that say nothing without the key go out, and back again.
#
# AES-256-GCM-SIV: a nonce that came twice by accident would tell only that two texts are equal. What the
# bytes are about is signed with them. The nonce is chance, and is passed in.


KEY_BYTES = 32
NONCE_BYTES = 12
_VERSION = b"\x02"


def seal(plain: bytes | bytearray, key: bytes, nonce: bytes, about: str) -> bytes:
    """The bytes sealed. `about` says what they are: unsealing as something else fails.

    >>> sealed = seal(b"words", bytes(32), bytes(12), "session")
    >>> unseal(sealed, bytes(32), "session"), unseal(sealed, bytes(32), "other")
    (bytearray(b'words'), None)
    """
    if len(key) != KEY_BYTES or len(nonce) != NONCE_BYTES:
        message = f"A seal takes a key of {KEY_BYTES} bytes and a nonce of {NONCE_BYTES}."
        raise ValueError(message)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV  # 20 ms, which few need

    return _VERSION + nonce + AESGCMSIV(key).encrypt(nonce, bytes(plain), about.encode())


def unseal(sealed: bytes, key: bytes, about: str) -> bytearray | None:
    """The bytes that were sealed; None for another key, another purpose, or anything changed since."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

    start = len(_VERSION)
    nonce, hidden = sealed[start : start + NONCE_BYTES], sealed[start + NONCE_BYTES :]
    if sealed[:start] != _VERSION or len(nonce) != NONCE_BYTES:
        return None
    try:
        return bytearray(AESGCMSIV(key).decrypt(nonce, hidden, about.encode()))
    except InvalidTag:
        return None


def sign(message: bytes, seed: bytes) -> tuple[str, str]:
    """The Ed25519 signature of a message, and the public key that proves it; both as hexadecimal digits.

    >>> signature, public = sign(b"words", bytes(32))
    >>> is_signed(b"words", signature, public), is_signed(b"others", signature, public)
    (True, False)
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(seed)
    return key.sign(message).hex(), key.public_key().public_bytes_raw().hex()


def is_signed(message: bytes, signature: str, public: str) -> bool:
    """Whether the owner of a public key has signed this very message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def subkey(key: bytes | bytearray, label: str) -> bytes:
    """A key for one purpose by HKDF-SHA256, from which neither the key nor another purpose's can be told.

    >>> subkey(bytes(32), "database") == subkey(bytes(32), "field")
    False
    """
    pseudorandom = hmac.digest(b"engram", bytes(key), "sha256")
    return hmac.digest(pseudorandom, label.encode() + b"\x01", "sha256")


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


def without_password(address: str) -> str:
    """An address that may be shown.

    >>> without_password("postgresql://me:secret@db/engram?password=secret")
    'postgresql://me@db/engram?password=***'
    """
    shown = re.sub(r"(?<=//)([^:@/]*):[^@/]*@", r"\1@", address)
    return re.sub(r"(?<=password=)[^&\s]+", "***", shown)
