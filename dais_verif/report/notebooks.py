"""Display of records in notebooks: the HTML parts of reports, loaded when a notebook first needs them."""

from __future__ import annotations

from dais_verif.base.packages import name_missing_packages
from dais_verif.record.base import Record, show_in_notebooks


@name_missing_packages
def _html(record: Record) -> str:
    from dais_verif.report.html.notebook import record_html

    return record_html(record)


show_in_notebooks(_html)
