"""Bitstreams in the place of RTL: read back, and verified like any other design."""
