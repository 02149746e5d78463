"""Drive the hardware of an instance cycle by cycle: write tensors, run members, read tensors."""
