"""Arithmetic on vectors: how they are kept small, sketched in bits, and compared. Pure functions."""
