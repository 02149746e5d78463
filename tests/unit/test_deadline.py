"""A limit of time holds inside its block alone, and an inner one cannot extend an outer one."""

from __future__ import annotations

import pytest

from dais_verif.prover.limits import OutOfTime, require_time, time_limit


def test_a_limit_holds_inside_its_block() -> None:
    require_time()
    with time_limit(0.0):
        with time_limit(1e6), pytest.raises(OutOfTime):
            require_time()
        with pytest.raises(OutOfTime):
            require_time()
    require_time()
