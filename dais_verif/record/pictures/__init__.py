"""Drawings as records."""
