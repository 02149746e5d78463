"""Hardware that computes tensors in frames: a kernel's members, or a network, by one simulation and one proof."""
