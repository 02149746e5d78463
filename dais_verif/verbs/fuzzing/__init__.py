"""Use cases of fuzzing: run random cases through implementations that must agree, and shrink failing cases."""
