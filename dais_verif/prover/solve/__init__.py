"""Decide obligations by normal forms, exhaustive evaluation and bitwuzla; caches, samples, files for other solvers."""
