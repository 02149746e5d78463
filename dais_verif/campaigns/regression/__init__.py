"""Many runs as one: programs, variants, simulators and seeds; on this machine or on a cluster."""
