"""Prove that two designs with registers and memories, as gates, are equal in every cycle from power-up."""
