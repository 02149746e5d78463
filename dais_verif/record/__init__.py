"""Records of runs: typed, immutable classes, and their single conversion to JSON."""
