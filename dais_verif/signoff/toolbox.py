"""Identify the tools of a sign-off: their versions, and hashes of executables and packages."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import dais_verif
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.subject import sha256_of
from dais_verif.toolchain import tools, verilator_runtime
from dais_verif.toolchain.icetime import part_of

__all__ = ["Tool", "runtime_of", "tool_names", "tools_of"]

#: Packages that the commands load and that influence their results.
_PACKAGES = ("bitwuzla", "cocotb", "msgspec", "numpy", "pyslang")

#: The executables of IceStorm, which states no version. Its device data are hashed with them.
_ICESTORM = ("icepack", "icetime", "iceunpack")

#: Verilator's runtime as a tool: its version is the hash of all that went into it, its hash that of its objects.
_RUNTIME = "verilator-runtime"

_PASSING = ("__pycache__", ".pyc")


@dataclass(frozen=True)
class Tool:
    """A tool. ``sha256``: the hash of its executables, or of all files of a Python package."""

    version: str
    sha256: str


def runtime_of(policy: Policy, *, installed: bool, cache: Path) -> dict[str, Tool]:
    """Return Verilator's runtime as a tool, if ``policy`` needs it and it was compiled.

    ``installed``: the installed one may be used; else, only one in the folder of runtimes ``cache``.
    """
    if "verilator" not in policy.simulators:
        return {}
    folder = verilator_runtime.find(installed=installed, cache=cache)
    return {} if folder is None else {_RUNTIME: Tool(folder.name, verilator_runtime.digest(folder))}


def tools_of(policy: Policy, runtime: Mapping[str, Tool], *, netlist: bool) -> dict[str, Tool]:
    """Return the tools of a sign-off by ``policy``. Raises ``ToolError`` if one is missing.

    ``runtime``: that of Verilator, from ``runtime_of``. ``netlist``: the sign-off synthesized a netlist.
    """
    package = Path(dais_verif.__file__).parent
    sources = [path for path in package.rglob("*") if path.is_file() and not path.name.startswith(".")]
    found = {
        "dais-verif": Tool(dais_verif.__version__, _of_files(sources, package)),
        "python": Tool(platform.python_version(), sha256_of(Path(sys.executable).resolve())),
        **{name: tool for name in _PACKAGES if (tool := _package(name)) is not None},
        **runtime,
    }
    for name in policy.simulators:
        found |= _SIMULATORS[name]()
    if netlist:
        yosys = tools.yosys()
        found["yosys"] = Tool(yosys.version, _together([yosys.yosys]))
    if policy.bitstream.device is not None:
        chip = tools.icestorm_chip(part_of(policy.bitstream.device)[2])
        found["icestorm"] = Tool(chip.stem, _together([*map(tools.icestorm, _ICESTORM), chip]))
    return dict(sorted(found.items()))


def tool_names(policy: Policy, *, netlist: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the tools that ``tools_of`` must return, and of those that it may return in addition."""
    needed = {"dais-verif", "python", *policy.simulators}
    needed |= {"g++"} if "verilator" in policy.simulators else set()
    needed |= {"yosys"} if netlist else set()
    needed |= {"icestorm"} if policy.bitstream.device is not None else set()
    return frozenset(needed), frozenset(_PACKAGES) | ({_RUNTIME} if "verilator" in policy.simulators else set())


def _icarus() -> dict[str, Tool]:
    icarus = tools.icarus()
    return {"icarus": Tool(icarus.version, _together([icarus.iverilog, icarus.vvp]))}


def _verilator() -> dict[str, Tool]:
    verilator = tools.verilator()
    return {
        "verilator": Tool(verilator.version, _together([Path(verilator.driver[-1])])),
        "g++": Tool(verilator.compiler_version, _together([verilator.compiler])),
    }


def _ghdl() -> dict[str, Tool]:
    ghdl = tools.ghdl()
    return {"ghdl": Tool(ghdl.version, _together([ghdl.ghdl]))}


_SIMULATORS = {"icarus": _icarus, "verilator": _verilator, "ghdl": _ghdl}


@functools.lru_cache
def _package(name: str) -> Tool | None:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    folder = Path(str(found.locate_file("")))
    return Tool(found.version, _of_files([Path(str(found.locate_file(file))) for file in found.files or []], folder))


def _of_files(paths: Iterable[Path], folder: Path) -> str:
    """Return a hash of the names and contents of files, except compiled Python files."""
    kept = sorted(path for path in paths if not any(part in path.as_posix() for part in _PASSING) and path.is_file())
    return _digest({_under(path, folder): sha256_of(path) for path in kept})


def _under(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _together(executables: Sequence[Path]) -> str:
    return _digest({path.name: sha256_of(path.resolve()) for path in executables})


def _digest(hashes: Mapping[str, str]) -> str:
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items()))
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()
