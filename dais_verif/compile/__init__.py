"""What makes programs and machines: kernels, networks, approximation."""
