"""Use cases of kernels: list libraries and the parameters of their kernels; build, simulate and prove instances."""
