"""Proof that RTL computes a program, for all inputs, op by op."""
