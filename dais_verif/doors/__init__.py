"""The ways in: the command line and the functions of Python."""
