"""Two front ends held against each other: both readings of a design are compared, and both are proved."""
