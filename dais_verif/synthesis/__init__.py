"""Synthesis with Yosys: what a program costs on an FPGA, and netlists that the bench can run."""
