"""Bitstreams of iCE40 FPGAs read back: from the file that is loaded into a device to the logic that it makes of it."""
