"""Networks as machines: a kernel instance for each part of a fused node, with memories or streams between them."""
