"""A mismatch explained: the vector replayed, the first wrong op named, the signals worth looking at."""
