"""Mutants of RTL: small changes of the kinds that people and generators get wrong; benches for many mutants."""
