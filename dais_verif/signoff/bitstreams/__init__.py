"""Sign off an FPGA bitstream: read it back, simulate and prove it, check its timing, and detect a seeded fault."""
