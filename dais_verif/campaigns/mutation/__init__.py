"""Mutants of RTL: small changes that are typical errors of people and generators, and benches for many mutants."""
