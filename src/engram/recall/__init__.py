"""Recall: a question comes in, the right memories come out. Begin with `pipeline.py`."""
