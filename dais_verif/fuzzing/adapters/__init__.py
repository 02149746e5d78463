"""Tools of others as ``fuzz --against`` runs them: each a script from a program and inputs to outputs."""
