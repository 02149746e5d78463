"""The Python entry point in a simulator: cocotb is loaded without pytest, which our benches do not use."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace

from pygpi.entry import load_entry

__all__ = ["begin"]


def begin() -> None:
    """Load cocotb as it loads itself, but for pytest, a tenth to a sixth of the CPU time of a run of a few vectors.

    cocotb imports three exceptions from it, and the assertion rewriter, which it does not use if it is told that there
    are no assertions to rewrite. Imports by a bench get the real pytest.
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
