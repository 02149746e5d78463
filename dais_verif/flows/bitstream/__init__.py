"""Bitstreams: built of programs and machines."""
