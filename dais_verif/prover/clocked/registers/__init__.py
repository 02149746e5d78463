"""Registers: latency, clocks, enables and resets, the transition system that registers form, and valid pins."""
