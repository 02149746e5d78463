"""The front end reads Verilog as Icarus does, and refuses what has no meaning as logic."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dais_verif.errors import ToolError
from dais_verif.prove.evaluate import evaluate
from dais_verif.prove.netlist import Cone, Netlist
from dais_verif.prove.slang import elaborate
from dais_verif.prove.terms import Term, extract, leaves, var
from dais_verif.sim import tools

INPUTS = {"a": ("", 5), "b": ("signed", 7), "c": ("", 1), "d": ("signed", 4), "e": ("", 9), "f": ("signed", 12)}


DIVISORS = ("3'sd3", "4'sd4", "-4'sd5", "3'd6")


def elaborated(text: str, folder: Path, top: str = "dut", **files: Path) -> Netlist:
    (folder / "dut.v").write_text(text)
    return elaborate([folder / "dut.v"], top, files)


def term_of(netlist: Netlist, name: str) -> Term:
    """A signal as a term over the input ports."""
    inputs = {netlist.signals[port]: var(netlist.signals[port].width, port) for port in netlist.inputs}
    signal = netlist.signals[name]
    cone = Cone(lambda s, low, width: extract(inputs[s], low, width) if s in inputs else None)
    return cone.read(signal, 0, signal.width)


def value_of(term: Term, row: dict[str, int]) -> int:
    given = {t: np.array([row[str(t.data)]], dtype=object) for t in leaves(term) if t.op == "var"}
    assert all(t.op == "var" for t in leaves(term)), "nothing is undefined here"
    return int(evaluate([term], given)[0][0])


def test_expressions_have_the_values_that_icarus_gives_them(tmp_path: Path) -> None:
    """Hundreds of random expressions of mixed signs and widths, self-determined and context-determined."""
    rng = random.Random(7)
    declarations = [f"wire {sign} [{w - 1}:0] y{n}" for n, (sign, w) in enumerate(result(rng) for _ in range(400))]
    assigns = [f"  assign y{n} = {expression(rng, 3)};" for n in range(len(declarations))]
    ports = [f"input {sign} [{w - 1}:0] {name}" for name, (sign, w) in INPUTS.items()]
    outputs = [f"output {d}" for d in declarations]
    text = "\n".join([f"module dut({', '.join([*ports, *outputs])});", *assigns, "endmodule"])
    rows = [{name: some(rng, w) for name, (_, w) in INPUTS.items()} for _ in range(12)]
    wanted = run_icarus(text, [d.split()[-1] for d in declarations], declarations, rows, tmp_path)
    netlist = elaborated(text, tmp_path)
    for n, assign in enumerate(assigns):
        term = term_of(netlist, f"y{n}")
        for row, values in zip(rows, wanted, strict=True):
            assert value_of(term, row) == values[n], (assign, row)


def result(rng: random.Random) -> tuple[str, int]:
    return rng.choice(("", "signed")), rng.choice((1, 3, 8, 16, 21))


def some(rng: random.Random, width: int) -> int:
    return rng.choice((0, (1 << width) - 1, 1 << (width - 1), rng.getrandbits(width), rng.getrandbits(width)))


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        name = rng.choice(list(INPUTS))
        width = INPUTS[name][1]
        low = rng.randrange(width)
        high = rng.randrange(low, width)
        literal = rng.choice(("3'd5", "4'sb1010", "32'd7", "6'h2a", "-32'sd3", "2'sd1", "12'shabc"))
        part = f"{name}[{high}:{low}]" if width > 1 else name
        return rng.choice((name, name, name, part, f"$signed({name})", f"$unsigned({name})", literal))
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    c = expression(rng, depth - 2) if depth > 1 else rng.choice(list(INPUTS))
    kind = rng.randrange(11)
    if kind < 4:
        return f"({a} {rng.choice(['+', '-', '*', '&', '|', '^', '~^'])} {b})"
    if kind == 4:
        return f"({a} {rng.choice(['<', '<=', '>', '>=', '==', '!=', '&&', '||'])} {b})"
    if kind == 5:
        return f"({a} {rng.choice(['<<', '>>', '<<<', '>>>'])} {rng.choice([str(rng.randrange(9)), 'c', 'a'])})"
    if kind == 6:
        return f"({c} ? {a} : {b})"
    if kind == 7:
        repeated = f"{{{rng.randint(1, 3)}{{{b}}}}}"
        return f"{{{a}, {rng.choice([b, repeated])}}}"
    if kind == 8:
        return f"({rng.choice(['-', '~', '!', '&', '|', '^', '~&', '~|', '~^', '+'])}({a}))"
    if kind == 9:
        return f"({a} {rng.choice('/%')} {rng.choice(DIVISORS)})"
    return f"({a} + {b} - {c})"


def run_icarus(
    text: str, names: list[str], wires: list[str], rows: list[dict[str, int]], folder: Path
) -> list[list[int]]:
    try:
        icarus = tools.icarus()
    except ToolError as error:
        pytest.skip(str(error))
    (folder / "design.v").write_text(text)
    regs = [f"  reg {sign} [{w - 1}:0] {name};" for name, (sign, w) in INPUTS.items()]
    shows = [f'    $display("%h", {name});' for name in names]
    steps = []
    for row in rows:
        steps += [f"    {name} = {INPUTS[name][1]}'d{value};" for name, value in row.items()] + ["    #1;", *shows]
    connect = ", ".join(f".{name}({name})" for name in [*INPUTS, *names])
    lines = ["module bench;", *regs, *(f"  {w};" for w in wires), f"  dut i({connect});", "  initial begin", *steps]
    (folder / "bench.v").write_text("\n".join([*lines, "  end", "endmodule"]))
    out = folder / "bench.vvp"
    sources = [str(folder / "design.v"), str(folder / "bench.v")]
    subprocess.run([str(icarus.iverilog), "-g2005", "-o", str(out), *sources], check=True, timeout=120)
    done = subprocess.run([str(icarus.vvp), "-n", str(out)], check=True, timeout=120, capture_output=True, text=True)
    values = [int(word, 16) for word in done.stdout.split()]
    assert len(values) == len(rows) * len(names)
    return [values[n * len(names) : (n + 1) * len(names)] for n in range(len(rows))]
