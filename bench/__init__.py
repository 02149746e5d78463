"""Benchmarks: run from the root of the repository, no part of the package."""
