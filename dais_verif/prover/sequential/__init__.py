"""Two designs with registers and memories, as gates: are they equal in every cycle from power-up?"""
