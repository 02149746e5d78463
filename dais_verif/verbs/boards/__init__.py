"""Compare boards with the golden model: run vectors on them, open links to them, and find a wrong op."""
