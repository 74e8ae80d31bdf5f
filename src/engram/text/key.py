"""The key: what of a memory is turned into its vector.

Who says a thing is part of what it means: "I play the violin" answers a question about Ann only when Ann
said it, and her own words seldom name her.
"""

from __future__ import annotations


def key_text(content: str, speaker: str = "", after: str = "") -> str:
    """The text that is embedded for a content; `after` is what it corrects without naming it.

    >>> key_text("I play the violin", speaker="Ann"), key_text("Ann plays the violin")
    ('Ann: I play the violin', 'Ann plays the violin')
    """
    whole = f"{after} {content}" if after else content
    return f"{speaker}: {whole}" if speaker else whole
