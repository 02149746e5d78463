"""Third-party tools: find them, run them within limits and in a sandbox, cache builds, and make input files safe."""
