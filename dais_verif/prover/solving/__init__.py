"""Obligations decided: normal forms, exhaustive evaluation, bitwuzla; caches, samples and files for other solvers."""
