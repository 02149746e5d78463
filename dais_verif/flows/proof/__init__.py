"""The parts of proving RTL: reading it, deciding, confirming by simulation, replaying what is wrong, the record."""
