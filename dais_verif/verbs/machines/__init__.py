"""Use cases with a machine instead of a program; requests and records are the same as for programs."""
