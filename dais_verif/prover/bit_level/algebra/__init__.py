"""Words of bits as numbers: whether the bits of a circuit add up to what a word means, for all values."""
