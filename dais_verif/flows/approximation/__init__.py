"""Use cases of approximation: files of configurations, shown and converted."""
