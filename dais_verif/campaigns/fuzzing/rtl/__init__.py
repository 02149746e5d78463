"""Cases of a program, vectors and user RTL: find parts of the RTL that can be removed."""
