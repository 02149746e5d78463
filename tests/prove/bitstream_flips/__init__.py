"""Flip bits of bitstreams, one at a time, and classify the effect of each."""
