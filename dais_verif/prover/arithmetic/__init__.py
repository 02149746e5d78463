"""RTL of any structure as integer combinations of atoms modulo powers of two, to compare sums of any structure."""
