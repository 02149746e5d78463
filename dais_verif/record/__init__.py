"""Records of runs: typed, immutable classes, and their conversion to JSON."""
