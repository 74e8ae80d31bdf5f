"""Sealing: a memory or a turn comes in with its words; it goes out without them, and they are sealed beside.

What is sensitive keeps its words but for the parts that are ("call Anna at [phone]"), and is found by those.
What is confidential keeps a label alone, "(confidential: card)", and is found by meaning only, by vectors
that a secret rotation has turned. Everything that is made of memories is made of what goes out here: prompts,
exports, packs, files, knowledge, indexes. The words come back by `opened` alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, quote_plus

from engram.lazily import base64, hashlib, hmac, replace
from engram.model.clock import written_moment
from engram.model.memory import SOURCE_TRUST, SUSPICION, Memory, SealedWords, Space, Tier
from engram.model.session import LoopState
from engram.rules.commitments import CLOSED_TAG
from engram.rules.injection import SIGNS
from engram.rules.sensitivity import at_least, label, masked, redacted, sensitive_parts, tier_of
from engram.text import re
from engram.text.forms import FormsOnDemand
from engram.text.words import content_hash

if TYPE_CHECKING:
    from engram.model.capture import Turn
    from engram.ports import Embedded, Floats, KeyRing


FIELD: Final = "field"
"""The purpose of the key that words are sealed with."""
HASH: Final = "field hash"
"""Of the key that goes into the hash of sealed words: a short secret could be guessed by a plain one."""
PROJECTION: Final = "projection"
"""Of the key that the rotation of vectors is made of."""
CHECK: Final = "check"
"""Of the key that tells whether another one is the right one."""
TURNED: Final = "+sealed"
"""What is added to the version of a space for the vectors that were turned."""
MADE_LENGTH: Final = 24
_MADE = re.compile(rf"[0-9a-f]{{{MADE_LENGTH}}}(?:-\d+)?")
"""An id that was made of a turn's words."""
_LABEL = re.compile(r"\((?:sensitive|confidential)(?:: [a-z, -]+)?\)")
_TIMES: Final = frozenset({"heard_at", "due", "closed_at"})
_MARKS: Final = frozenset({SUSPICION, SIGNS})


def sealed(memory: Memory, keys: KeyRing) -> Memory:
    """The memory as it is kept: as it is when it is clear, else without the words, which are sealed beside.

    Its entities and metadata have to be worked out again from what is left.
    """
    if memory.tier is Tier.CLEAR:
        return without_secrets(memory)
    words = {
        "content": memory.content,
        "tags": list(memory.tags),
        "details": dict(memory.details),
        "speaker": memory.speaker,
        "source": memory.source,
    }
    left = _label(memory.content, memory.tier)
    hides_all = left is not None
    secrets = _written(memory.content)
    return replace(
        memory,
        content=redacted(memory.content) if left is None else left,
        content_hash=_keyed(content_hash(memory.content), keys),
        forms=FormsOnDemand(redacted(memory.content) if left is None else left),
        tags=tuple(_redacted(tag, secrets) for tag in memory.tags if tag == CLOSED_TAG or not hides_all),
        details=_kept(memory.details) if hides_all else _redacted(memory.details, secrets),
        speaker="" if hides_all else memory.speaker,
        source=_kind_of(memory.source) if hides_all else _redacted(memory.source, secrets),
        entities=(),
        metadata={},
        sealed=_seal(json.dumps(words, ensure_ascii=False, default=str), keys, memory.id),
    )


def without_secrets(memory: Memory) -> Memory:
    """The memory with nothing sensitive in what stands beside its words: tags, details and its source."""
    tags, details, source = (
        tuple(map(redacted, memory.tags)),
        _redacted(memory.details),
        redacted(memory.source),
    )
    if (tags, details, source) == (memory.tags, memory.details, memory.source):
        return memory
    return replace(memory, tags=tags, details=details, source=source)


def opened(memory: Memory, keys: KeyRing | None) -> Memory:
    """The memory with its words; as it is when nothing is sealed, or by another key."""
    text = unseal(memory.sealed, keys.key(FIELD), memory.id) if memory.sealed and keys else None
    if text is None:
        return memory
    words = json.loads(text.decode())
    text[:] = bytes(len(text))
    return replace(
        memory,
        content=words["content"],
        tags=tuple(words["tags"]),
        details={**memory.details, **words["details"], **_kept(memory.details)},
        speaker=words["speaker"],
        source=words.get("source", memory.source),
        forms=FormsOnDemand(words["content"]),
    )


def shown_to_others(memory: Memory, mode: str, keys: KeyRing) -> Memory | None:
    """A sealed memory as somebody sees it who may not open it; None when they are not to see it at all.

    Args:
        memory: as it is kept.
        mode: nothing, labels, masked or words; what is confidential is a label at most.
        keys: what it was sealed with.

    """
    if mode == "nothing":
        return None
    if mode == "labels" or memory.tier is Tier.CONFIDENTIAL:
        return memory
    known = opened(memory, keys)
    return known if mode == "words" else replace(memory, content=masked(known.content))


def sealed_turn(turn: Turn, keys: KeyRing, least: Tier = Tier.CLEAR) -> Turn:
    """The turn as it is logged, and at least as secret as what came of it."""
    tier = at_least(least, tier_of(turn.content))
    if tier is Tier.CLEAR:
        return turn
    left = _label(turn.content, tier)
    # An id that was made of the words would tell them to whoever guesses; one of the caller's stays.
    kept = _keyed(turn.id, keys)[:MADE_LENGTH] if _MADE.fullmatch(turn.id) else turn.id
    return replace(
        turn,
        id=kept,
        content=redacted(turn.content) if left is None else left,
        sealed=_seal(turn.content, keys, turn_about(turn.session, kept)),
    )


def opened_turn(turn: Turn, keys: KeyRing | None) -> Turn:
    """The turn with its words."""
    about = turn_about(turn.session, turn.id)
    text = unseal(turn.sealed, keys.key(FIELD), about) if turn.sealed and keys else None
    return turn if text is None else replace(turn, content=text.decode())


KEY, ALL = "key", "all"
"""The judgement that says which key words are sealed with."""


def fingerprint(keys: KeyRing) -> str:
    """What tells a key from another without telling it."""
    return keys.key(CHECK).hex()[:32]


def is_found_by_meaning(memory: Memory) -> bool:
    """Whether no word of it is left to be found by."""
    return bool(memory.sealed) and _LABEL.fullmatch(memory.content) is not None


def resealed(body: bytes, was: KeyRing, becomes: KeyRing, about: str) -> bytes | None:
    """What was sealed under one key, under another; None when the first does not open it."""
    text = unseal(body, was.key(FIELD), about)
    return None if text is None else _seal(text.decode(), becomes, about)


def resealed_hash(body: bytes, keys: KeyRing, about: str) -> str:
    """The hash that goes with sealed words under these keys."""
    text = unseal(body, keys.key(FIELD), about)
    return "" if text is None else _keyed(content_hash(json.loads(text.decode())["content"]), keys)


# ---------------------------------------------------------------- vectors


def turned(embedded: Embedded, keys: KeyRing) -> Embedded:
    """A vector as it is kept of what is confidential: in a space of its own, turned so that it tells nothing.

    All are turned alike, so their angles stay: a question that is turned too finds what it found before.
    """
    space = embedded.space
    rows = rotation(keys.key(PROJECTION), space.dims) @ embedded.vector
    return replace(embedded, space=turned_space(space), vector=rows.astype("float32"))


def turned_space(space: Space) -> Space:
    """The space of what was turned."""
    return replace(space, version=space.version + TURNED)


def is_turned(space_key: str) -> bool:
    """Whether this is the space of what was turned."""
    return space_key.endswith(TURNED)


@lru_cache(maxsize=4)
def rotation(key: bytes, dims: int) -> Floats:
    """An orthogonal matrix that follows from a key, and from nothing else."""
    import numpy as np

    chance = np.frombuffer(hashlib.shake_256(key).digest(dims * dims * 8), dtype=np.uint32)
    first, second = (chance.astype(np.float64) + 0.5).reshape(2, -1) / 2**32
    normal = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second)
    basis, corner = np.linalg.qr(normal.reshape(dims, dims))
    whole: Floats = (basis * np.sign(np.diag(corner))).astype(np.float32)
    return whole


# ---------------------------------------------------------------- what is left


def _label(text: str, tier: Tier) -> str | None:
    """What stands for a text that keeps no word; None when only parts of it must go."""
    parts = sensitive_parts(text)
    if tier is Tier.SENSITIVE and parts:
        return None
    return label(tier, parts)


def _kept(details: Mapping[str, Any]) -> dict[str, Any]:
    """What a confidential memory keeps of its details: times, the state of a loop, marks of ours, no words.

    They hold as they are now, not as they were when the words were sealed.
    """
    return {
        name: value
        for name, value in details.items()
        if name in _MARKS
        or (name in _TIMES and written_moment(value) is not None)
        or (name == "state" and value in tuple(LoopState))
    }


def _written(text: str) -> tuple[str, ...]:
    """What is sensitive in a text, also as an address of the web writes it."""
    pieces = [piece for part in sensitive_parts(text) for piece in part.pieces(text)]
    return tuple(dict.fromkeys(form for one in pieces for form in (one, quote(one), quote_plus(one))))


def _kind_of(source: str) -> str:
    """What kind of source it is, without its name."""
    kind = source.partition(":")[0]
    return kind if kind in SOURCE_TRUST else "import"


def _redacted(value: Any, secrets: Collection[str] = ()) -> Any:
    """Plain data with every text in it redacted, and without these pieces."""
    if isinstance(value, str):
        return without(redacted(value), secrets)
    if isinstance(value, Mapping):
        return {_redacted(name, secrets): _redacted(item, secrets) for name, item in value.items()}
    return [_redacted(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def without(value: Any, secrets: Collection[str]) -> Any:
    """Plain data without these pieces of text."""
    if isinstance(value, str):
        for piece in secrets:
            value = value.replace(piece, "[…]")
        return value
    if isinstance(value, Mapping):
        return {name: without(item, secrets) for name, item in value.items()}
    return [without(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def _seal(text: str, keys: KeyRing, about: str) -> SealedWords:
    # The nonce follows from what is sealed: the same words under the same id give the same bytes.
    nonce = hmac.digest(keys.key(HASH), f"{about}\n{text}".encode(), "sha256")[:NONCE_BYTES]
    return SealedWords(seal(text.encode(), keys.key(FIELD), nonce, about))


def _keyed(digest: str, keys: KeyRing) -> str:
    return hmac.digest(keys.key(HASH), digest.encode(), "sha256").hex()


def turn_about(session: str, turn: str) -> str:
    """What the words of a turn are sealed as."""
    return f"turn {turn} of {session}"


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
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


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
