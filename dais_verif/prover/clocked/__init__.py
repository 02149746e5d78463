"""Designs with registers: their pins, their state, and the induction over it."""
