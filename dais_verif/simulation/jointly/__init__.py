"""Many small designs in one build and one run: what passes so passes alone, and whatever does not is run alone."""
