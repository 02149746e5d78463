"""Laws of a mapping, decided for all members: each element is written once, and members read as stated."""
