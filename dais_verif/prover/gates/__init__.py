"""Bit-level proof for designs without word-level signals: merge equal nodes of program and netlist in one graph."""
