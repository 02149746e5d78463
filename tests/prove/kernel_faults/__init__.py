"""Faults of kernels as hardware, in mapping, control and block: what driving finds of them, and what the proof does."""
