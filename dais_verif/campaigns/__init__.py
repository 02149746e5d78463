"""Many cases: regressions, fuzzing, mutants."""
