"""Sign-off of what is loaded into an FPGA: read back, simulated, proved, fast enough; with a fault that is found."""
