"""Maintenance: time comes in, better memories come out. `pipeline.py` first."""
