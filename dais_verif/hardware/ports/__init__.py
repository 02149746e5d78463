"""The interface of a design under test: its ports, the meaning of their bits, and their timing."""
