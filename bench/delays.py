"""Compare the delay model with a placed and routed FPGA: single ops between registers, in Yosys and nextpnr-ice40.

``python -m bench.delays`` prints the tables of docs/emit.md: the delay by the model of ``examples/ice40.toml``,
and the longest path that nextpnr finds. With programs as arguments, it prints both for them, in several numbers of
stages.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog, read_delay_model
from dais_verif.hardware.emitter.delays import SCALE
from dais_verif.hardware.emitter.pipeline import flow_of, least_depth
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.ports import ports_of

#: Seeds of placements; the median of their delays counts.
SEEDS = (1, 2, 3)
MODEL = read_delay_model(Path(__file__).parents[1] / "examples" / "ice40.toml")

Row = tuple[int, int, int, int, tuple[int, int, int]]
XOR = 2 << 56


def ops(width: int, code: int, data: int = 0, kind: tuple[int, int, int] | None = None) -> Program:
    """Return one op of ``code`` on two inputs of ``width`` bits; the condition of a mux is the sign of a third one."""
    s: tuple[int, int, int] = (1, width - 1, 0)
    rows: list[Row] = [(-1, 0, -1, 0, s), (-1, 1, -1, 0, s), (-1, 2, -1, 0, (1, 0, 0))]
    unary = code in (2, -3, 4, 9)
    rows.append((code, 0, -1 if unary else 1, 2 if abs(code) == 6 else data, kind or s))
    return Program.build(rows, [(3, 0, 0)], inp_shift=[0, 0, 0])


def levels(number: int) -> Program:
    """Return ``number`` levels of LUTs: an OR-reduce of ``4**number`` bits."""
    rows: list[Row] = [(-1, 0, -1, 0, (0, 4**number, 0)), (9, 0, -1, 1, (0, 1, 0))]
    return Program.build(rows, [(1, 0, 0)], inp_shift=[0])


def table(bits: int) -> Program:
    """Return a lookup of ``bits`` bits in a table of random bytes."""
    rng = random.Random(bits)
    rows: list[Row] = [(-1, 0, -1, 0, (0, bits, 0)), (8, 0, -1, 0, (0, 8, 0))]
    return Program.build(rows, [(1, 0, 0)], inp_shift=[0], tables=[[rng.randrange(256) for _ in range(1 << bits)]])


CASES: dict[str, Callable[[], Program]] = {
    **{f"any, {4**n} bits": (lambda n=n: levels(n)) for n in (1, 2, 3)},
    **{f"add, {w} bits": (lambda w=w: ops(w, 0, kind=(1, w, 0))) for w in (4, 8, 16, 32)},
    "quant_neg, 16 bits": lambda: ops(16, -3),
    "relu, 16 bits": lambda: ops(16, 2),
    "mux, 16 bits": lambda: ops(16, 6),
    "mux_neg, 16 bits": lambda: ops(16, -6),
    "bit_binary, 16 bits": lambda: ops(16, 10, XOR),
    **{f"mul, {w} by {w} bits": (lambda w=w: ops(w, 7, kind=(1, 2 * w - 1, 0))) for w in (4, 8, 12)},
    **{f"lookup, {w} bits": (lambda w=w: table(w)) for w in (4, 6, 8)},
}


def registered(program: Program, text: str, clock: str = "") -> str:
    """Return ``text`` and a module ``top`` with ``model`` between a shift register and a register that is kept."""
    ports = ports_of(program)
    n, m = max(ports.input_bits, 1), max(ports.output_bits, 1)
    return (
        text
        + f"""
module top (input clk, input d, output q);
  reg [{n}:0] a; wire [{m - 1}:0] y; (* keep *) reg [{m - 1}:0] b;
  model core ({clock} .model_inp(a[{n - 1}:0]), .model_out(y));
  always @(posedge clk) begin a <= {{a, d}}; b <= y; end
  assign q = b[0];
endmodule
"""
    )


def measured(text: str) -> float:
    """Return the longest register-to-register path of module ``top`` in ``text``, in ns: the median of the seeds."""
    with tempfile.TemporaryDirectory() as folder:
        return sorted(_measured(text, Path(folder)))[len(SEEDS) // 2]


def _measured(text: str, folder: Path) -> list[float]:
    (folder / "top.v").write_text(text)
    run(["yosys", "-q", "-p", "read_verilog top.v; synth_ice40 -top top -json top.json"], folder)
    found = []
    for seed in SEEDS:
        command = ["nextpnr-ice40", "--hx8k", "--package", "ct256", "--json", "top.json", "--seed", str(seed)]
        log = run([*command, "--freq", "400", "--pcf-allow-unconstrained", "--timing-allow-fail"], folder)
        found.append(1000 / float(re.findall(r"Max frequency for clock.*?: +([0-9.]+) MHz", log)[-1]))
    return found


def run(command: list[str], folder: Path) -> str:
    """Run ``command`` in ``folder`` and return its output; exit if it is missing or fails."""
    if shutil.which(command[0]) is None:
        sys.exit(f"no {command[0]} on PATH; Debian has it as package {command[0]}")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {(done.stdout + done.stderr)[-500:]}")
    return done.stdout + done.stderr


def model_table() -> None:
    """Print the delays of single ops, less that of the registers: the first case's measured delay minus its model's."""
    rows = []
    for name, make in CASES.items():
        program = make()
        delay = measured(registered(program, emit_verilog(program)))
        rows.append((name, least_depth(flow_of(program, MODEL), 1) / SCALE, delay))
    ends = rows[0][2] - rows[0][1]
    print(f"| op | model, {MODEL.unit} | measured, ns |\n| --- | ---: | ---: |")
    for name, model, delay in rows:
        print(f"| {name} | {model:.2f} | {delay - ends:.2f} |")
    print(f"\nRegisters at both ends take {ends:.2f} ns more.")


def pipeline_table(path: Path) -> None:
    """Print the delays of a whole program in several numbers of stages; measured delays include the registers."""
    program = load(path)
    print(f"| stages | registers | bits | deepest stage, {MODEL.unit} | measured, ns | MHz |\n|{' ---: |' * 6}")
    for stages in (1, 2, 3, 5, 8):
        made = emit_pipeline(program, "model", PipelineOptions(stages=stages, delays=MODEL))
        delay = measured(registered(program, made.text, ".clk(clk),"))
        numbers = f"{made.registers} | {made.register_bits} | {max(made.depths):.2f} | {delay:.2f} | {1000 / delay:.0f}"
        print(f"| {stages} | {numbers} |")


if __name__ == "__main__":
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            pipeline_table(Path(name))
    else:
        model_table()
