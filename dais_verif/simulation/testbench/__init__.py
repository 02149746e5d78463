"""Code that runs in a simulator's process: cocotb testbenches, their jobs, and ports as bits."""
