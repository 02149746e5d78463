"""Faults in the mapping, control and block of kernel hardware, found by simulation, by the proof, or by both."""
