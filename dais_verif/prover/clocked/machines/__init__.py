"""Prove by induction over clock edges that RTL is equivalent to a machine in every cycle."""
