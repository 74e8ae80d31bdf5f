"""Frames: values go through a pipe one after the other, each with its length before it.

Both ends are this program, started by the same person, so values go as pickles.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

HEAD = struct.Struct("<I")


def write(pipe: IO[bytes], value: Any) -> None:
    """Send a value. Raises OSError when nobody is there."""
    raw = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    pipe.write(HEAD.pack(len(raw)) + raw)
    pipe.flush()


def read(pipe: IO[bytes]) -> Any:
    """The next value. Raises EOFError when there is none any more."""
    (length,) = HEAD.unpack(_whole(pipe, HEAD.size))
    return pickle.loads(_whole(pipe, length))  # noqa: S301 (our own process sent it)


def _whole(pipe: IO[bytes], length: int) -> bytes:
    raw = pipe.read(length)
    if len(raw) < length:
        raise EOFError
    return raw
