"""Read back bitstreams of iCE40 FPGAs: from the file that is loaded into a device to the logic that it configures."""
