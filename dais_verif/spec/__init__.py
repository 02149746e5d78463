"""What must be computed: programs and machines."""
