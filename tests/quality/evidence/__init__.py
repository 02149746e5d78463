"""The campaigns of docs/developers/testing.md: each continues where it stopped, and fails if anything is wrong."""
