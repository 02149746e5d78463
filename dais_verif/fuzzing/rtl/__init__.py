"""Cases that are a program, vectors and somebody's RTL of it: what of the RTL can be left out."""
