"""Use cases of approximation: show, convert, apply, measure and search configurations of a network."""
