"""What everything stands on: errors, verdicts, files, texts, caches, subprocesses and the sandbox."""
