"""Use cases that only need the program and its golden model."""
