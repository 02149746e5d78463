"""The functions of ``import dais_verif``: each makes a request of its arguments, and returns the record of a flow.

They print nothing; a ``Progress`` hears of what goes on. A wrong design is a verdict of the record; what cannot be used
at all raises a ``DaisError``.
"""

from __future__ import annotations

import dais_verif.notebooks  # noqa: F401  # records show themselves
