"""Boards held against the golden model: vectors run on them, links to them, and which op is wrong on one."""
