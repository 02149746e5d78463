"""Records as one self-contained HTML page, for the screen, for paper and for screen readers.

Importing this package without the extra [report] raises a ``ModuleNotFoundError`` that names the extra.
"""

from __future__ import annotations

from dais_verif.base.packages import missing_packages

try:
    from dais_verif.report.html.page import render, write_report
    from dais_verif.report.html.sources import Source, source_of
except ModuleNotFoundError as error:
    line = missing_packages(error, "report")
    if line is None:
        raise
    raise ModuleNotFoundError(line, name=error.name, path=error.path) from error

__all__ = ["Source", "render", "source_of", "write_report"]
