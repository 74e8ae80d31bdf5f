"""Benchmarks: public data sets and made-up loads go through the engine's own doors, figures come out."""
