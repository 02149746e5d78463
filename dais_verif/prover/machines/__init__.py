"""Proofs that RTL does what a machine does, in every cycle: by induction over its edges."""
