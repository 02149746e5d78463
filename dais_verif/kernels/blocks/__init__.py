"""Blocks of kernels, written as programs in which nothing can overflow: each type is the smallest that will do."""
