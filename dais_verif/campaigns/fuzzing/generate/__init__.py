"""Generate random cases from seeds: programs of every opcode and shape, and vectors for them."""
