"""RTL of any structure as integer combinations of atoms, modulo powers of two: sums are equal in whatever pieces."""
