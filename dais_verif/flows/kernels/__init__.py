"""Use cases with kernels: what libraries there are, and what their kernels take."""
