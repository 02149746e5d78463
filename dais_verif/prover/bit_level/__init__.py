"""Proof bit by bit, where a design has no words any more: program and netlist in one graph, and equal points merged."""
