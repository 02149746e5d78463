"""The Python entry point in a simulator: it loads cocotb without modules that our benches do not use."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

from pygpi.entry import load_entry

__all__ = ["begin"]


def begin() -> None:
    """Load cocotb without pytest, asyncio and pdb, whose loading takes 0.1 s of CPU time.

    cocotb imports exceptions from the first two, and the assertion rewriter, which it does not use if there are no
    assertions to rewrite; and a debugger, which it starts only on request. A bench that imports them gets the real
    modules, but the exception of a cancelled task is cocotb's own. Its version, which it writes into the log, cocotb
    would look up in the metadata of packages.
    """
    pytest, asyncio = ModuleType("pytest"), ModuleType("asyncio")
    for name in ("raises", "skip", "xfail"):
        setattr(pytest, name, SimpleNamespace(Exception=type(name, (BaseException,), {})))
    for name, base in (("CancelledError", BaseException), ("InvalidStateError", Exception)):
        setattr(asyncio, name, type(name, (base,), {}))
    stand_ins = {"pytest": pytest, "asyncio": asyncio, "pdb": ModuleType("pdb")}
    sys.modules.update(stand_ins)
    _tell_version()
    import cocotb.triggers  # noqa: F401  # the rest of what imports them
    from cocotb.regression import RegressionManager

    for name in stand_ins:
        del sys.modules[name]
    RegressionManager.setup_pytest_assertion_rewriting = classmethod(lambda _: None)  # type: ignore[assignment, method-assign]
    del os.environ["PYGPI_USERS"]
    load_entry()


def _tell_version() -> None:
    """Give cocotb its version, as the folder of its metadata is called."""
    found = [path.name for path in Path(load_entry.__code__.co_filename).parents[1].glob("cocotb-[0-9]*.dist-info")]
    if len(found) == 1:
        module = ModuleType("cocotb._version")
        vars(module)["__version__"] = found[0].removeprefix("cocotb-").removesuffix(".dist-info")
        sys.modules[module.__name__] = module
