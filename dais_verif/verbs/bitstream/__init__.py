"""Use cases that build bitstreams from programs and machines."""
