"""What is kept of a run: typed, immutable records, one class a thing, and the one way in which they become JSON."""
