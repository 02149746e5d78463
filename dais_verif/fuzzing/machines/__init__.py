"""Machines as cases of the fuzzer: random ones, and kernels of which hardware is made; what must agree; made small."""
