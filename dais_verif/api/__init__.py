"""The functions of ``import dais_verif``: each makes a request of its arguments, and returns the record of a flow.

They print nothing; a ``Progress`` receives their progress. A wrong design is a verdict of the record; unusable
arguments raise a ``DaisError``.
"""

from __future__ import annotations

import dais_verif.notebooks  # noqa: F401  # records show themselves
