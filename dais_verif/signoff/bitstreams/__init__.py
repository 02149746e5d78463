"""Sign-off of an FPGA bitstream: read back, simulated, proved, fast enough; and a seeded fault is detected."""
