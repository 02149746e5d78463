"""Synthesize networks of products for every target, and prove them from their netlists.

    python -m bench.products                  # 100 products of 12 by 12 bits; needs Yosys
    python -m bench.products --target ice40

There are two programs of signed products: one has each product as an output, the other sums of ten. Exit code 1: one
is not proved within the required CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dais_verif.spec.program import Program, assemble, write_binary

__all__ = ["main", "separate", "summed"]

#: The square root of the number of products; the bits of their factors; the CPU seconds for the proof of a netlist.
_ROW, _BITS, _SECONDS = 10, 12, 300.0
_TARGETS = ("ice40", "ecp5", "xilinx", "generic")


def separate(row: int = _ROW, bits: int = _BITS) -> Program:
    """Return a program whose outputs are all products of one of ``row`` words and one of ``row`` other words."""
    words = [f"{name}{n}" for name in "ab" for n in range(row)]
    lines = _inputs(words, bits)
    for i in range(row):
        lines += [f"p{i}_{j} = s{2 * bits}.0 a{i} * b{j}" for j in range(row)]
    return assemble("\n".join([*lines, *(f"output y{i}_{j} = p{i}_{j}" for i in range(row) for j in range(row)), ""]))


def summed(row: int = _ROW, bits: int = _BITS) -> Program:
    """Return a program of ``row`` outputs, each the sum of ``row`` products, added as a tree."""
    lines = _inputs([f"x{j}" for j in range(row)] + [f"w{i}_{j}" for i in range(row) for j in range(row)], bits)
    outputs = []
    for i in range(row):
        terms = [(f"p{i}_{j}", 2 * bits) for j in range(row)]
        lines += [f"p{i}_{j} = s{2 * bits}.0 x{j} * w{i}_{j}" for j in range(row)]
        while len(terms) > 1:
            following = []
            for (a, m), (b, n) in zip(terms[::2], terms[1::2], strict=False):
                name, width = f"sum{len(lines)}", max(m, n) + 1
                lines.append(f"{name} = s{width}.0 {a} + {b}")
                following.append((name, width))
            terms = following + terms[len(terms) - len(terms) % 2 :]
        outputs.append(terms[0][0])
    return assemble("\n".join([*lines, *(f"output y{i} = {name}" for i, name in enumerate(outputs)), ""]))


def _inputs(words: list[str], bits: int) -> list[str]:
    return [f"input {', '.join(words)}", *(f"{word} = s{bits}.0 input {word}" for word in words)]


def _run(*arguments: object) -> tuple[dict[str, Any], float]:
    """Return the record of ``dais-verif``, and the CPU seconds of its process and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dais_verif", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), seconds


def main(arguments: list[str] | None = None) -> int:
    """Run from a command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=_TARGETS, action="append", help="only this target; may be repeated")
    parser.add_argument("--row", type=int, default=_ROW, help="square root of the number of products")
    parser.add_argument("--bits", type=int, default=_BITS)
    asked = parser.parse_args(arguments)
    programs = {"separate": separate(asked.row, asked.bits), "summed": summed(asked.row, asked.bits)}
    good = True
    print(f"{asked.row**2} products of {asked.bits} by {asked.bits} bits, CPU seconds")
    print("\n| products | target | cells | synth | prove | |\n|---|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, program in programs.items():
            path = Path(folder) / f"{name}.bin"
            path.write_bytes(write_binary(program, "v1"))
            for target in asked.target or _TARGETS:
                net = Path(folder) / f"{name}_{target}"
                made, first = _run("synth", path, "--target", target, "-o", net)
                proved, second = _run("prove", path, "--netlist", net, "--no-cache", "--no-confirm")
                cells = sum(made["counts"].values())
                print(f"| {name} | {target} | {cells} | {first:.0f} | {second:.1f} | {proved['verdict']} |", flush=True)
                good &= proved["verdict"] == "PASS" and second <= _SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
