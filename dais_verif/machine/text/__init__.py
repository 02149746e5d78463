"""The text form of machines, for people to read and write; ``docs/machines.md`` has the grammar."""
