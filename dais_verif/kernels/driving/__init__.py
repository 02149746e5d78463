"""How hardware of an instance is driven: tensors go in, members run, tensors come out, cycle by cycle."""
