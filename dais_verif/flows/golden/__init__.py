"""Use cases that need the program and its golden model alone."""
