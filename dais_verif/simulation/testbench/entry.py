"""The Python entry point in a simulator: it loads cocotb without pytest, which our benches do not use."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace

from pygpi.entry import load_entry

__all__ = ["begin"]


def begin() -> None:
    """Load cocotb without pytest, whose loading takes 10 % to 17 % of the CPU time of a run of a few vectors.

    cocotb imports three exceptions from pytest, and the assertion rewriter, which it does not use if there are no
    assertions to rewrite. A bench that imports pytest gets the real one.
    """
    stand_in = ModuleType("pytest")
    for name in ("raises", "skip", "xfail"):
        setattr(stand_in, name, SimpleNamespace(Exception=type(name, (BaseException,), {})))
    sys.modules["pytest"] = stand_in
    from cocotb.regression import RegressionManager

    RegressionManager.setup_pytest_assertion_rewriting = classmethod(lambda _: None)  # type: ignore[assignment, method-assign]
    del os.environ["PYGPI_USERS"]
    load_entry()
    del sys.modules["pytest"]
