"""``python -m bench.sim``: ``dais-verif sim`` compared with da4ml's own flow from a program to simulated Verilog."""
