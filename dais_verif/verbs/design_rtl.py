"""The RTL of a requested design: the user's with its ports, a netlist's or bitstream's, or emitted."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from dais_verif.base.errors import InputError, RtlFileError
from dais_verif.base.files import require_plain, write_atomically
from dais_verif.base.toolchain.rtl_files import MOST_RTL_BYTES, is_vhdl, read_others
from dais_verif.hardware.emitter import emit_pipeline, emit_verilog
from dais_verif.hardware.ports.bind import bind
from dais_verif.hardware.ports.directives import directives_of, told
from dais_verif.hardware.ports.discover import only_module, ports_in
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.hardware.ports.parameters import parse_parameter, with_parameters
from dais_verif.hardware.ports.ports_file import PortsFile, read_ports_file
from dais_verif.hardware.ports.verilog import included_by
from dais_verif.hardware.ports.vhdl_ports import in_lower_case, vhdl_ports_in
from dais_verif.hardware.synthesis.netlist import netlist_sources
from dais_verif.hardware.synthesis.targets import NETLISTS
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.subject.run_inputs import rtl_inputs
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.read_back.bitstreams import bitstream_rtl, link_of

__all__ = [
    "bound",
    "design_of",
    "emitted",
    "given",
    "told_apart",
    "with_netlist",
    # used by the command line to parse options
    "NETLISTS",
    "parse_parameter",
]


def with_netlist(asked: DesignRequest, folder: Path) -> DesignRequest:
    """Return ``asked`` with its netlist or bitstream as RTL, for which files are written into ``folder``."""
    if asked.netlist is not None:
        return replace(asked, rtl=netlist_sources(asked.netlist, folder))
    if asked.bitstream is not None:
        kind = link_of(asked.bitstream)
        if kind is not None:
            raise RtlFileError.of(
                "the pins of {bitstream} belong to a board behind {kind}: simulate it with"
                " `hil --target 'sim://bitstream?file={file}&pins={pins}'`; `prove` also accepts boards of programs",
                kind=kind,
                file=str(asked.bitstream.path),
                pins=str(asked.bitstream.pins),
            )
        rtl, facts = bitstream_rtl(asked.bitstream, asked.module, folder)
        return replace(asked, rtl=(rtl,), bitstream_facts=facts)
    return asked


def design_of(program: Program, asked: DesignRequest, folder: Path) -> RtlDesign:
    """Return the RTL to verify; emitted RTL is written into ``folder``.

    Raises ``InputError`` if the RTL does not fit the program.
    """
    if asked.wrapped is not None:
        return asked.wrapped.design
    if not asked.rtl:
        return emitted(program, asked, folder)
    return bound(program, *given(asked, folder))


def bound(program: Program, design: RtlDesign, said: PortsFile) -> RtlDesign:
    """Return ``design`` with its ports, as declared in its sources and in the ports file ``said``."""
    if any(map(is_vhdl, design.sources)):
        found = vhdl_ports_in(design.sources, design.top)
    else:
        found = ports_in(design.sources, design.top)
    return replace(design, dut=bind(program, said, found))


def told_apart(design: RtlDesign, asked: DesignRequest, progress: Progress) -> list[str]:
    """Return warnings about user RTL that simulation and synthesis may read differently; send them to ``progress``."""
    lines, texts = [], design.sources if asked.rtl else ()
    if read_others([source.read_bytes() for source in texts]):
        with contextlib.suppress(InputError, OSError, RuntimeError):  # the reader reports the error
            texts = (*texts, *included_by(texts))
    for source in texts:
        text = source.read_bytes()
        if not is_vhdl(source) and (b"__FILE__" in text or (b"``" in text and b"__" in text)):
            lines.append(
                f"{source.name} may use its own path (`__FILE__): a copy of it was checked, so the result "
                "does not hold for hardware that depends on the path; a sign-off refuses it"
            )
        found = directives_of(text, is_vhdl(source))
        if found:
            lines.append(
                f"{source.name} {', '.join(told(found))}: synthesis may read it differently; a sign-off checks that, "
                f"too"
            )
    for line in lines:
        progress.warning(line)
    return lines


def given(asked: DesignRequest, folder: Path) -> tuple[RtlDesign, PortsFile]:
    """Return user RTL and its ports and pins as given, which are not checked yet.

    With parameters, a module that sets them is written into ``folder``.
    Raises ``InputError`` if a file cannot be read, or an option is for the emitted module.
    """
    if asked.pipeline:
        raise RtlFileError.of(
            "{stages} and {max_depth} are for the emitted module; for user RTL, name the clock: {clock}"
        )
    for source in asked.rtl:
        if not source.is_file():
            problem = "is a folder" if source.is_dir() else "does not exist"
            raise RtlFileError(f"RTL file {str(source)!r} {problem}; give the files of module {asked.module}")
        require_plain(source, MOST_RTL_BYTES, "RTL file")
    said = read_ports_file(asked.ports) if asked.ports else PortsFile()
    said = replace(said, clocking=asked.pins.over(said.clocking, f"{str(asked.ports)!r} has no [clock]"))
    sources = tuple(source.absolute() for source in asked.rtl)
    vhdl = any(map(is_vhdl, sources))
    if vhdl and asked.parameters:
        raise RtlFileError.of("{parameters} is for RTL in Verilog; give the generics of VHDL in an entity around it")
    data, top = rtl_inputs(sources, asked.data, strict=False).tables, asked.module.lower() if vhdl else asked.module
    if asked.top is None and not vhdl:
        top = only_module(sources) or top
    if asked.parameters:
        sources, top = with_parameters(sources, top, dict(asked.parameters), folder)
    design = RtlDesign(sources, top, data)
    return design, in_lower_case(said) if vhdl else said


def emitted(program: Program, asked: DesignRequest, folder: Path) -> RtlDesign:
    """Emit RTL into ``folder`` and return it. Raises ``InputError`` for options that are for user RTL."""
    if asked.pins.given or asked.ports:
        raise RtlFileError.of(
            "the emitted module has fixed ports: {clock} and {ports} need {rtl} (to pipeline the emitted module, "
            "give {stages})"
        )
    source = folder / f"{asked.module}.v"
    if asked.pipeline is None:
        write_atomically(source, emit_verilog(program, asked.module).encode())
        return RtlDesign((source,), asked.module)
    pipeline = emit_pipeline(program, asked.module, asked.pipeline)
    write_atomically(source, pipeline.text.encode())
    options = asked.pipeline
    valid = ("in_valid", "out_valid") if options.valid else (None, None)
    pins = Clocking(
        "clk", pipeline.latency, "rst" if options.reset else None, False, "en" if options.enable else None, *valid
    )
    return RtlDesign((source,), asked.module, dut=packed(program, pins), path_of=pipeline.path_of)
