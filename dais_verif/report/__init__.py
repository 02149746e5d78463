"""The record of a run and its renderings."""
