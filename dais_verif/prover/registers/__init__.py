"""Registers: their latency, clocks, enables and resets, the state machine that they form, valid and ready pins."""
