"""Machines on pages: their content, and a diagram."""
