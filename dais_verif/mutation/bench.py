"""The bench of many mutants, which runs each from the beginning until an output bit is wrong.

The bench contains a judge: a delay line for the expected outputs, with the latency and the control pins of the design.
Pins change while the clock is low; outputs are read before each rising edge. Icarus and Verilator run the same text.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dais_verif.dut.interface import DesignInterface, Wire
from dais_verif.mutation.selection import BENCH

__all__ = [
    "AT",
    "DRIVE",
    "END",
    "TICK",
    "WRONG",
    "Cycle",
    "Plan",
    "bench_of",
    "combinational",
    "cycles",
    "driver",
    "memories",
    "power_up_driver",
]

#: The top module in Icarus.
DRIVE = "dais_drive"
#: Messages of a bench: the running mutant, at its start and every ``TICK`` cycles; a wrong mutant and its first wrong
#: cycle; the end of the bench. Designs cannot imitate these messages, since their first word is random in each process.
_WORD = f"dais_mutants_{secrets.token_hex(8)}"
AT, WRONG, END = f"{_WORD} at", f"{_WORD} wrong", f"{_WORD} end"
TICK = 64


class Cycle(NamedTuple):
    """The pins before a rising edge, active at 1. ``row``: the row of the vectors."""

    reset: int
    enable: int
    valid: int
    row: int


@dataclass(frozen=True)
class Plan:
    """The stimulus of all mutants: rows of port bits, most significant first, and the cycles.

    ``known``: the bits of each expected row that are compared; None: all. ``spans``: ranges of cycles that each start
    from power-up; empty: all cycles are one run, and registers keep their values between mutants.
    """

    given: Sequence[str]
    wanted: Sequence[str]
    cycles: Sequence[Cycle]
    known: Sequence[str] | None = None
    spans: tuple[tuple[int, int], ...] = ()


def combinational(rows: int) -> list[Cycle]:
    """Return cycles that apply every vector once."""
    return [Cycle(0, 1, 1, row) for row in range(rows)]


def cycles(rows: int, seed: int) -> list[Cycle]:
    """Return cycles that apply every vector at least once, with and without stalls, bubbles and resets."""
    rng = random.Random(seed)
    found = [Cycle(0, 1, 1, 0), Cycle(1, 1, 0, 0)]
    row = 0
    while row < rows:
        length = rng.choice((3, 12, 40, 120))
        enabled, valid = rng.choice((1, 1, 0.9, 0.5)), rng.choice((1, 1, 0.8, 0.4))
        reset = rng.choice((0, 0, 0, 0.05))
        for _ in range(length):
            cycle = Cycle(rng.random() < reset, rng.random() < enabled, rng.random() < valid, row % max(rows, 1))
            found.append(cycle)
            row += cycle.enable and cycle.valid and not cycle.reset
        if rng.random() < 0.5:  # a reset for one edge, while vectors are in flight
            found.append(Cycle(1, rng.randrange(2), rng.randrange(2), rng.randrange(max(rows, 1))))
    return [Cycle(*map(int, cycle)) for cycle in found]


_JUDGE = """\
module dais_judge #(parameter L = 1, W = 1, RST = 0, EN = 0, VIN = 0, VOUT = 0) (
    input look, input move, input again, input rst, input en, input valid,
    input [W-1:0] now, input [W-1:0] got, input told, output reg bad);
  // One bit per edge, bit 0 the newest. known: a vector to compare. is_valid: a valid vector, if sure is 1.
  reg [L:0] known, sure, is_valid;
  reg [W*(L+1)-1:0] words;
  wire taken = EN ? en : 1'b1, real_one = VIN ? valid : 1'b1;
  wire [W-1:0] due = L == 0 ? now : words[(L > 0 ? W*L-1 : W-1) -: W];
  wire there = L == 0 ? taken & real_one : known[L > 0 ? L - 1 : 0];
  wire due_valid = L == 0 ? valid : is_valid[L > 0 ? L - 1 : 0];
  wire is_sure = L == 0 ? 1'b1 : sure[L > 0 ? L - 1 : 0];
  always @(posedge look or posedge again)
    if (again) bad = 0;
    else if (!(RST && rst)) begin
      if (there && got !== due) bad = 1;
      if (VOUT && is_sure && told !== due_valid) bad = 1;
    end
  always @(posedge move or posedge again)
    if (again) begin
      known = 0; is_valid = 0; sure = 0;
    end else if (RST && rst) begin
      known = 0; is_valid = 0; sure = ~0;
    end else if (taken) begin
      words = (words << W) | now;
      known = (known << 1) | real_one;
      is_valid = (is_valid << 1) | valid;
      sure = (sure << 1) | 1'b1;
    end
endmodule
"""


def memories(plan: Plan) -> dict[str, str]:
    """Return the files that the bench reads."""
    pins = [f"{c.reset}{c.enable}{c.valid}" for c in plan.cycles]
    files = {"pins": pins}
    for name, rows in (("inp", plan.given), ("out", plan.wanted), ("known", plan.known)):
        if rows is not None:
            files[name] = [rows[c.row] for c in plan.cycles]
    return {f"dais_{name}.txt": "\n".join(rows) for name, rows in files.items()}


def bench_of(top: str, interface: DesignInterface, plan: Plan) -> str:
    """Return the module ``BENCH``: the design ``top`` and its judge. Its input ``chosen`` selects the mutant."""
    count, inp, out = len(plan.cycles), max(interface.input_bits, 1), max(interface.output_bits, 1)
    clocking = interface.clocking
    lines = [
        f"module {BENCH}(input clk, input look, input move, input again, input [31:0] n, input [31:0] chosen,"
        " output bad);",
        f"  reg [2:0] pins_of [0:{count - 1}]; reg [{inp - 1}:0] inp_of [0:{count - 1}];"
        f" reg [{out - 1}:0] out_of [0:{count - 1}];",
        '  initial begin $readmemb("dais_pins.txt", pins_of); $readmemb("dais_inp.txt", inp_of);'
        ' $readmemb("dais_out.txt", out_of); end',
        "  wire [2:0] pins = pins_of[n];",
        "  wire rst = pins[2], en = pins[1], valid = pins[0];",
        f"  wire [{inp - 1}:0] inp = inp_of[n]; wire [{out - 1}:0] due = out_of[n];",
        f"  wire [{out - 1}:0] got; wire told;",
    ]
    now, seen = "due", "got"
    if plan.known is not None:
        lines.append(f"  reg [{out - 1}:0] known_of [0:{count - 1}]; wire [{out - 1}:0] known = known_of[n];")
        lines.append('  initial $readmemb("dais_known.txt", known_of);')
        now, seen = "due & known", "got & known"
    given = {wire.name: _bits("inp", wire) for wire in interface.inputs}
    given |= {name: str(value) for name, value in interface.ties}
    if clocking is not None:
        given[clocking.clock] = "clk"
        if clocking.reset:
            given[clocking.reset] = "~rst" if clocking.reset_low else "rst"
        given |= {pin: name for pin, name in ((clocking.enable, "en"), (clocking.valid_in, "valid")) if pin}
    given |= {wire.name: _bits("got", wire) for wire in interface.outputs if wire.width}
    if interface.output_bits == 0:
        lines.append("  assign got = 0;")
    if clocking is not None and clocking.valid_out:
        given[clocking.valid_out] = "told"
    else:
        lines.append("  assign told = 0;")
    lines.append(f"  {top} dut({', '.join(f'.{port}({what})' for port, what in given.items())});")
    latency = 0 if clocking is None else clocking.latency
    flags = {"RST": 0, "EN": 0, "VIN": 0, "VOUT": 0}
    if clocking is not None:
        pins = (clocking.reset, clocking.enable, clocking.valid_in, clocking.valid_out)
        flags = {flag: int(pin is not None) for flag, pin in zip(flags, pins, strict=True)}
    said = "".join(f", .{flag}({value})" for flag, value in flags.items())
    lines.append(
        f"  dais_judge #(.L({latency}), .W({out}){said}) judge(.look(look), .move(move), .again(again), .rst(rst),"
        f" .en(en), .valid(valid), .now({now}), .got({seen}), .told(told), .bad(bad));"
    )
    return "\n".join([_JUDGE, *lines, "endmodule", ""])


def _bits(name: str, wire: Wire) -> str:
    return f"{name}[{wire.offset + wire.width - 1}:{wire.offset}]" if wire.width else "1'b0"


def driver(cycles: int, last: int) -> str:
    """Return the Icarus driver of the bench, which runs mutants ``+first`` to ``last``, then the original design."""
    return f"""\
module {DRIVE};
  reg clk = 0, look = 0, move = 0, again = 0; reg [31:0] n = 0, chosen = 0, k; wire bad;
  {BENCH} {BENCH}(clk, look, move, again, n, chosen, bad);
  initial begin
    if (!$value$plusargs("first=%d", k)) $finish;
    while (k <= {last} + 1) begin
      {_told(f"k > {last} ? 0 : k")}
      chosen = k > {last} ? 0 : k; n = 0; #1 again = 1; #1 again = 0;
      while (n < {cycles}) begin{_cycle(str(cycles))}
      end
      clk = 0; k = k + 1;
    end
    $display("{END}");
    $finish;
  end
endmodule
"""


def power_up_driver() -> str:
    """Return the Icarus driver for runs from power-up, of the mutant and the cycles on the command line."""
    return f"""\
module {DRIVE};
  reg clk = 0, look = 0, move = 0, again = 0; reg [31:0] n, chosen = 0, last, k; wire bad;
  {BENCH} {BENCH}(clk, look, move, again, n, chosen, bad);
  initial begin
    if (!($value$plusargs("chosen=%d", k) && $value$plusargs("first=%d", n) && $value$plusargs("last=%d", last)))
      $finish;
    {_told("k")}
    chosen = k;
    #1 again = 1; #1 again = 0;
    while (n < last) begin{_cycle("last")}
    end
    $display("{END}");
    $finish;
  end
endmodule
"""


def _told(chosen: str) -> str:
    """Return the statement that prints a mutant's number before the mutant runs, since the mutant may never settle."""
    return f'$display("{AT} %0d", {chosen}); $fflush;'


def _cycle(last: str) -> str:
    """Return the statements of one cycle; after a wrong output the remaining cycles up to ``last`` are skipped."""
    return f"""
        #2 look = 1; #1 look = 0;
        if (bad) begin
          $display("{WRONG} %0d %0d", chosen, n);
          n = {last};
        end else begin
          #1 clk = 1; #1 move = 1; #1 move = 0; #2 clk = 0; #1 n = n + 1;
        end
        if (n % {TICK} == 0) begin {_told("chosen")} end"""
