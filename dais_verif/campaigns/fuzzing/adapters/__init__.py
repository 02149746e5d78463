"""Adapters that run other tools for ``fuzz --against``: scripts that take a program and inputs and write outputs."""
