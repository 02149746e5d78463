"""Hardware in the loop: a real board, or one in simulation, as the design under test."""
