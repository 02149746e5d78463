"""Tools that others made: found, run within limits and in a sandbox, their builds kept, their input files made safe."""
