"""Driving the hardware of an instance: tensors go in, members run, tensors come out, cycle by cycle."""
