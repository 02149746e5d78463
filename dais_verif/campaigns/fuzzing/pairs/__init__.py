"""Pairs of implementations that must agree on every program: two engines, a text and its program, RTL and its proof."""
