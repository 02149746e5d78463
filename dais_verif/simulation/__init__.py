"""Simulate RTL: find the simulators, build a design, run a cocotb bench in it."""
