"""Benchmarks, which are run from the root of the repository and are not a part of the package."""
