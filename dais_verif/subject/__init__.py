"""What a verb was given in place of PROGRAM: found out once, by its content."""

from dais_verif.subject.opening import open_subject
from dais_verif.subject.subject import Kind, Subject

__all__ = ["Kind", "Subject", "open_subject"]
