"""What is drawn of things, as records."""
