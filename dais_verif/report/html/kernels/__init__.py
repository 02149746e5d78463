"""Instances of kernels on a page: grids of the elements that a member accesses, and charts of member activity."""
