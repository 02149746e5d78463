"""Wires in the JSON of Yosys: names of the same bits, how neighbouring bits are joined, and open ports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dais_verif.prover import yosys
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.terms import Term, add, bnot, bxor, concat, const, extract, var

A, B = [2, 3, 4, 5], [6, 7, 8, 9]
Y, T, H = [10, 11, 12, 13], [14, 15, 16, 17], [18, 19, 20, 21]
X = var(4, "a")


def buffers(targets: list[int], sources: list[Any]) -> dict[str, Any]:
    return {
        f"$buffer{y}": {"type": "$_BUF_", "connections": {"A": [a], "Y": [y]}}
        for y, a in zip(targets, sources, strict=True)
    }


def cell(kind: str, y: list[int], **operands: list[Any]) -> dict[str, Any]:
    numbers = {"A_SIGNED": 0, "B_SIGNED": 0, "Y_WIDTH": len(y)}
    parameters = {name: format(value, "032b") for name, value in numbers.items() if name[0] in (*operands, "Y")}
    return {f"${kind}{y}": {"type": kind, "connections": {**operands, "Y": y}, "parameters": parameters}}


def net(bits: list[Any], hidden: bool = False) -> dict[str, Any]:
    return {"bits": bits, "hide_name": int(hidden)}


def module(cells: dict[str, Any], **nets: Any) -> dict[str, Any]:
    ports = {"a": ("input", A), "b": ("input", B), "y": ("output", Y)}
    return {
        "ports": {name: {"direction": way, "bits": bits} for name, (way, bits) in ports.items()},
        "cells": cells,
        "netnames": {**{name: net(bits) for name, (_, bits) in ports.items()}, **nets},
    }


def read(folder: Path, top: dict[str, Any], **others: Any) -> Netlist:
    path = folder / "net.json"
    path.write_text(json.dumps({"modules": {"dut": top, **others}}))
    return yosys.elaborate(path, "dut")


def term(netlist: Netlist, name: str = "y") -> Term:
    inputs = {netlist.signals[port]: var(netlist.signals[port].width, port) for port in netlist.inputs}
    cone = Cone(lambda s, low, width: extract(inputs[s], low, width) if s in inputs else None)
    return cone.read(netlist.signals[name], 0, netlist.signals[name].width)


def read_by(netlist: Netlist, name: str = "y") -> set[str]:
    """Return the names of the signals that the drivers of ``name`` read."""
    found: set[str] = set()

    def seen(signal: Signal, low: int, width: int) -> Term:
        found.add(signal.name)
        return var(width, signal.name)

    for driver in netlist.signals[name].drivers:
        driver.make(seen)
    return found


@pytest.mark.parametrize("hidden", ["$0\\t[3:0]", "$1\\t[3:0]", "$procmux$5_Y"])
def test_a_block_reads_what_it_has_assigned_by_a_name_of_the_rtl(hidden: str, tmp_path: Path) -> None:
    cells = {**buffers(T, H), **cell("$not", H, A=A), **cell("$xor", Y, A=H, B=B)}
    netlist = read(tmp_path, module(cells, t=net(T), **{hidden: net(H, True)}))
    assert read_by(netlist) == {"t", "b"}
    assert term(netlist, "t") is bnot(X)
    assert term(netlist) is bxor(bnot(X), var(4, "b"))


def test_of_two_names_the_one_that_the_wire_is_called_after(tmp_path: Path) -> None:
    other = [30, 31, 32, 33]
    cells = {**buffers(T, H), **buffers(other, H), **cell("$not", H, A=A), **cell("$xor", Y, A=H, B=B)}
    for order in ({"s": net(other), "t": net(T)}, {"t": net(T), "s": net(other)}):
        netlist = read(tmp_path, module(cells, **order, **{"$0\\t[3:0]": net(H, True)}))
        assert read_by(netlist) == {"t", "b"}
        assert term(netlist, "s") is bnot(X)


def test_neighbours_are_joined(tmp_path: Path) -> None:
    """There are no more drivers than groups of bits that are neighbours on both sides."""
    for sources, count in (
        (A, 1),
        ([2, 3, 8, 9], 2),
        ([3, 2, 5, 4], 4),
        ([2, 3, "1", "0"], 2),
        (["1", 2, 3, 4], 2),
        (["1", "0", "0", "1"], 1),
        ([2, "0", 4, 5], 3),
        ([2, 3, 3, 4], 2),
    ):
        netlist = read(tmp_path, module(buffers(Y, sources)))
        assert len(netlist.signals["y"].drivers) == count, sources
        wanted = [
            const(1, int(s)) if isinstance(s, str) else extract(X if s < 6 else var(4, "b"), (s - 2) % 4, 1)
            for s in sources
        ]
        assert term(netlist) is concat(*reversed(wanted)), sources


def test_a_wire_with_constant_bits_and_bits_of_others(tmp_path: Path) -> None:
    netlist = read(tmp_path, module(buffers(Y, A), k=net(["1", 3, "0", 2])))
    assert term(netlist, "k") is concat(extract(X, 0, 1), const(1, 0), extract(X, 1, 1), const(1, 1))


@pytest.mark.parametrize("open_port", ["m", "z"])
def test_an_output_that_is_left_open(open_port: str, tmp_path: Path) -> None:
    """The ports after an open output are still connected."""
    inner = {
        "ports": {
            open_port: {"direction": "output", "bits": [8]},
            "p": {"direction": "input", "bits": A},
            "q": {"direction": "output", "bits": Y},
        },
        "cells": cell("$add", Y, A=A, B=["1"]),
        "netnames": {open_port: net([8]), "p": net(A), "q": net(Y)},
    }
    for order in ([open_port, "p", "q"], ["p", open_port, "q"], ["q", "p", open_port]):
        bits = {open_port: [], "p": A, "q": Y}
        instance = {"n": {"type": "inner", "connections": {port: bits[port] for port in order}}}
        assert term(read(tmp_path, module(instance), inner=inner)) is add(X, const(4, 1))
