"""The text form of machines, which people read and write: ``docs/machines.md`` has the grammar."""
