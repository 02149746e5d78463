"""Instances of kernels on a page: grids of what a member touches, and charts of when members do what."""
