"""Fuzzing: random cases, pairs that must agree on them, and the smallest case that shows a disagreement."""
