"""Use cases with a machine in the place of a program: they are asked for, and recorded, as those of programs."""
