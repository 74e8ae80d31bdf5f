"""The version: written here, read by the build, the library and the command line."""

from __future__ import annotations

__version__ = "0.1.0"
