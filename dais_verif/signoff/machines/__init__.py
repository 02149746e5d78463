"""Sign-off of machines: the stages that apply to them, over cycles from power-up instead of vectors."""
