"""A simulation ends if the process that makes its vectors has ended."""

from __future__ import annotations

import os

import pytest

from dais_verif.simulation.testbench.exchange import require_maker


def test_a_process_that_nobody_waits_for_has_ended() -> None:
    maker = os.fork()
    if not maker:
        os._exit(0)
    os.waitid(os.P_PID, maker, os.WEXITED | os.WNOWAIT)  # now it is a zombie
    try:
        with pytest.raises(EOFError):
            require_maker(maker)
    finally:
        os.waitpid(maker, 0)
    with pytest.raises(EOFError):
        require_maker(maker)
    require_maker(os.getpid())
