"""What runs inside a simulator: cocotb testbenches, the jobs that they read, and ports as bits."""
