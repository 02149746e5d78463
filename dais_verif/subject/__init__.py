"""What a verb was given in place of PROGRAM: found out once, by its content, and taken or refused by one table."""

from dais_verif.subject.matrix import open_for
from dais_verif.subject.opening import open_subject
from dais_verif.subject.subject import Kind, Subject

__all__ = ["Kind", "Subject", "open_for", "open_subject"]
