"""Records of runs over many designs: what became of each."""
