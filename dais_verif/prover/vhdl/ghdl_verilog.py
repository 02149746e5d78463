"""Write a netlist of GHDL's synthesis as Verilog: each kind of gate by one rule; a kind without a rule is refused.

A directive before each statement gives its file and line in the VHDL, so that all that is said about it names these.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dais_verif.base.errors import InputError, VhdlError
from dais_verif.base.verilog_names import Names, is_module_name
from dais_verif.prover.vhdl.ghdl_netlist import Gate, Module

__all__ = ["written"]

#: Characters that are left out of the names of files, since tools may take them for more than letters.
_NO_PLAIN = re.compile(r"[^ !#-\[\]-~]")

#: Gates that only pass a value on. The initial value of a signal that something drives never shows.
_WIRES = ("$signal", "$isignal", "$output", "$ioutput", "$port", "$nop", "$enable")
#: Checks, which drive nothing.
_CHECKS = ("$assert", "$assume", "$cover", "$assert_cover")
_EDGES = {"$posedge": "posedge", "$negedge": "negedge"}
#: Gates whose output is assigned in a procedure.
_PROCEDURES = ("$pmux", "$dyn_insert", "$dyn_insert_en", "$dff", "$idff", "$adff", "$iadff")
_MEMORIES = ("$memory", "$memory_init")
_PORTS = ("$mem_rd", "$mem_rd_sync", "$mem_wr_sync")

#: Operators whose operands and result all have one width.
_DYADIC = {
    "$and": "{} & {}",
    "$or": "{} | {}",
    "$xor": "{} ^ {}",
    "$nand": "~({} & {})",
    "$nor": "~({} | {})",
    "$xnor": "~({} ^ {})",
    "$add": "{} + {}",
    "$sub": "{} - {}",
    "$umin": "({0} < {1}) ? {0} : {1}",
    "$umax": "({0} > {1}) ? {0} : {1}",
    "$smin": "($signed({0}) < $signed({1})) ? {0} : {1}",
    "$smax": "($signed({0}) > $signed({1})) ? {0} : {1}",
    "$umul": "{} * {}",
    "$smul": "{} * {}",
    "$udiv": "{} / {}",
    "$umod": "{} % {}",
    "$sdiv": "$signed({}) / $signed({})",
    "$srem": "$signed({}) % $signed({})",
}
_COMPARISONS = {
    "$eq": "{} == {}",
    "$ne": "{} != {}",
    "$ult": "{} < {}",
    "$ule": "{} <= {}",
    "$ugt": "{} > {}",
    "$uge": "{} >= {}",
    "$slt": "$signed({}) < $signed({})",
    "$sle": "$signed({}) <= $signed({})",
    "$sgt": "$signed({}) > $signed({})",
    "$sge": "$signed({}) >= $signed({})",
}
#: The least number of bits in which no offset of a slice overflows.
_INTEGER = 31
_SHIFTS = {"$lsl": "{} << {}", "$lsr": "{} >> {}", "$asr": "$signed({}) >>> {}"}
_REDUCTIONS = {"$red_and": "&{}", "$red_or": "|{}", "$red_xor": "^{}"}
_MONADIC = {"$not": "~{}", "$neg": "-{}"}


def written(
    modules: Iterable[Module], original: Callable[[str], str | None], is_slice: Callable[[tuple[str, int, int]], bool]
) -> str:
    """Return the text of ``modules``, with all names in lower case. ``original``: the user's name of a file, if any.

    ``is_slice``: whether the bounds of a slice begin at a place. Raises ``InputError`` for a gate that has no rule.
    """
    found: dict[str, Module] = {}
    taken, words = Names(), dict[str, str]()
    for module in modules:
        if module.name in found:
            raise _two_of_one_name(found[module.name], module, original)
        found[module.name] = module
        words[module.name] = taken.take(_plain(module.name))
    design = _Design(found, words, original, is_slice)
    return "\n".join(line for module in found.values() for line in _Writer(module, design).lines())


def _two_of_one_name(first: Module, second: Module, original: Callable[[str], str | None]) -> InputError:
    """Return the error for two modules of one name: instances name only that, which does not tell them apart."""
    places = []
    for module in (first, second):
        file, line, _ = module.body.place if module.body is not None else ("", 0, 0)
        places.append(f"{original(file) or file}:{line}")
    return VhdlError(
        f"{places[0]}: GHDL's synthesis gives this entity the name {_plain(first.name)!r}, which it also gives to the"
        f" one at {places[1]}: two architectures of an entity, or an entity named like another with the values of its"
        " generics; rename one"
    )


def _plain(name: str) -> str:
    """Return a name of GHDL's, such as ``\\g.%1.\\u``, as one word of Verilog: ``g_n1_u``."""
    parts = re.split(r"\.(?=[\\$%])", name)
    words = [f"n{part[1:]}" if part.startswith("%") else part[1:] for part in parts]
    word = re.sub(r"\W", "_", "_".join(words).lower(), flags=re.ASCII)
    return word if word[:1].isalpha() or word[:1] == "_" else f"_{word}"


def _sized(name: str, width: int) -> str:
    return f"[{width - 1}:0] {name}" if width > 1 else name


@dataclass(frozen=True)
class _Value:
    """The bits of a constant, the highest first."""

    bits: str

    def __str__(self) -> str:
        return f"{len(self.bits)}'b{self.bits}"


@dataclass(frozen=True)
class _Design:
    """All modules, and their names in Verilog. The functions are those of :func:`written`."""

    modules: Mapping[str, Module]
    words: Mapping[str, str]
    original: Callable[[str], str | None]
    is_slice: Callable[[tuple[str, int, int]], bool]


class _Writer:
    """The text of one module."""

    def __init__(self, module: Module, design: _Design) -> None:
        self.module, self.design, self.modules = module, design, design.modules
        self.original, self.is_slice = design.original, design.is_slice
        self.used: set[str] = set()
        self.widths: dict[int, int] = {}
        self.drivers: dict[int, Gate] = {}
        self.names: dict[int, str] = {}
        self.sinks: dict[int, list[Gate]] = {}
        ports = [self._named(name) for name, _ in (*module.inputs, *module.outputs)]
        self.inputs, self.outputs = ports[: len(module.inputs)], ports[len(module.inputs) :]
        if module.body is None:
            return
        for (net, width), name in zip(module.body.outputs, self.inputs, strict=True):
            self.names[net], self.widths[net] = name, width
        for gate in module.gates:
            for read in filter(None, gate.inputs):
                self.sinks.setdefault(read, []).append(gate)
        # The user's names first: a name that we make gives way.
        for gate in sorted(module.gates, key=lambda gate: gate.kind not in (*_WIRES, *_MEMORIES)):
            for number, (net, width) in enumerate(gate.outputs):
                self.drivers[net], self.widths[net] = gate, width
                plain = gate.name if gate.kind in (*_WIRES, *_MEMORIES) else f"{gate.name}.${self._port(gate, number)}"
                self.names[net] = self._named(plain)

    def _named(self, name: str) -> str:
        plain, number = _plain(name), 1
        word = plain
        while word in self.used:
            number += 1
            word = f"{plain}_{number}"
        self.used.add(word)
        return word if is_module_name(word) else f"\\{word} "

    def _port(self, gate: Gate, number: int) -> str:
        if gate.kind.startswith("\\"):
            return _plain(self.modules[gate.kind].outputs[number][0]) if gate.kind in self.modules else "o"
        return ("oport", "data")[number] if gate.kind in _PORTS else "o"

    def refuse(self, gate: Gate, what: str) -> InputError:
        return VhdlError(f"{self.place(gate)}: {what}")

    def place(self, gate: Gate) -> str:
        """Return the file and line of ``gate``, or of the next gate behind it, for one in a package of ours."""
        seen, following = {gate.name}, deque([gate])
        while following:
            found = following.popleft()
            file, line, _ = found.place
            name = self.original(file) if file else None
            if name is not None:
                return f"{name}:{line}"
            for net, _ in found.outputs:
                for sink in self.sinks.get(net, ()):
                    if sink.name not in seen:
                        seen.add(sink.name)
                        following.append(sink)
        return f"entity {_plain(self.module.name)}:1"

    def _line(self, gate: Gate) -> Iterator[str]:
        file, _, line = self.place(gate).rpartition(":")
        plain = _NO_PLAIN.sub("_", file)
        yield f'`line {line} "{plain}" 0'

    def lines(self) -> Iterator[str]:
        ports = [
            *(f"input {_sized(name, width)}" for name, (_, width) in zip(self.inputs, self.module.inputs, strict=True)),
            *(
                f"output {_sized(name, width)}"
                for name, (_, width) in zip(self.outputs, self.module.outputs, strict=True)
            ),
        ]
        if self.module.body is not None:
            yield from self._line(self.module.body)
        yield f"module {self.design.words[self.module.name]}" + (" (" if ports else ";")
        if ports:
            yield "  " + ",\n   ".join(ports) + ");"
        if self.module.body is not None:
            for gate in self.module.gates:
                yield from self._declared(gate)
            for name, net in zip(self.outputs, self.module.body.inputs, strict=True):
                if net is not None:
                    yield f"  assign {name} = {self.of(net)};"
            for gate in self.module.gates:
                statement = list(self._statement(gate))
                if statement:
                    yield from self._line(gate)
                    yield from statement
        yield "endmodule"
        yield ""

    def _declared(self, gate: Gate) -> Iterator[str]:
        if gate.kind in _MEMORIES or gate.kind in _EDGES or gate.kind == "$mem_wr_sync" or self._constant(gate):
            return
        outputs = gate.outputs[1:] if gate.kind in _PORTS else gate.outputs
        kind = "reg" if gate.kind in (*_PROCEDURES, "$mem_rd_sync") else "wire"
        for net, width in outputs:
            if width:
                yield f"  {kind} {_sized(self.names[net], width)};"

    # Operands.

    def _constant(self, gate: Gate) -> _Value | None:
        """Return the value of a gate that is a constant."""
        if not gate.kind.startswith("$const_"):
            return None
        ((_, width),) = gate.outputs
        kind, values = gate.kind.removeprefix("$const_").lower(), gate.parameters
        if kind in ("x", "z", "0", "1"):
            return _Value(kind * width)
        if kind == "ub32":
            return _Value(f"{values[0]:b}".zfill(width)[-width:])
        if kind == "sb32":
            return _Value(f"{values[0]:032b}".rjust(width, f"{values[0]:032b}"[0])[-width:])
        if kind in ("bit", "log", "ul32"):
            step = 1 if kind == "bit" else 2
            low = sum(value << (32 * n) for n, value in enumerate(values[::step]))
            high = sum(value << (32 * n) for n, value in enumerate(values[1::2])) if step == 2 else 0
            return _Value("".join("01zx"[(low >> n & 1) + 2 * (high >> n & 1)] for n in reversed(range(width))))
        raise self.refuse(gate, f"a constant of GHDL's kind {gate.kind[1:]!r} cannot be read")

    def value(self, net: int) -> _Value | None:
        """Return the value of a net that is constant, or a part of a constant."""
        gate = self.drivers.get(net)
        if gate is None or gate.kind != "$extract" or gate.inputs[0] is None:
            return None if gate is None else self._constant(gate)
        value = self.value(gate.inputs[0])
        end = len(value.bits) - gate.parameters[0] if value is not None else 0
        return value and _Value(value.bits[end - gate.outputs[0][1] : end])

    def of(self, net: int | None) -> str:
        """Return the name of ``net``, or its value if it is constant."""
        if net is None:
            return "1'bx"
        value = self.value(net)
        return self.names[net] if value is None else str(value)

    def part(self, net: int, low: int, width: int) -> str:
        """Return bits of ``net``."""
        value = self.value(net)
        if value is not None:
            end = len(value.bits) - low
            return str(_Value(value.bits[end - width : end]))
        if self.widths[net] == 1:
            return self.names[net]
        return f"{self.names[net]}[{low + width - 1}:{low}]" if width > 1 else f"{self.names[net]}[{low}]"

    def _nets(self, gate: Gate) -> tuple[int, ...]:
        """Return the inputs of ``gate``. Raises ``InputError`` if one is open."""
        nets = tuple(net for net in gate.inputs if net is not None)
        if len(nets) != len(gate.inputs):
            raise self.refuse(gate, f"GHDL's synthesis left an input of {gate.kind[1:]!r} open")
        return nets

    # Statements.

    def _statement(self, gate: Gate) -> Iterator[str]:
        """Yield the lines of ``gate``; none for constants, edges, checks and the ports of memories."""
        kind = gate.kind
        if kind.startswith("$const_") or kind in (*_EDGES, *_CHECKS):
            return
        if kind.startswith("\\"):
            yield from self._instance(gate)
        elif kind in _MEMORIES:
            yield from self._memory(gate)
        elif kind in _PORTS or gate.outputs[0][1] == 0:
            return
        elif kind in _WIRES:
            if gate.inputs[0] is not None:
                yield f"  assign {self.names[gate.outputs[0][0]]} = {self.of(gate.inputs[0])};"
            elif gate.inputs[1:] and gate.inputs[1] is not None:  # never assigned: it keeps its initial value
                yield f"  assign {self.names[gate.outputs[0][0]]} = {self.of(gate.inputs[1])};"
        elif kind in ("$dff", "$idff", "$adff", "$iadff"):
            yield from self._register(gate)
        elif kind == "$pmux":
            yield from self._selection(gate)
        elif kind in ("$dyn_insert", "$dyn_insert_en"):
            yield from self._insertion(gate)
        else:
            yield f"  assign {self.names[gate.outputs[0][0]]} = {self._expression(gate)};"

    def _expression(self, gate: Gate) -> str:
        kind, nets, width = gate.kind, self._nets(gate), gate.outputs[0][1]
        widths, terms = [self.widths[net] for net in nets], [self.of(net) for net in nets]
        if kind in ("$add", "$sub") and width < _INTEGER and self.is_slice(gate.place):
            raise self.refuse(
                gate,
                "GHDL's synthesis adds the offset of this slice in the length of its index, where it may overflow;"
                " begin the slice at a multiple of the index, or select single elements",
            )
        if kind in _DYADIC or kind == "$smod":
            self._hold(gate, widths == [width, width])
            return self._modulus(terms, nets[1], width) if kind == "$smod" else _DYADIC[kind].format(*terms)
        if kind in _COMPARISONS:
            self._hold(gate, widths[0] == widths[1] > 0 and width == 1)
            return _COMPARISONS[kind].format(*terms)
        if kind in _MONADIC or kind == "$abs":
            self._hold(gate, widths == [width])
            sign = self.part(nets[0], width - 1, 1)
            return f"{sign} ? -{terms[0]} : {terms[0]}" if kind == "$abs" else _MONADIC[kind].format(*terms)
        if kind in _REDUCTIONS:
            self._hold(gate, widths[0] > 0 and width == 1)
            return _REDUCTIONS[kind].format(*terms)
        if kind in _SHIFTS:
            self._hold(gate, widths[0] == width)
            return _SHIFTS[kind].format(*terms)
        if kind.startswith("$concat"):
            self._hold(gate, sum(widths) == width)
            return "{" + ", ".join(term for term, size in zip(terms, widths, strict=True) if size) + "}"
        if kind in ("$utrunc", "$strunc"):
            self._hold(gate, widths[0] >= width)
            return self.part(nets[0], 0, width)
        if kind in ("$uextend", "$sextend"):
            more = width - widths[0]
            self._hold(gate, more >= 0 and (widths[0] > 0 or kind == "$uextend"))
            if not widths[0] or not more:
                return terms[0] if widths[0] else f"{width}'b0"
            filling = f"{more}'b0" if kind == "$uextend" else f"{{{more}{{{self.part(nets[0], widths[0] - 1, 1)}}}}}"
            return f"{{{filling}, {terms[0]}}}"
        if kind == "$extract":
            self._hold(gate, gate.parameters[0] + width <= widths[0])
            return self.part(nets[0], gate.parameters[0], width)
        if kind == "$mux2":
            self._hold(gate, widths == [1, width, width])
            return f"{terms[0]} ? {terms[2]} : {terms[1]}"
        if kind == "$mux4":
            self._hold(gate, widths == [2, *[width] * 4])
            high, low = self.part(nets[0], 1, 1), self.part(nets[0], 0, 1)
            return f"{high} ? ({low} ? {terms[4]} : {terms[3]}) : ({low} ? {terms[2]} : {terms[1]})"
        if kind == "$memidx":
            return f"{terms[0]} * {gate.parameters[0]}"
        if kind == "$addidx":
            return f"{terms[0]} + {terms[1]}"
        if kind == "$dyn_extract" and self.value(nets[0]) is None and widths[0] > 1:
            return f"{terms[0]}[{terms[1]} + {gate.parameters[0]} +: {width}]"
        raise self.refuse(
            gate, f"GHDL's synthesis reads this as {kind[1:]!r}, which a proof does not read; write it in another way"
        )

    def _hold(self, gate: Gate, holds: bool) -> None:
        if not holds:
            raise self.refuse(gate, f"GHDL's synthesis joins values of unequal lengths here, in {gate.kind[1:]!r}")

    def _modulus(self, terms: list[str], divisor: int, width: int) -> str:
        """Return ``mod``, whose sign is that of the divisor; ``%`` has the sign of the dividend."""
        rest = f"($signed({terms[0]}) % $signed({terms[1]}))"
        del divisor, width
        return f"({rest} != 0 && ({rest} < 0) != ($signed({terms[1]}) < 0)) ? {rest} + $signed({terms[1]}) : {rest}"

    def _edge(self, gate: Gate, net: int) -> str:
        edge = self.drivers.get(net)
        if edge is None or edge.kind not in _EDGES:
            raise self.refuse(gate, "a register without one edge of a clock; write if rising_edge(clk)")
        return f"{_EDGES[edge.kind]} {self.of(self._nets(edge)[0])}"

    def _register(self, gate: Gate) -> Iterator[str]:
        nets, name = self._nets(gate), self.names[gate.outputs[0][0]]
        clock = self._edge(gate, nets[0])
        if gate.kind in ("$adff", "$iadff"):
            reset = self.of(nets[2])
            yield f"  always @({clock} or posedge {reset})"
            yield f"    if ({reset}) {name} <= {self.of(nets[3])};"
            yield f"    else {name} <= {self.of(nets[1])};"
        else:
            yield f"  always @({clock}) {name} <= {self.of(nets[1])};"
        if gate.kind in ("$idff", "$iadff"):
            yield f"  initial {name} = {self.of(nets[-1])};"

    def _selection(self, gate: Gate) -> Iterator[str]:
        """Yield a selection by a one-hot selector, whose lowest bit selects the first of the values."""
        selector, default, *values = self._nets(gate)
        self._hold(gate, self.widths[selector] == len(values))
        name, count = self.names[gate.outputs[0][0]], len(values)
        yield "  always_comb"
        yield f"    case ({self.of(selector)})"
        for number, value in enumerate(values):
            yield f"      {count}'b{1 << number:0{count}b}: {name} = {self.of(value)};"
        yield f"      default: {name} = {self.of(default)};"
        yield "    endcase"

    def _insertion(self, gate: Gate) -> Iterator[str]:
        memory, value, index, *enable = self._nets(gate)
        name, width = self.names[gate.outputs[0][0]], self.widths[value]
        yield "  always_comb begin"
        yield f"    {name} = {self.of(memory)};"
        if self.widths[memory] == 1:
            raise self.refuse(gate, "an element of an array of one bit, chosen by a signal; choose it by a number")
        chosen = f"{name}[{self.of(index)} + {gate.parameters[0]} +: {width}] = {self.of(value)};"
        yield f"    if ({self.of(enable[0])}) {chosen}" if enable else f"    {chosen}"
        yield "  end"

    def _instance(self, gate: Gate) -> Iterator[str]:
        module = self.modules.get(gate.kind)
        if module is None:
            raise self.refuse(gate, f"{_plain(gate.kind)!r} has no entity in the RTL; add its file")
        inner = _Writer(module, self.design)
        wires = [
            *(
                (name, self.of(net))
                for name, net, (_, width) in zip(inner.inputs, gate.inputs, module.inputs, strict=True)
                if net is not None and width
            ),
            *((name, self.names[net]) for name, (net, width) in zip(inner.outputs, gate.outputs, strict=True) if width),
        ]
        yield f"  {self.design.words[gate.kind]} {self._named(gate.name)} ("
        yield "    " + ",\n    ".join(f".{name}({value})" for name, value in wires) + ");"

    # Memories: a chain of ports, in the order in which they act.

    def _memory(self, gate: Gate) -> Iterator[str]:
        ports = list(self._chain(gate))
        sizes = {self._width(port) for port in ports}
        total = gate.outputs[0][1]
        if len(sizes) != 1 or total % min(sizes):
            raise self.refuse(gate, "a memory whose ports have different widths")
        (width,) = sizes
        kinds = [port.kind for port in ports]
        if "$mem_wr_sync" in kinds and any(kind != "$mem_wr_sync" for kind in kinds[kinds.index("$mem_wr_sync") :]):
            raise self.refuse(gate, "a memory that is read after it was written at the same edge; use a signal")
        name, depth = self.names[gate.outputs[0][0]], total // width
        yield f"  reg {_sized(name, width)} [0:{depth - 1}];"
        if gate.kind == "$memory_init":
            yield from self._contents(gate, name, width, depth)
        yield from self._writes([port for port in ports if port.kind == "$mem_wr_sync"], name)
        for port in ports:
            if port.kind != "$mem_wr_sync":
                yield from self._access(port, name)

    def _chain(self, gate: Gate) -> Iterator[Gate]:
        following = {port.inputs[0]: port for port in self.module.gates if port.kind in (*_PORTS, *_MEMORIES)}
        port = following.get(gate.outputs[0][0])
        while port is not None and port is not gate:
            yield port
            port = following.get(port.outputs[0][0])

    def _width(self, port: Gate) -> int:
        return self.widths[self._nets(port)[4]] if port.kind == "$mem_wr_sync" else port.outputs[1][1]

    def _contents(self, gate: Gate, name: str, width: int, depth: int) -> Iterator[str]:
        driver = self.drivers[self._nets(gate)[1]]
        if driver.kind == "$isignal":
            driver = self.drivers[self._nets(driver)[1]]
        value = self._constant(driver)
        if value is None or len(value.bits) != width * depth:
            raise self.refuse(gate, "a memory whose initial value is not constant")
        yield "  initial begin"
        for number in range(depth):
            end = width * (depth - number)
            yield f"    {name}[{number}] = {_Value(value.bits[end - width : end])};"
        yield "  end"

    def _writes(self, ports: Sequence[Gate], name: str) -> Iterator[str]:
        """Yield all writes at an edge in one block, in their order, since the last one holds."""
        clocks = {self._edge(port, self._nets(port)[2]) for port in ports}
        if len(clocks) > 1:
            raise self.refuse(ports[0], "a memory that is written at the edges of different clocks")
        for clock in clocks:
            yield f"  always @({clock}) begin"
            for port in ports:
                _, address, _, enable, value = self._nets(port)
                yield f"    if ({self.of(enable)}) {name}[{self.of(address)}] <= {self.of(value)};"
            yield "  end"

    def _access(self, port: Gate, name: str) -> Iterator[str]:
        """Yield the statement of a port that reads."""
        nets = self._nets(port)
        target, value = self.names[port.outputs[1][0]], f"{name}[{self.of(nets[1])}]"
        yield from self._line(port)
        if port.kind == "$mem_rd":
            yield f"  assign {target} = {value};"
        else:
            yield f"  always @({self._edge(port, nets[2])})"
            yield f"    if ({self.of(nets[3])}) {target} <= {value};"
