"""Build a design for Icarus, Verilator and GHDL."""
