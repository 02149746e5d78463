"""The smallest case that still fails: steps that make a case simpler, taken as long as it still fails."""
