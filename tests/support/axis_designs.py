"""Programs in the AXI4-Stream wrapper, with any latency and optionally with a fault seeded in the wrapper."""

from __future__ import annotations

from pathlib import Path

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.emitter.rtl_library import AXIL_FILES, AXIS_FILES, library_sources
from dais_verif.hardware.emitter.wrapper import Identity, emit_axis_top
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

__all__ = ["mutant_in_wrapper", "registered_core", "wrapped"]


def registered_core(program: Program, latency: int) -> str:
    """Return the module ``model``: the emitted logic, then ``latency`` layers of registers with the enable ``en``.

    It is written by hand so that the wrapper is not tested with a core that the emitter makes for it.
    """
    ports = ports_of(program)
    inp, out = max(ports.input_bits, 1) - 1, max(ports.output_bits, 1) - 1
    return f"""
module model (input wire clk, input wire en, input wire [{inp}:0] model_inp, output wire [{out}:0] model_out);
  wire [{out}:0] result;
  logic_only inner (.model_inp(model_inp), .model_out(result));
  reg [{out}:0] layer [0:{latency - 1}];
  integer k;
  always @(posedge clk) if (en) begin
    layer[0] <= result;
    for (k = 1; k < {latency}; k = k + 1) layer[k] <= layer[k - 1];
  end
  assign model_out = layer[{latency - 1}];
endmodule
{emit_verilog(program, "logic_only")}"""


def mutant_in_wrapper(file: str, found: str, seeded: str) -> tuple[str, str]:
    """Return the name and text of a wrapper file in which ``seeded`` replaces ``found``, which must occur once."""
    text = library_sources(file)[0].read_text(encoding="utf-8")
    assert text.count(found) == 1, f"{found!r} is {text.count(found)} times in {file}"
    return file, text.replace(found, seeded)


def wrapped(
    program: Program,
    folder: Path,
    *,
    latency: int = 0,
    user_bits: int = 3,
    axil: bool = False,
    bug: tuple[str, str] | None = None,
) -> RtlDesign:
    """Return ``program`` in the wrapper; ``bug``: the name and the text of a file that replaces the original."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = ports_of(program)
    texts = {path.name: path.read_text(encoding="utf-8") for path in library_sources(*AXIS_FILES, *AXIL_FILES * axil)}
    texts["model.v"] = registered_core(program, latency) if latency else emit_verilog(program)
    texts["model_axis.v"] = emit_axis_top(
        "model",
        input_bits=max(ports.input_bits, 1),
        output_bits=max(ports.output_bits, 1),
        latency=latency,
        user_bits=user_bits,
        axil=Identity(program.n_in, program.n_out, program.hash) if axil else None,
    )
    texts.update([bug] if bug else [])
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return RtlDesign(tuple(folder / name for name in texts), "model_axis")
