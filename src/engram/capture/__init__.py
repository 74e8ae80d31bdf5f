"""Capture: statements come in, memories come out. Begin with `pipeline.py`."""
