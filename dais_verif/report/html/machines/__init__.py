"""Machines on pages: what is in one, and a diagram of it."""
