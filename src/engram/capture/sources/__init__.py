"""Sources: whatever is no live conversation is read into items here, and goes in through the same gate.

One module reads one format and knows nothing else; `take.py` is the way in.
"""
