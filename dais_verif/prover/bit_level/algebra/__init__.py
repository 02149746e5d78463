"""Algebraic proof that the bits of a circuit add up to a given number, for all inputs."""
