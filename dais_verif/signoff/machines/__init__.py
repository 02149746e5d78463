"""Sign-off of machines: the same stages where they make sense, over cycles from power-up in the place of vectors."""
