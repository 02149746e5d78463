"""Use cases: each takes a request and returns a record; the verdict is decided here or in a layer below.

This package does not use the terminal or the command line: progress goes to a ``Progress``, which drops it by default.
"""
