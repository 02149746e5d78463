"""Cross-check of two front ends: compare their netlists of one design, and prove both."""
