"""Code that runs inside a simulator: cocotb testbenches, their jobs, and ports as bits."""
