"""Icarus, Verilator and GHDL: a design built for each."""
