"""Reranking: what was found and judged is put in order once more. Begin with `choose.py`."""
