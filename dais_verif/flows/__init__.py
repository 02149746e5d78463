"""Use cases: a request goes in, a record comes out, and the verdict is decided here or below.

No terminal and no command line: progress goes to a ``Progress``, which drops it by default.
"""
