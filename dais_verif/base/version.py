"""The version, in a separate module, so that a build can read it without importing anything else."""

VERSION = "0.1.0"
