"""Campaigns whose numbers docs/evidence.md states: each continues where it stopped, and fails if anything is wrong."""
