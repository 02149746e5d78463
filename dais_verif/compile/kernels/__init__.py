"""Kernels: blocks with an index space, access patterns and glue code, in libraries that are found by name.

Terms, codes and rules are those of Habana's kernel libraries; ``docs/kernels.md`` maps them to the terms used here.
"""
