"""The forms in which a network is written: unrolled, or as a machine."""

from __future__ import annotations

from collections.abc import Sequence

from dais_verif.base.errors import RequestError
from dais_verif.verbs.programs import require_range

__all__ = ["FORMS", "MACHINE_FORMS", "require_form"]

#: The forms of a network as a machine, and all forms.
MACHINE_FORMS = ("memory", "stream")
FORMS = ("unrolled", *MACHINE_FORMS)
#: The largest number of parallel members.
_MOST_PARALLEL = 1 << 10


def require_form(form: str, parallel: int, at_once: Sequence[int] = ()) -> None:
    """Raise ``RequestError`` unless ``form`` is one of ``FORMS`` and allows this many ``parallel`` members.

    ``at_once``: fused nodes, each of which one member computes as a whole; for machines only.
    """
    if form not in FORMS:
        raise RequestError.of("{form} must be one of {forms}, not {value!r}.", forms=", ".join(FORMS), value=form)
    require_range("parallel", parallel, 1, _MOST_PARALLEL)
    if form != "memory" and parallel > 1:
        raise RequestError.of(
            "{parallel} {value} is for {form} memory: the parallelism of unrolled hardware and of streams is fixed.",
            value=parallel,
        )
    if at_once and form == "unrolled":
        raise RequestError.of(
            "{at_once} is for {form} memory or stream: in unrolled hardware, all nodes are computed at once."
        )
