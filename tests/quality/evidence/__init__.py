"""Campaigns whose numbers docs/evidence.md states: each goes on where it was, and fails if anything is wrong."""
