"""The documents are true: the reference is fresh, and everything public is told somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import engram
from scripts import reference

ROOT = Path(__file__).parents[1]


def test_the_reference_says_what_the_code_says() -> None:
    stale = [path.name for path, text in reference.pages().items() if not reference.is_fresh(path, text)]

    assert stale == [], "run `make docs`"


def test_every_public_name_is_documented() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = set(re.findall(r"\w+", " ".join(page.read_text(encoding="utf-8") for page in pages)))

    assert [name for name in engram.__all__ if name not in told and name != "__version__"] == []


def test_links_between_documents_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not target.startswith("mailto:") and not (page.parent / target).exists()
    ]

    assert broken == []
