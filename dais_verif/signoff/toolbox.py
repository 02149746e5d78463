"""Identify the tools of a sign-off: their versions, and hashes of executables and packages."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import dais_verif
from dais_verif.signoff.policy import Policy
from dais_verif.toolchain import tools, verilator_runtime
from dais_verif.toolchain.icetime import part_of
from dais_verif.toolchain.tool_files import PACKAGES, content_of, own_files, package_files, python_files, tool_files

__all__ = ["Tool", "runtime_of", "tool_names", "tools_of"]

#: The tools behind each simulator, and the version of each.
_BEHIND = {"icarus": ("icarus",), "verilator": ("verilator", "g++"), "ghdl": ("ghdl",)}
_VERSIONS: dict[str, Callable[[], str]] = {
    "icarus": lambda: tools.icarus().version,
    "verilator": lambda: tools.verilator().version,
    "g++": lambda: tools.verilator().compiler_version,
    "ghdl": lambda: tools.ghdl().version,
}

#: The executables of IceStorm, which states no version. Its device data are hashed with them.
_ICESTORM = ("icepack", "icetime", "iceunpack")

#: Verilator's runtime as a tool: its version is the hash of all that went into it, its hash that of its objects.
_RUNTIME = "verilator-runtime"


@dataclass(frozen=True)
class Tool:
    """A tool. ``sha256``: the hash of its files: programs, all that they run and read, or a Python package."""

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
    found = {
        "dais-verif": Tool(dais_verif.__version__, content_of(own_files())),
        "python": Tool(platform.python_version(), content_of(python_files())),
        **runtime,
    }
    for name in PACKAGES:
        files = package_files(name)
        if files is not None:
            found[name] = Tool(version(name), content_of(files))
    for simulator in policy.simulators:
        for name in _BEHIND[simulator]:
            found[name] = Tool(_VERSIONS[name](), content_of(tool_files(name)))
    if netlist:
        found["yosys"] = Tool(tools.yosys().version, content_of(tool_files("yosys")))
    if policy.bitstream.device is not None:
        chip = tools.icestorm_chip(part_of(policy.bitstream.device)[2])
        found["icestorm"] = Tool(chip.stem, content_of([*map(tools.icestorm, _ICESTORM), chip]))
    return dict(sorted(found.items()))


def tool_names(policy: Policy, *, netlist: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the tools that ``tools_of`` must return, and of those that it may return in addition."""
    needed = {"dais-verif", "python", *policy.simulators}
    needed |= {"g++"} if "verilator" in policy.simulators else set()
    needed |= {"yosys"} if netlist else set()
    needed |= {"icestorm"} if policy.bitstream.device is not None else set()
    return frozenset(needed), frozenset(PACKAGES) | ({_RUNTIME} if "verilator" in policy.simulators else set())
