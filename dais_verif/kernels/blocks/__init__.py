"""Blocks of kernels, written as programs without overflow: each type is the smallest sufficient one."""
