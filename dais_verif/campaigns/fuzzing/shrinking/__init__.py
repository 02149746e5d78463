"""Find the smallest case that still fails, by steps that make a case simpler."""
