"""An instance as a machine: counters, address logic and pads are blocks, tensors are memories or streams."""
