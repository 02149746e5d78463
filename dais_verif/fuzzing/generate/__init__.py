"""Random cases, made of a seed each: programs of every opcode and shape, and vectors for them."""
