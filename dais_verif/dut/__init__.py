"""How a design under test carries a program: its ports, what their bits mean, and when."""
