"""Machines as cases of the fuzzer: random machines and kernels as hardware, pairs that must agree, shrinking."""
