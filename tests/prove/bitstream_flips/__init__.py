"""Bits of bitstreams turned over, one at a time: what becomes of each."""
