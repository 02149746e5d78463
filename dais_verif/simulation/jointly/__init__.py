"""Run many small designs in one build and one run; a design that does not pass is run again alone."""
