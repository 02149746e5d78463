"""Options that belong together, each as one value for the verb: a design, a pipeline, coverage."""
