"""Simulated boards: Verilator simulates the same top module that a real board has; its link is a pair of sockets.

Simulated boards serve for trying ``hil`` without a real board, and for tests. They differ from a real board only in
clock and pins.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dais_verif.base.errors import BoardFailure
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.toolchain import build_cache, tools, verilator_runtime
from dais_verif.base.toolchain.private_files import copied
from dais_verif.base.toolchain.process import Session, stripped
from dais_verif.base.toolchain.rtl_files import digests
from dais_verif.base.version import VERSION
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter.board import buffer_bits
from dais_verif.hardware.emitter.machines.board import BOARD_CYCLES, board_bits, machine_board
from dais_verif.hardware.emitter.wrapper import wrap
from dais_verif.simulation.boards.link import Link
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "build_board",
    "build_core",
    "emulated_link",
    "rtl_link",
    "start_board",
    "started_link",
    "write_design",
    "write_machine_design",
]

_BOARD = "board"
_SOURCE = Path(__file__).parent / "native" / "board.cpp"
_OBJECTS = "design"
#: Clocks per bit of a UART: few, so that the simulation is fast.
_CLOCKS_PER_BIT = 4
#: Clocks per bit of SPI: the smallest number that the bridge supports.
_CLOCKS_PER_SPI_BIT = 8
_IDLE_CLOCKS = 256
#: The largest latency, in clocks, that existing RTL may have.
_MOST_LATENCY = 1024


def write_design(program: Program, link: str, folder: Path, *, core: str | None = None, latency: int = 0) -> list[Path]:
    """Write the RTL of a board that runs ``program`` into ``folder``, and return its files; top ``model_{link}``.

    ``core``: the text of module ``model``, which has the given ``latency`` in clocks; None: our own, which is
    combinational.
    """
    ports = ports_of(program)
    text = emit_verilog(program) if core is None else core
    input_bits, output_bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    wrapped = wrap(link, "model", text, program.hash, input_bits=input_bits, output_bits=output_bits, latency=latency)
    return _written(wrapped.files, folder)


def write_machine_design(
    machine: Machine, link: str, folder: Path, *, cycles: int = BOARD_CYCLES, core: str | None = None
) -> list[Path]:
    """Write the RTL of a board that runs ``machine`` into ``folder``, and return its files; top ``model_{link}``.

    ``cycles``: the number of the machine's cycles in one vector. ``core``: the text of the machine's module; None: our
    own.
    """
    return _written(machine_board(machine, link, cycles=cycles, text=core), folder)


def _written(files: Mapping[str, str], folder: Path) -> list[Path]:
    make_folder(folder)
    for name, text in files.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in files]


def build_board(
    sources: Sequence[Path],
    link: str,
    folder: Path,
    *,
    bits: int,
    clocks: int = 0,
    fixed_per_bit: int | None = None,
    cached: bool = True,
) -> Path:
    """Return the executable of a board with top module ``model_{link}``; its link is stdin and stdout.

    ``bits``: the number of bits of a vector and of its result, together. ``clocks``: the number of clocks that the core
    takes. ``fixed_per_bit``: the clocks per bit of a UART that has no parameter for this number. ``cached``: the
    executable may come from the cache. Raises ``ToolError`` if it cannot be built.
    """
    found = tools.verilator()
    per_bit = (fixed_per_bit or _CLOCKS_PER_BIT) if link == "uart" else _CLOCKS_PER_SPI_BIT if link == "spi" else 0
    # The upper bound of the clocks that the bridge needs for a vector and its result, or for skipping a request byte by
    # byte.
    idle = _IDLE_CLOCKS + bits // 4 + 20 * per_bit + clocks + (1 << buffer_bits(bits))
    macros = [f"-DCLOCKS_PER_BIT={per_bit}", f"-DIDLE_CLOCKS={idle}", f"-DSPI={int(link == 'spi')}"]
    folder.mkdir(parents=True, exist_ok=True)
    key = build_cache.key_of([VERSION, _BOARD, verilator_runtime.key_of(), *macros, *digests([*sources, _SOURCE])])
    cached = cached and bool(build_cache.limit())
    if cached and build_cache.fetch(key, (_BOARD,), folder):
        return folder / _BOARD
    common = verilator_runtime.ensure()
    shutil.rmtree(folder / _OBJECTS, ignore_errors=True)
    session = Session(folder / "build.log", cwd=folder, env=found.env)
    parameters = [f"-GCLOCKS_PER_BIT={per_bit}"] if link == "uart" and not fixed_per_bit else []
    top = ["--top-module", f"model_{link}", "--Mdir", _OBJECTS, "--output-split-cfuncs", "1000"]
    limits = ["--x-assign", "0", "--x-initial", "0", "--max-num-width", str(1 << 20)]
    files = [str(source) for source in copied(sources, folder).sources]
    session.check(
        "verilator",
        [*found.driver, *verilator_runtime.verilator_options(waves=False), *top, *limits, *parameters, *files],
    )
    manifest = verilator_runtime.Manifest.read(folder / _OBJECTS)
    verilator_runtime.check_fits(common, manifest)
    # Use one compilation unit: most of the time goes into Verilator's headers, which are read once per unit.
    unit, output = folder / _OBJECTS / "unit.cpp", Path(_OBJECTS) / "unit.o"
    names = [verilator_runtime.HEADERS, *(file.name for file in (*manifest.fast, *manifest.slow)), _SOURCE.name]
    unit.write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
    include = [common, Path(_OBJECTS), _SOURCE.parent]
    command = verilator_runtime.compile_command(
        found, manifest, unit, output, verilator_runtime.OPTIMISATION, include=include
    )
    session.check("g++", [*command, *macros])
    objects = [output, *(common / f"{source.stem}.o" for source in manifest.runtime)]
    session.check("g++", [str(found.compiler), "-pthread", *map(str, objects), "-o", _BOARD], made=[_BOARD])
    if cached:
        about = {"simulator": "verilator", "top": f"model_{link}", "version": found.version}
        build_cache.put(key, (_BOARD,), folder, about)
    return folder / _BOARD


@contextlib.contextmanager
def start_board(board: Path, fd: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a board that reads and writes ``fd``, and yield its process, which is killed at the end of the block."""
    try:
        process = subprocess.Popen([board.absolute()], stdin=fd, stdout=fd, env=stripped(), start_new_session=True)
    except OSError as error:
        raise BoardFailure(f"the simulated board cannot be started: {error.strerror}") from None
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def emulated_link(model: Program | Machine, link: str, folder: Path, cycles: int = BOARD_CYCLES) -> Iterator[Link]:
    """Yield the link to a simulated board that runs ``model``, and leave RTL and logs in ``folder``.

    ``cycles``: the number of a machine's cycles in one vector.
    """
    if isinstance(model, Machine):
        sources = write_machine_design(model, link, folder, cycles=cycles)
        bits, clocks = cycles * sum(board_bits(model)), cycles
    else:
        sources, clocks = write_design(model, link, folder), 0
        bits = _bits(model)
    board = build_board(sources, link, folder / "build", bits=bits, clocks=clocks)
    with started_link(board, f"sim://{link}") as opened:
        yield opened


def build_core(program: Program, link: str, folder: Path, core: str, latency: int) -> Path:
    """Return the executable of a board with ``core``, the text of module ``model``. It is not put into the cache.

    ``latency``: the latency of the module, in clocks; if it is not 0, the module has the ports ``clk`` and ``en``.
    Raises ``ToolError`` if it cannot be built.
    """
    sources = write_design(program, link, folder, core=core, latency=latency)
    return build_board(sources, link, folder / "build", bits=_bits(program), clocks=latency, cached=False)


@contextlib.contextmanager
def rtl_link(
    model: Program | Machine,
    sources: Sequence[Path],
    link: str,
    folder: Path,
    *,
    clocks_per_bit: int,
    cycles: int = BOARD_CYCLES,
) -> Iterator[Link]:
    """Yield the link to a simulated board with existing RTL, ``sources``, whose top module is ``model_{link}``.

    ``clocks_per_bit``: the clocks per bit of its UART. ``cycles``: the number of a machine's cycles in one vector.
    """
    bits = cycles * sum(board_bits(model)) if isinstance(model, Machine) else _bits(model)
    clocks = cycles if isinstance(model, Machine) else _MOST_LATENCY
    board = build_board(sources, link, folder / "build", bits=bits, clocks=clocks, fixed_per_bit=clocks_per_bit)
    with started_link(board, f"sim://{link}") as opened:
        yield opened


def _bits(program: Program) -> int:
    ports = ports_of(program)
    return ports.input_bits + ports.output_bits


@contextlib.contextmanager
def started_link(board: Path, name: str) -> Iterator[Link]:
    """Start the executable of a board, and yield the link to the board, with the name ``name``."""
    ours, theirs = socket.socketpair()
    with theirs, start_board(board, theirs.fileno()):
        theirs.close()
        ours.setblocking(False)
        with Link(name, ours.fileno(), ours.close) as opened:
            yield opened
