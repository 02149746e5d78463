"""Registers: latency, clocks, enables and resets, the transition system that they form, and valid pins."""
