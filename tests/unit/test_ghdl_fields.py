"""Records and arrays in netlists of GHDL: parts become nets of their own, and every net keeps its value."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from dais_verif.prover.vhdl.ghdl_netlist import Gate, Module, divided
from dais_verif.prover.vhdl.ghdl_verilog import written

PLACE = ("m.vhd", 1, 1)


def values(module: Module, inputs: Mapping[int, int]) -> dict[int, int]:
    """Return the value of each net; a register passes its input on, and a mux takes its first value."""
    assert module.body is not None
    drivers = {net: gate for gate in module.gates for net, _ in gate.outputs}
    widths = {net: width for gate in (*module.gates, module.body) for net, width in gate.outputs}
    found = dict(inputs)

    def value(net: int | None) -> int:
        assert net is not None
        if net not in found:
            gate = drivers[net]
            if gate.kind.startswith("$concat"):
                found[net] = 0
                for part in gate.inputs:
                    found[net] = found[net] << widths[part or 0] | value(part)
            elif gate.kind in ("$extract", "$utrunc"):
                low = gate.parameters[0] if gate.kind == "$extract" else 0
                found[net] = value(gate.inputs[0]) >> low & (1 << widths[net]) - 1
            else:
                data = {"$signal": 0, "$dff": 1, "$mux2": 1 + value(gate.inputs[0]) % 2 if gate.kind == "$mux2" else 0}
                found[net] = value(gate.inputs[data[gate.kind]])
                assert widths[gate.inputs[data[gate.kind]] or 0] == widths[net]
        return found[net]

    return {net: value(net) for net in widths}


def gate(kind: str, inputs: Sequence[int], net: int, width: int, *parameters: int) -> Gate:
    return Gate(f"%{net}", kind, tuple(inputs), ((net, width),), parameters, PLACE)


def random_module(rng: random.Random) -> Module:
    ports = ((1, 1), *((net, rng.randint(1, 5)) for net in range(2, 6)))
    widths, gates = dict(ports), []
    for net in range(6, 40):
        kind = rng.choice(("$concat2", "$concat3", "$extract", "$utrunc", "$signal", "$dff", "$mux2"))
        first = rng.choice(list(widths))
        width = widths[first]
        if kind.startswith("$concat"):
            inputs = [first, *rng.choices(list(widths), k=int(kind[-1]) - 1)]
            gates.append(gate(kind, inputs, net, sum(widths[n] for n in inputs)))
        elif kind in ("$extract", "$utrunc"):
            low = rng.randrange(width) if kind == "$extract" else 0
            gates.append(gate(kind, [first], net, rng.randint(1, width - low), *([low] if kind == "$extract" else [])))
        else:
            same = rng.choice([n for n in widths if widths[n] == width])
            inputs = {"$signal": [first], "$dff": [1, first], "$mux2": [1, first, same]}[kind]
            gates.append(gate(kind, inputs, net, width))
        widths[net] = gates[-1].outputs[0][1]
    return Module("\\m", (), (), Gate("\\m", "\\m", (39,), ports, (), PLACE), tuple(gates))


def test_every_net_keeps_its_value() -> None:
    rng = random.Random(5)
    for _ in range(300):
        module = random_module(rng)
        parted = divided(module)
        inputs = {net: rng.getrandbits(width) for net, width in module.body.outputs} if module.body else {}
        before, after = values(module, inputs), values(parted, inputs)
        assert {net: after[net] for net in before} == before
        names = [gate.name for gate in parted.gates]
        assert len(set(names)) == len(names)


def test_a_delay_line_in_an_array_has_registers_of_its_own() -> None:
    """q <= x & q(0 to 1), of which the last element is read."""
    ports = (1, 1), (2, 4)
    gates = (
        gate("$signal", [7], 4, 12),
        gate("$extract", [4], 5, 8, 4),
        gate("$concat2", [2, 5], 6, 12),
        gate("$dff", [1, 6], 7, 12),
        gate("$extract", [4], 8, 4, 0),
    )
    module = Module("\\m", (), (), Gate("\\m", "\\m", (8,), ports, (), PLACE), gates)
    found = divided(module)
    registers = [other.outputs[0] for other in found.gates if other.kind == "$dff"]
    assert [width for _, width in registers] == [4, 4, 4]
    assert module.gates != found.gates and divided(Module("\\m", (), (), None, gates[:1])).gates == gates[:1]
    drivers = {net: other for other in found.gates for net, _ in other.outputs}
    seen, net = 0, 8
    while net not in (1, 2):  # back from the output, through three registers, to the input
        other = drivers[net]
        seen += other.kind == "$dff"
        net = other.inputs[1 if other.kind == "$dff" else 0] or 0
        assert not other.kind.startswith("$concat")
    assert (seen, net) == (3, 2)


def test_divided_registers_have_their_parts_of_the_initial_value() -> None:
    """Two stages of four bits, which begin with 5 and 9."""
    ports = (1, 1), (2, 4)
    gates = (
        gate("$posedge", [1], 3, 1),
        gate("$const_UB32", [], 4, 8, 0x95),
        gate("$extract", [7], 5, 4, 4),
        gate("$concat2", [2, 5], 6, 8),
        gate("$idff", [3, 6, 4], 7, 8),
    )
    body = Gate("\\m", "\\m", (5,), ports, (), PLACE)
    module = Module("\\m", (("\\c", 1), ("\\x", 4)), (("\\y", 4),), body, gates)
    text = written([divided(module)], lambda file: file, lambda place: False)
    assert sorted(line.split(" = ")[1] for line in text.split("\n") if line.startswith("  initial")) == [
        "4'b0101;",
        "4'b1001;",
    ]


def test_constants_of_every_kind_are_written_bit_by_bit() -> None:
    cases: dict[str, tuple[int, tuple[int, ...], str]] = {
        "UB32": (5, (0b101,), "00101"),
        "SB32": (40, (-3 & 0xFFFF_FFFF,), "1" * 38 + "01"),
        "UL32": (4, (0b0101, 0b0011), "01zx"),
        "bit": (34, (0x8000_0001, 0b10), "10" + "1" + "0" * 30 + "1"),
        "log": (34, (0x8000_0001, 0x8000_0000, 0b10, 0b11), "xz" + "x" + "0" * 30 + "1"),
        "X": (3, (), "xxx"),
    }
    for kind, (width, parameters, bits) in cases.items():
        gates = (gate(f"$const_{kind}", [], 2, width, *parameters),)
        body = Gate("\\m", "\\m", (2,), (), (), PLACE)
        module = Module("\\m", (), (("\\y", width),), body, gates)
        text = written([module], lambda file: file, lambda place: False)
        assert f"{width}'b{bits}" in text, (kind, text)
