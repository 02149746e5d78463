"""Synthesis with Yosys: the costs of a program on an FPGA, netlists to simulate and to prove, and bitstreams."""
