"""The functions of ``import dais_verif``: each turns its arguments into a request, and returns the record of a flow.

They print nothing; progress goes to a ``Progress`` object. A wrong design gives a verdict in the record; unusable
arguments raise a ``DaisError``.
"""

from __future__ import annotations

import dais_verif.report.notebooks  # noqa: F401  # records show themselves
