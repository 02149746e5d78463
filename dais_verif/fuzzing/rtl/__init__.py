"""Cases that are a program, vectors and user RTL of it: what of the RTL can be left out."""
