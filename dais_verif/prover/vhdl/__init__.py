"""VHDL as Verilog for a proof: GHDL's synthesis reads it, and its netlist is written out."""
