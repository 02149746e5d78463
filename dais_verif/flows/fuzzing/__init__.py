"""Use cases that look for what goes wrong: random cases through everything that must agree, and cases made small."""
