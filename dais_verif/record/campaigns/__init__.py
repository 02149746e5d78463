"""Records of runs over many designs, with the result of each."""
