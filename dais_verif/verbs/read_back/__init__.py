"""Use cases with bitstreams instead of RTL: read back, and verified like any other design."""
