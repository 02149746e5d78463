"""Use cases of mutation: measure the quality of a verification."""
