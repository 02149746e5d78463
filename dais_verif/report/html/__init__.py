"""Records as one HTML page that needs nothing else: for people, on screen, on paper and read aloud."""

from __future__ import annotations

from dais_verif.report.html.page import render, write_report
from dais_verif.report.html.sources import Source, source_of

__all__ = ["Source", "render", "source_of", "write_report"]
