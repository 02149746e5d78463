"""Simulate machines: sequences from power-up, every output bit before and after every edge."""
