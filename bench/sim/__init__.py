"""``python -m bench.sim``: ``dais-verif sim`` beside da4ml's own way from a program to simulated Verilog."""
