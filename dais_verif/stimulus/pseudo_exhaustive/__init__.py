"""Pseudo-exhaustive testing: vectors with all combinations of the inputs on which an output depends."""
