"""Groups of options, each passed to the verb as one value: a design, a pipeline, coverage."""
