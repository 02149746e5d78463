"""Explain a mismatch: replay the vector, name the first wrong op, list the relevant signals."""
