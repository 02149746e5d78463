"""The steps of proving RTL: read it, prove it, confirm by simulation, replay counterexamples, write the record."""
